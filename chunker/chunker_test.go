package chunker

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"knowledged/document"
)

// checkBounds proves what holds of all chunks: numbered in order, distinct ids, text with words, no longer than Max.
func checkBounds(t testing.TB, chunks []document.Chunk, opt Options) {
	t.Helper()
	opt = opt.withDefaults()
	ids := map[string]bool{}
	for i, c := range chunks {
		if c.Index != i || c.Total != len(chunks) {
			t.Errorf("chunk %d is numbered %d of %d", i, c.Index, c.Total)
		}
		if n := utf8.RuneCountInString(c.Text); n > opt.Max {
			t.Errorf("chunk %d has %d characters, more than %d: %q", i, n, opt.Max, c.Text)
		}
		if !utf8.ValidString(c.Text) || !utf8.ValidString(c.Breadcrumb) {
			t.Errorf("chunk %d is not UTF-8: %q", i, c.Text)
		}
		if c.Head == nil && !hasWords(c.Text) {
			t.Errorf("chunk %d has no words: %q", i, c.Text)
		}
		if (c.Head != nil) && i != 0 {
			t.Errorf("chunk %d is a head", i)
		}
		if len(c.ID) != 32 || ids[c.ID] {
			t.Errorf("chunk %d has id %q, twice or of a strange length", i, c.ID)
		}
		ids[c.ID] = true
	}
}

var words = []string{"cache", "timeout", "缓存", "雪崩", "retry,", "ERR_TIMEOUT", "pool.", "数据库。", "v1.2", "the", "of"}

// manual writes a document of n sections with some of everything in them.
func manual(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("---\ntitle: Manual\nkeywords: [m]\nsummary: s\n---\n# Manual\n\n")
	text := func(n int) string {
		var out []string
		for range n {
			out = append(out, words[r.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	for i := range n {
		fmt.Fprintf(&b, "## Section %d\n\n%s\n\n- %s\n- %s\n\n", i, text(60), text(9), text(9))
		fmt.Fprintf(&b, "```sh\n# %s\n%s\n```\n\n### Part of %d\n\n%s\n\n| a | b |\n|---|---|\n| %s | %s |\n\n", text(5), text(5), i,
			text(200), text(3), text(3))
	}
	return b.String()
}

func ids(chunks []document.Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.ID)
	}
	return out
}

func TestSplit_3_4_EditChangesOnlyItsChunk(t *testing.T) {
	text := manual(20)
	before := ids(Split(parse(t, "a.md", []byte(text)), Options{}))
	head, last, _ := strings.Cut(text, "## Section 19\n")
	edits := map[string]struct {
		edited    string
		gone, new int // ids
	}{
		"nothing":            {text, 0, 0},
		"a word":             {strings.Replace(text, "### Part of 7\n\n", "### Part of 7\n\nNew. ", 1), 2, 2}, // both halves of the part at most
		"section put in":     {strings.Replace(text, "## Section 7\n", "## Put in\n\nnew text\n\n## Section 7\n", 1), 1, 2},
		"section removed":    {head, 4, 1},
		"table row":          {strings.Replace(text, "|---|---|\n", "|---|---|\n| new | row |\n", 1), 1, 1},
		"comment":            {strings.Replace(text, "## Section 7\n", "<!-- note -->\n\n## Section 7\n", 1), 0, 0},
		"same section twice": {text + "## Section 19\n" + last, 0, 3},
	}
	for name, tt := range edits {
		t.Run(name, func(t *testing.T) {
			after := ids(Split(parse(t, "a.md", []byte(tt.edited)), Options{}))
			var gone, added int
			for _, id := range before {
				if !slices.Contains(after, id) {
					gone++
				}
			}
			for _, id := range after {
				if !slices.Contains(before, id) {
					added++
				}
			}
			if gone > tt.gone || added > tt.new || tt.new > 0 && added == 0 {
				t.Errorf("%d ids gone, at most %d expected; %d added, at most %d expected", gone, tt.gone, added, tt.new)
			}
		})
	}
}

func TestSplit_3_4_IDHasAllThatIsStored(t *testing.T) {
	base := document.Document{Source: "kb/a.md", Title: "T", Summary: "s", Keywords: []string{"k"}, Body: "text\n"}
	variants := map[string]func(*document.Document){
		"source":   func(d *document.Document) { d.Source = "kb/b.md" },
		"category": func(d *document.Document) { d.Category = "ops" }, // of the rows
		"title":    func(d *document.Document) { d.Title = "U" },
		"summary":  func(d *document.Document) { d.Summary = "t" },
		"keywords": func(d *document.Document) { d.Keywords = []string{"k", "l"} },
		"aliases":  func(d *document.Document) { d.Aliases = []string{"l"} },
		"sections": func(d *document.Document) { d.SectionNames = []document.SectionName{{Name: "n"}} },
	}
	before := Split(&base, Options{})
	if len(before) != 2 || before[0].Head == nil {
		t.Fatalf("a head and a passage expected: %+v", before)
	}
	for name, change := range variants {
		d := base
		change(&d)
		after := Split(&d, Options{})
		if after[0].ID == before[0].ID {
			t.Errorf("%s changed, but the head's id did not", name)
		}
		passage := name == "source" || name == "category" || name == "title" // the breadcrumb begins with the title
		if passage != (after[1].ID != before[1].ID) {
			t.Errorf("%s changed: the passage's id was %s and is %s", name, before[1].ID, after[1].ID)
		}
	}
}

func TestSplit_3_1_LongLine(t *testing.T) {
	body := "# L\n\n" + strings.Repeat("字", 30000) + strings.Repeat("x", 40000) + "\n"
	chunks := Split(parse(t, "a.md", []byte(body)), Options{})
	checkBounds(t, chunks, Options{})
	all := ""
	for _, c := range chunks {
		all += c.Text
	}
	if n := strings.Count(all, "字"); n != 30000 {
		t.Errorf("%d of 30000 字 left", n)
	}
	if n := strings.Count(all, "x"); n != 40000 {
		t.Errorf("%d of 40000 x left", n)
	}
}

func TestSplit_3_1_CharactersStayWhole(t *testing.T) {
	const family, accented = "👨‍👩‍👧", "e\u0301"
	chunks := Split(parse(t, "a.md", []byte(strings.Repeat(family, 300)+strings.Repeat(accented, 900))), Options{})
	for _, c := range chunks {
		rest := strings.ReplaceAll(strings.ReplaceAll(c.Text, family, ""), accented, "")
		if rest != "" {
			t.Errorf("cut within a character: %q is left", rest)
		}
	}
}

func TestSplit_3_2_LongHeadingIsInTheText(t *testing.T) {
	heading := strings.Repeat("word ", 100) + "end"
	chunks := Split(parse(t, "a.md", []byte("---\ntitle: "+strings.Repeat("long ", 900)+"\n---\n# "+heading+"\n\ntext\n")), Options{})
	if len(chunks) != 2 || !strings.Contains(chunks[1].Text, heading) {
		t.Fatalf("the heading is lost: %+v", chunks)
	}
	for _, c := range chunks {
		if n := utf8.RuneCountInString(c.Breadcrumb); n > 2*maxTitle+len(separator) {
			t.Errorf("breadcrumb of %d characters", n)
		}
	}
	checkBounds(t, chunks, Options{})
}

var fenceLine = regexp.MustCompile("(?m)^[> ]*(`{3,}|~{3,})")

func TestSplit_3_1_FencesAreBalanced(t *testing.T) {
	var b strings.Builder
	b.WriteString("# C\n\n```go\n")
	for i := range 200 {
		fmt.Fprintf(&b, "func f%d() int { return %d } // filler filler filler\n", i, i)
	}
	b.WriteString("```\n\ntail\n")
	chunks := Split(parse(t, "a.md", []byte(b.String())), Options{})
	filler := 0
	for _, c := range chunks {
		filler += strings.Count(c.Text, "// filler")
		if n := len(fenceLine.FindAllString(c.Text, -1)); n%2 != 0 {
			t.Errorf("%d fence lines in %q", n, c.Text)
		}
		if strings.Contains(c.Text, "func") && !strings.HasPrefix(c.Text, "```go\n") {
			t.Errorf("code outside a fence: %q", c.Text)
		}
	}
	if filler != 200 {
		t.Errorf("%d of 200 lines left", filler)
	}
}

// A header alone answers nothing: a first row that doesn't fit below it is cut.
func TestSplit_3_1_NoHeaderAlone(t *testing.T) {
	const header = "| code | meaning |\n|---|---|\n"
	for name, row := range map[string]string{
		"words": "| R1 | " + strings.Repeat("long cell words ", 97) + "x |", "one word": "| R1 | " + strings.Repeat("x", 1575) + " |",
		"longer than a chunk": "| R1 | " + strings.Repeat("long cell words ", 400) + "|", "Chinese": "| R1 | " + strings.Repeat("很长的单元格。", 260) + " |",
	} {
		for _, rest := range []string{"", "| R2 | short |\n", row + "\n"} {
			chunks := Split(parse(t, "a.md", []byte("# C\n\n"+header+row+"\n"+rest)), Options{})
			checkBounds(t, chunks, Options{})
			chunks = chunks[1:] // the title
			if !strings.HasPrefix(chunks[0].Text, header+"| R1 | ") {
				t.Errorf("%s: first chunk %q", name, chunks[0].Text)
			}
			for _, c := range chunks {
				if len(c.Text) < len("| R2 | short |") || strings.TrimSpace(c.Text) == strings.TrimSpace(header) {
					t.Errorf("%s: useless chunk %q", name, c.Text)
				}
			}
		}
	}
}

// letters are what of a text must be found again.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, s)
}

// missing returns what of want is not, in order, in got; got may hold more: fences and headers are repeated.
func missing(want, got string) string {
	next := []rune(want)
	for _, r := range got {
		if len(next) > 0 && next[0] == r {
			next = next[1:]
		}
	}
	return string(next)
}

// visibleLetters are the letters of a body that must be in some chunk, by a way of its own: the text without headings.
func visibleLetters(d *document.Document) string {
	var b strings.Builder
	at := 0
	for _, s := range d.Sections {
		b.WriteString(d.Body[at:s.Start])
		at = s.Text
		if strings.HasSuffix(s.Title, "…") {
			at = s.Start
		}
	}
	b.WriteString(d.Body[at:])
	return letters(b.String())
}

func FuzzSplit(f *testing.F) {
	f.Add(manual(3), 100, 200)
	for _, body := range []string{
		"# A\n\n```go\ncode\n", "> - # x\n>   ```\n>   a\n", "| a | b |\n|---|---|\n| c | d |\n", "a\n---\nb\n===\n", "\ufeff# A\n",
		"-\n  ```x\n  y\n", "1. a\n\n   b\n\n\n      c\n", "- |a\n  |-\n  |b\n", "\tcode\n\n> q\nlazy\n", "~~~~ info\n~~~\n~~~~\n", "<div>\na\n\n# b\n",
		"#\n# \n## ##\n", "a\\`b`c``d`", "- - - - a\n", "\x00\u200b\r\x0b#\tx\n",
	} {
		f.Add(body, 0, 0)
		f.Add(body, 20, 40)
	}
	f.Fuzz(func(t *testing.T, body string, target, limit int) {
		if !utf8.ValidString(body) {
			return
		}
		opt := Options{Target: target % 3000, Max: limit % 3000}
		d := &document.Document{Source: "kb/a.md", Body: body, BodyLine: 1, Sections: document.Sections(body, 1)}
		chunks := Split(d, opt)
		checkBounds(t, chunks, opt)
		if strings.Contains(body, "<!-") || strings.Contains(body, "data:") || strings.Contains(body, "[[") {
			return // some letters are not for readers
		}
		var all strings.Builder
		for _, c := range chunks {
			all.WriteString(c.Text)
		}
		if lost := missing(visibleLetters(d), letters(all.String())); lost != "" {
			t.Errorf("lost %q of %q\nchunks:\n%s", lost, body, show(chunks))
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	d := parse(b, "a.md", []byte(manual(50)))
	b.SetBytes(int64(len(d.Body)))
	b.ReportAllocs()
	for b.Loop() {
		Split(d, Options{})
	}
}
