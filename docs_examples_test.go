package knowledged

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// block is a fenced block of a guide with the paragraph above it.
type block struct {
	kind, text, above string
}

func blocksOf(text string) (all []block) {
	var b *block
	above, last := "", ""
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(line, "```") && b == nil:
			b = &block{kind: strings.TrimPrefix(trimmed, "```"), above: last}
		case trimmed == "```":
			all, b, above, last = append(all, *b), nil, "", ""
		case b != nil:
			b.text += line
		case strings.TrimSpace(line) == "":
			above = ""
		default:
			above += line
			last = above
		}
	}
	return all
}

// program is the daemon on a copy of the sample folder, as a reader of the README has it.
type program struct {
	t             *testing.T
	bin, dir      string
	socket, state string
}

func startProgram(t *testing.T, bin string) *program {
	t.Helper()
	short, err := os.MkdirTemp("", "kd") // the path of a socket is at most 107 bytes long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	p := &program{t: t, bin: bin, dir: t.TempDir(), socket: filepath.Join(short, "s"), state: filepath.Join(short, "state")}
	if err := os.CopyFS(filepath.Join(p.dir, "knowledge_base"), os.DirFS("knowledge_base")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	daemon := p.command(ctx, "run", "--base", "knowledge_base", "--http", "off")
	daemon.Cancel = func() error { return daemon.Process.Signal(os.Interrupt) }
	var log bytes.Buffer
	daemon.Stderr = &log
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := daemon.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("daemon: %v\n%s", err, &log)
		}
	})
	p.settle()
	return p
}

func (p *program) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.bin, args...)
	c.Dir = p.dir
	c.Env = []string{"KNOWLEDGED_IPC_SOCKET=" + p.socket, "KNOWLEDGED_STATE_DIR=" + p.state, "HOME=" + p.dir, "PATH=" + os.Getenv("PATH")}
	return c
}

// settle waits until the daemon answers and what was saved so far is applied, vectors included.
func (p *program) settle() {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		out, err := p.command(context.Background(), "status", "--wait", "--timeout", "30s").CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("status: %v\n%s", err, out)
		}
		time.Sleep(20 * time.Millisecond) // until its socket is there
	}
}

// lookup runs a line of a guide and says what it prints.
func (p *program) lookup(line string) string {
	p.t.Helper()
	out, err := p.command(context.Background(), words(strings.TrimPrefix(line, "bin/knowledged "))...).Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && (!failed || exit.ExitCode() != 3) {
		p.t.Errorf("%s: %v", line, err)
	}
	return string(out)
}

// words splits a line as a shell does, as far as the guides need it.
func words(line string) (list []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		list = append(list, m[1]+m[2])
	}
	return list
}

// shows tells whether output is what a transcript shows: a line "..." stands for any lines, at the end of a line "..."
// stands for the rest of it.
func shows(transcript, output []string) bool {
	if len(transcript) == 0 {
		return len(output) == 0
	}
	want, rest := transcript[0], transcript[1:]
	if want == "..." {
		for i := range len(output) + 1 {
			if shows(rest, output[i:]) {
				return true
			}
		}
		return false
	}
	if len(output) == 0 {
		return false
	}
	start, cut := strings.CutSuffix(want, "...")
	return (output[0] == want || cut && strings.HasPrefix(output[0], start)) && shows(rest, output[1:])
}

func linesOf(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n")
}

func TestTranscriptsAreCompared(t *testing.T) {
	output := linesOf("title\n\nlong line of text\nmore\nend\n")
	for transcript, want := range map[string]bool{
		"title\n...": true, "title\n\nlong line...\n...": true, "title\n\nlong line of text\nmore\nend": true, "...": true, "...\nend\n...": true,
		"title": false, "title\n\nshort...\n...": false, "title\n...\nmissing\n...": false, "": false,
	} {
		if got := shows(linesOf(transcript), output); got != want {
			t.Errorf("%q: %t", transcript, got)
		}
	}
}

// Every question of the READMEs is asked, on the sample folder and with the files that a reader is told to save. What is
// printed must be what the transcript below it shows; where there is none, something must be found.
func TestExamplesOfTheGuidesAnswerAsShown(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	bin := filepath.Join(t.TempDir(), "knowledged")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/knowledged").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	saved := regexp.MustCompile("`(knowledge_base/[^`]+\\.md)`")
	for _, guide := range guides[0] {
		t.Run(guide, func(t *testing.T) {
			p := startProgram(t, bin)
			asked, file := 0, ""
			blocks := blocksOf(read(t, guide))
			for i, b := range blocks {
				if m := saved.FindStringSubmatch(b.above); m != nil && b.kind == "markdown" {
					file = filepath.Join(p.dir, m[1])
					if err := os.WriteFile(file, []byte(b.text), 0o644); err != nil {
						t.Fatal(err)
					}
					p.settle()
				}
				if b.kind != "sh" || !strings.Contains(b.text, "bin/knowledged lookup ") {
					continue
				}
				var printed []string
				for _, line := range linesOf(b.text) {
					if !strings.HasPrefix(line, "bin/knowledged lookup ") || strings.Contains(line, "--socket") {
						continue // of a folder of the reader's own
					}
					out := p.lookup(line)
					asked++
					if len(printed) > 0 {
						printed = append(printed, "")
					}
					printed = append(printed, linesOf(out)...)
				}
				switch next := i + 1; {
				case len(printed) == 0:
				case next < len(blocks) && blocks[next].kind == "text" && blocks[next].above == "":
					if !shows(linesOf(blocks[next].text), printed) {
						t.Errorf("%s\nprints\n%s\n\nand not\n%s", b.text, strings.Join(printed, "\n"), blocks[next].text)
					}
				case slices.Contains(printed, "Not found: the folder has nothing on this."):
					t.Errorf("%s\nfinds nothing", b.text)
				}
				if file != "" { // the reader is told to delete it
					if err := os.Remove(file); err != nil {
						t.Fatal(err)
					}
					file = ""
					p.settle()
				}
			}
			if asked < 8 {
				t.Errorf("only %d questions read", asked)
			}
		})
	}
}

// The commands of the reference that ask with curl are run as they stand, on the sample folder; none gets an error.
func TestCurlExamplesOfTheReferenceWork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	bin := filepath.Join(t.TempDir(), "knowledged")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/knowledged").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	p := startProgram(t, bin)
	ran := 0
	for _, b := range blocksOf(read(t, guides[2][0])) { // the blocks of both languages are equal
		if b.kind != "sh" || !strings.Contains(b.text, "curl ") {
			continue
		}
		// The daemon of the test has no port.
		script := strings.ReplaceAll(b.text, "http://127.0.0.1:7420", "--unix-socket \"$SOCKET\" http://localhost")
		c := p.command(context.Background())
		c.Path, c.Args = "/bin/sh", []string{"sh", "-e", "-c", "curl() { command curl --fail-with-body \"$@\" || { echo \"curl $*\" >&2; exit 1; }; }\n" + script}
		c.Env = append(c.Env, "SOCKET="+p.socket)
		out, err := c.CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Errorf("%s\n%v\n%s", b.text, err, out)
		}
		ran++
	}
	if ran < 3 {
		t.Errorf("only %d blocks", ran)
	}
}
