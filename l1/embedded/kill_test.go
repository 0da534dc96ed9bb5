package embedded

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"knowledged/l1"
)

const killedDir = "EMBEDDED_TEST_KILLED_DIR"

// TestMain is also the process that TestKill kills: it writes rows for ever and says which ones the store has taken.
func TestMain(m *testing.M) {
	dir := os.Getenv(killedDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Open(dir, "m", 64, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	for i := s.Count(); ; i += 10 {
		var rows []l1.Row
		for k := i; k < i+10; k++ {
			rows = append(rows, l1.Row{ID: fmt.Sprintf("%032x", k), Vector: vector(k, 64)})
		}
		if err := s.Upsert(context.Background(), rows); err != nil {
			panic(err)
		}
		fmt.Println(i + 10)
	}
}

// SPEC 1.5 in spirit: after kill -9 every row that was acknowledged is there, and the file is sound.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	for round := range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		acknowledged := 0
		for n := 0; n < 20 && lines.Scan(); n++ {
			acknowledged, _ = strconv.Atoi(lines.Text())
		}
		killed := time.Now()
		cmd.Process.Kill()
		for lines.Scan() { // said before the kill arrived
			acknowledged, _ = strconv.Atoi(lines.Text())
		}
		cmd.Wait()
		s, log := open(t, dir, "m", 64)
		if acknowledged == 0 || s.Count() < acknowledged {
			t.Fatalf("round %d: %d rows were acknowledged, %d are there (killed %s ago); log: %s", round, acknowledged, s.Count(), time.Since(killed), log)
		}
		for _, i := range []int{0, acknowledged / 2, acknowledged - 1} {
			hits, err := s.Search(t.Context(), vector(i, 64), 1, "")
			if err != nil || len(hits) != 1 || hits[0].ID != fmt.Sprintf("%032x", i) {
				t.Errorf("round %d: row %d is found as %v, %v", round, i, hits, err)
			}
		}
		// Whole tens only, so that the next round goes on where this one ended.
		if extra := s.Count() % 10; extra != 0 {
			var ids []string
			for i := s.Count() - extra; i < s.Count(); i++ {
				ids = append(ids, fmt.Sprintf("%032x", i))
			}
			if err := s.Delete(t.Context(), ids); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
