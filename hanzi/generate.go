//go:build ignore

// Makes characters.txt and regional.txt from the dictionaries of opencc; run by go generate. Only the module's text is
// used: its code would cost a megabyte of the binary and a trie at start.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

const module = "github.com/longbridgeapp/opencc@v0.3.13"

func main() {
	log.SetFlags(0)
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		log.Fatalf("find %s: %v", module, err)
	}
	var at struct{ Dir string }
	if err := json.Unmarshal(out, &at); err != nil {
		log.Fatal(err)
	}
	dir := filepath.Join(at.Dir, "dictionary")

	simple := map[rune]rune{}
	var from, to []rune
	for _, row := range rows(filepath.Join(dir, "TSCharacters.txt")) {
		a, b := []rune(row[0]), []rune(row[1])
		if len(a) == 1 && len(b) == 1 && a[0] != b[0] {
			simple[a[0]] = b[0]
			from, to = append(from, a[0]), append(to, b[0])
		}
	}
	for i, r := range to { // 薴 is written 苧, and that, where it is another word's traditional form, 苎: all are one
		for s, ok := simple[r]; ok; s, ok = simple[r] {
			r = s
		}
		simple[from[i]], to[i] = r, r
	}
	write("characters.txt", string(from)+"\n"+string(to)+"\n")

	fold := func(s string) string {
		return strings.Map(func(r rune) rune {
			if b, ok := simple[r]; ok {
				return b
			}
			return r
		}, s)
	}
	var lines []string
	add := func(mainland, taiwan string) {
		a, b := fold(mainland), fold(taiwan)
		if a != b && utf8.RuneCountInString(a) > 1 && utf8.RuneCountInString(b) > 1 {
			lines = append(lines, a+"\t"+b)
		}
	}
	for _, row := range rows(filepath.Join(dir, "TWPhrases.txt")) {
		for _, taiwan := range row[1:] {
			add(row[0], taiwan)
		}
	}
	for _, row := range rows(filepath.Join(dir, "TWPhrasesRev.txt")) {
		for _, mainland := range row[1:] {
			add(mainland, row[0])
		}
	}
	slices.Sort(lines)
	write("regional.txt", strings.Join(slices.Compact(lines), "\n")+"\n")
}

// rows reads a dictionary: a key, a tab, and what it becomes, the likeliest first.
func rows(file string) (rows [][]string) {
	data, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) > 1 {
			rows = append(rows, f)
		}
	}
	return rows
}

func write(file, text string) {
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
