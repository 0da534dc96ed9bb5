//go:build ignore

// Makes characters.txt and regional.txt from the dictionaries of opencc and variants.txt; run by go generate. Only the module's text is
// used: its code would cost a megabyte of the binary and a trie at start.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
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

	main := map[rune]rune{} // the usual simplified form, as opencc's phrases go by it
	classes := map[rune]rune{}
	root := func(r rune) rune {
		for up, ok := classes[r]; ok; up, ok = classes[r] {
			r = up
		}
		return r
	}
	// join makes two characters one; the commoner stands for both, the first where they are equally common.
	join := func(a, b string) {
		x, y := []rune(a), []rune(b)
		if len(x) != 1 || len(y) != 1 {
			return
		}
		if p, q := root(x[0]), root(y[0]); p != q && rarity(q) < rarity(p) {
			classes[p] = q
		} else if p != q {
			classes[q] = p
		}
	}
	joinRows := func(rows [][]string) {
		for _, row := range rows {
			for _, other := range row[1:] {
				join(row[0], other)
			}
		}
	}
	for _, row := range rows(filepath.Join(dir, "TSCharacters.txt")) { // first the usual form of each: it is to stand for the others
		a, b := []rune(row[0]), []rune(row[1])
		if len(a) == 1 && len(b) == 1 && a[0] != b[0] {
			main[a[0]] = b[0]
			join(row[1], row[0])
		}
	}
	// Then those with several forms (瞭 and 了, 覆 and 复), those that Hong Kong and Taiwan write otherwise, and the list here:
	// what is merely another shape of a character, and what authors write for each other (帐 and 账).
	for _, file := range []string{"STCharacters.txt", "TSCharacters.txt", "HKVariants.txt", "TWVariants.txt"} {
		joinRows(rows(filepath.Join(dir, file)))
	}
	joinRows(rows("variants.txt"))
	simple := map[rune]rune{}
	var from, to, mainland []rune
	for _, r := range slices.Sorted(maps.Keys(classes)) {
		simple[r] = root(r)
		from, to = append(from, r), append(to, root(r))
		if _, ok := main[r]; !ok && rarity(r) < unlisted {
			mainland = append(mainland, r)
		}
	}
	write("characters.txt", string(from)+"\n"+string(to)+"\n"+string(mainland)+"\n")

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

// rarity is 1 for the 3,755 commonest characters of the mainland (GB 2312, level 1), 2 for its others, and unlisted.
func rarity(r rune) int {
	b, err := simplifiedchinese.GBK.NewEncoder().Bytes([]byte(string(r)))
	switch {
	case err != nil || len(b) != 2 || b[0] < 0xb0 || b[0] > 0xf7 || b[1] < 0xa1:
		return unlisted
	case b[0] <= 0xd7:
		return 1
	}
	return 2
}

const unlisted = 3

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
