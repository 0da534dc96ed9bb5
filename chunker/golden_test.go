package chunker

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"knowledged/document"
)

var update = flag.Bool("update", false, "write the chunks that Split makes into testdata")

// TestSplit_3_1_Golden splits in.md of each archive; its comment may begin with "target=N max=N".
func TestSplit_3_1_Golden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var opt Options
			_, _ = fmt.Sscanf(string(archive.Comment), "target=%d max=%d", &opt.Target, &opt.Max) // most have no options
			chunks := Split(parse(t, "guide/a.md", archive.Files[0].Data), opt)
			checkBounds(t, chunks, opt)
			got := []byte(show(chunks))
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "chunks", Data: got})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(archive.Files) != 2 {
				t.Fatal("no chunks in the archive: run with -update")
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), string(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func parse(t testing.TB, path string, data []byte) *document.Document {
	t.Helper()
	d, err := document.Parse(path, data, document.Options{BaseName: "kb", Fallback: false})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// show prints chunks for reading.
func show(chunks []document.Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "=== %d/%d %s\n", c.Index, c.Total, c.Breadcrumb)
		if c.Head != nil {
			fmt.Fprintf(&b, "(head: keywords %q, aliases %q, headings %q)\n", c.Head.Keywords, c.Head.Aliases, c.Head.Headings)
		}
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}
