package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Query is one line of queries.jsonl. A query without relevant documents is one that the corpus does not answer.
type Query struct {
	ID       string     `json:"id"`
	Lang     string     `json:"lang"` // zh if it has a Chinese character, else en
	Type     string     `json:"type"` // para, symptom, keyword, xlang, section, unans
	Text     string     `json:"query"`
	Relevant []Relevant `json:"relevant"`
}

// Relevant is a document that answers a query, wholly (grade 3), in good part (2) or a little (1).
type Relevant struct {
	Path    string `json:"path"` // slash path below the corpus folder
	Grade   int    `json:"grade"`
	Section string `json:"section,omitempty"` // the heading, verbatim, under which the answer stands
	Group   string `json:"group,omitempty"`   // shared by the language versions of one document
}

// Load reads queries from JSON lines. Files that do not exist are passed over, so that a set may come in parts.
func Load(files ...string) ([]Query, error) {
	var all []Query
	ids := map[string]bool{}
	for _, file := range files {
		err := eachLine(file, func(line string) error {
			var q Query
			dec := json.NewDecoder(strings.NewReader(line))
			if err := dec.Decode(&q); err != nil {
				return err
			}
			if q.ID == "" || q.Text == "" || ids[q.ID] {
				return fmt.Errorf("query %q needs a text and an id of its own", q.ID)
			}
			ids[q.ID] = true
			all = append(all, q)
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return all, nil
}

func eachLine(file string, f func(line string) error) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read queries: %w", err)
	}
	defer in.Close()
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, 1<<20)
	for n := 1; scan.Scan(); n++ {
		if strings.TrimSpace(scan.Text()) == "" {
			continue
		}
		if err := f(scan.Text()); err != nil {
			return fmt.Errorf("read %s line %d: %w", file, n, err)
		}
	}
	return scan.Err()
}

// CopyCorpus copies the Markdown files below each folder into dst; where two have a file of one path, the later wins. The
// daemon is given a copy, since it may be asked to write.
func CopyCorpus(dst string, folders ...string) error {
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".md" {
				return err
			}
			below, err := filepath.Rel(folder, file)
			if err != nil {
				return err
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			to := filepath.Join(dst, below)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			return os.WriteFile(to, data, 0o644)
		})
		if err != nil {
			return fmt.Errorf("copy corpus %s: %w", folder, err)
		}
	}
	return nil
}
