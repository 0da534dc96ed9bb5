package document

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func parse(t *testing.T, text string, fallback bool) *Document {
	t.Helper()
	d, err := Parse("ops/a.md", []byte(text), Options{BaseName: "kb", Fallback: fallback})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// lines are the warnings' lines; text says what each has to hold.
func checkWarnings(t *testing.T, d *Document, want ...Warning) {
	t.Helper()
	if len(d.Warnings) != len(want) {
		t.Errorf("warnings %+v, want %d", d.Warnings, len(want))
		return
	}
	for i, w := range want {
		if d.Warnings[i].Line != w.Line || !strings.Contains(d.Warnings[i].Message, w.Message) {
			t.Errorf("warning %+v, want line %d with %q", d.Warnings[i], w.Line, w.Message)
		}
	}
}

func TestFrontMatter_1_3_Read(t *testing.T) {
	for name, tt := range map[string]struct {
		text     string
		title    string
		keywords []string
		summary  string
		body     string
		line     int
		warnings []Warning
	}{
		"plain": {"---\ntitle: T\nkeywords: [a, b]\nsummary: s\n---\n# H\n", "T", []string{"a", "b"}, "s", "# H\n", 6, nil},
		"BOM, CRLF and blanks behind the dashes": {
			"\uFEFF---  \r\ntitle: T\r\nkeywords: [a]\r\nsummary: s\r\n---\t \r\nx\r\n",
			"T",
			[]string{"a"},
			"s", "x\n", 6, nil,
		},
		"no-break and zero-width behind the dashes": {"---\u00a0\ntitle: T\nkeywords: [a]\nsummary: s\n---\u200b\nx", "T", []string{"a"}, "s", "x", 6, nil},
		"CR only":          {"---\rtitle: T\rkeywords: [a]\rsummary: s\r---\rx\r", "T", []string{"a"}, "s", "x\n", 6, nil},
		"closed by dots":   {"---\ntitle: T\nkeywords: [a]\nsummary: s\n...\nx\n---\n", "T", []string{"a"}, "s", "x\n---\n", 6, nil},
		"no final newline": {"---\ntitle: T\nkeywords: [a]\nsummary: s\n---", "T", []string{"a"}, "s", "", 5, nil},
		"rules in the body": {
			"---\ntitle: T\nkeywords: [a]\nsummary: s\n---\nx\n\n---\n\ny\n---\n",
			"T",
			[]string{"a"},
			"s", "x\n\n---\n\ny\n---\n", 6, nil,
		},
		"dashes in a literal block": {
			"---\nsummary: |\n  first\n  ---\n  second\ntitle: \"x --- y\"\nkeywords: [dash]\n---\nb",
			"x --- y",
			[]string{"dash"},
			"first\n---\nsecond", "b", 9, nil,
		},
		"dashes in a quoted value": {
			"---\nsummary: \"first\n  ---\n  second\"\ntitle: '--- x'\nkeywords: ['---']\n---\nb",
			"--- x",
			[]string{"---"},
			"first --- second", "b", 8, nil,
		},
		"folded title":  {"---\ntitle: >\n  Cache: the\n  guide\nkeywords: [a]\nsummary: |\n  one\n  two\n---\n", "Cache: the guide", []string{"a"}, "one\ntwo", "", 10, nil},
		"literal title": {"---\ntitle: |\n  Cache\n  guide\nkeywords: [a]\nsummary: s\n---\n", "Cache guide", []string{"a"}, "s", "", 8, nil},
		"comments": {
			"---\n# about\ntitle: T  # the title\nkeywords: # names\n  # first\n  - a # one\n  - b\n\nsummary: s\n---\n",
			"T",
			[]string{"a", "b"},
			"s", "", 11, nil,
		},
		"typed keywords": {
			"---\ntitle: T\nkeywords: [404, 1.10, yes, 2024-01-15, 0x1F, 007, 1e3, ~x, .5, +1, 12:30]\nsummary: 3.0\n---\n",
			"T",
			[]string{"404", "1.10", "yes", "2024-01-15", "0x1F", "007", "1e3", "~x", ".5", "+1", "12:30"},
			"3.0", "", 6, nil,
		},
		"anchor with a type, used":    {"---\ntitle: &t !imp T\nkeywords: [*t]\nsummary: s\n---\n", "T", []string{"T"}, "s", "", 6, nil},
		"anchors":                     {"---\nx: &names [a, &b b]\ntitle: T\nkeywords: *names\naliases: [*b]\nsummary: s\n---\n", "T", []string{"a", "b"}, "s", "", 8, nil},
		"merge keys":                  {"---\nbase: &base {title: T, keywords: [k], <<: {summary: far}}\n<<: *base\ntitle: own\n---\n", "own", []string{"k"}, "far", "", 6, nil},
		"quoted null, hash and colon": {"---\ntitle: \"null\"\nkeywords: [\"#a\", 'b: c']\nsummary: 'it''s'\n---\n", "null", []string{"#a", "b: c"}, "it's", "", 6, nil},
		"string keywords": {
			"---\ntitle: T\nkeywords: 缓存、穿透，雪崩；击穿, a b;c,,\nsummary: s\n---\n",
			"T",
			[]string{"缓存", "穿透", "雪崩", "击穿", "a b", "c"},
			"s", "", 6, nil,
		},
		"lines of blanks only":          {"---\ntitle: T\n\t\nkeywords:\n\u00a0\n  - a\n \t \n  - b\n\u200b\nsummary: |\n  x\n\u3000\n  y\n---\n", "T", []string{"a", "b"}, "x\n\ny", "", 15, nil},
		"a list with full-width commas": {"---\ntitle: T\nkeywords: [缓存，穿透、雪崩]\nsummary: s\n---\n", "T", []string{"缓存", "穿透", "雪崩"}, "s", "", 6, nil},
		"one keyword":                   {"---\ntitle: T\nkeywords: 404\nsummary: s\n---\n", "T", []string{"404"}, "s", "", 6, nil},
		"twice the same keyword":        {"---\ntitle: T\nkeywords: [a, b, a]\nsummary: s\n---\n", "T", []string{"a", "b"}, "s", "", 6, nil},
		"keys in other case and width":  {"---\nTitle: T\n\u200bKEYWORDS: [a]\nｓummary: s\n---\n", "T", []string{"a"}, "s", "", 6, nil},
		"zero-width around names":       {"---\ntitle: \"\u200bT\ufeff\"\nkeywords: [\"\u200ba\"]\nsummary: s\n---\n", "T", []string{"a"}, "s", "", 6, nil},
		"control characters by escape":  {"---\ntitle: \"T\\0\\x07x\"\nkeywords: [\"a\\0\"]\nsummary: s\n---\n", "Tx", []string{"a"}, "s", "", 6, nil},
		"emoji":                         {"---\ntitle: 🚀 Start\nkeywords: [🚀]\nsummary: s\n---\n", "🚀 Start", []string{"🚀"}, "s", "", 6, nil},
		"indented block":                {"---\n  title: T\n  keywords: [a]\n  summary: s\n---\n", "T", []string{"a"}, "s", "", 6, nil},
		"flow mapping":                  {"---\n{title: T, keywords: [a], summary: s}\n---\n", "T", []string{"a"}, "s", "", 4, nil},
		"line separator pasted in":      {"---\ntitle: T\u2028x\nkeywords: [a]\nsummary: s\n---\n", "T x", []string{"a"}, "s", "", 6, nil},
		"a list of one as title":        {"---\ntitle: [T]\nkeywords: [a]\nsummary: s\n---\n", "T", []string{"a"}, "s", "", 6, nil},
		"empty items": {
			"---\ntitle: T\nkeywords:\n  -\n  - real\n  - \"\"\n  - ~\nsummary: s\n---\n", "T",
			[]string{"real"},
			"s", "", 10,
			[]Warning{{4, "item of keywords is empty: dropped (also line 6, line 7)"}},
		},
		"items lost to a comment": {
			"---\ntitle: T\nkeywords:\n  - #tag\n  - C#\n  - #two\nsummary: s\n---\n", "T",
			[]string{"C#"},
			"s", "", 9,
			[]Warning{{4, "# begins a comment: put it in quotes (also line 6)"}},
		},
		"item lost in a list of several lines": {
			"---\ntitle: T\nkeywords: [\n  C#,\n  #x\n]\nsummary: s\n---\n", "T",
			[]string{"C#"},
			"s", "", 9,
			[]Warning{{4, "# begins a comment"}},
		},
		"nested keywords": {
			"---\ntitle: T\nkeywords: [[a, b], {c: d}, ok]\nsummary: s\n---\n", "T",
			[]string{"ok"},
			"s", "", 6,
			[]Warning{{3, "keywords has to be a plain list"}},
		},
		"title cut by a comment": {
			"---\ntitle: Fix #42\nkeywords: [a]\nsummary: s\n---\n", "Fix",
			[]string{"a"},
			"s", "", 6,
			[]Warning{{2, `title ends before "#42"`}},
		},
		"twice the same field": {
			"---\ntitle: A\nkeywords: [a]\nsummary: s\ntitle: B\n---\n", "B",
			[]string{"a"},
			"s", "", 7,
			[]Warning{{5, "title is there twice"}},
		},
		"too long a title": {
			"---\ntitle: " + strings.Repeat("长", 1200) + "\nkeywords: [a]\nsummary: s\n---\n", strings.Repeat("长", 1000),
			[]string{"a"},
			"s", "", 6,
			[]Warning{{2, "title is longer than 1000 characters"}},
		},
		"too long a keyword": {
			"---\ntitle: T\nkeywords: [a, " + strings.Repeat("k", 1200) + "]\nsummary: s\n---\n", "T",
			[]string{"a", strings.Repeat("k", 1000)},
			"s", "", 6,
			[]Warning{{3, "an entry of keywords is longer than 1000 characters"}},
		},
		"too many keywords": {
			"---\ntitle: T\nkeywords: [" + strings.Join(numbered("k%d,", 1200), "") + "]\nsummary: s\n---\n", "T", numbered("k%d", 1000), "s", "", 6,
			[]Warning{{3, "keywords has more than 1000 entries"}},
		},
		"marks of YAML before a text": {
			"---\ntitle: !important notes\nkeywords: [amps, &Co partners, !x , &q \"quoted\"]\nsummary: &c\n  see below\ncategory: &co\n---\n", "!important notes",
			[]string{"amps", "&Co partners", "!x", "quoted"},
			"&c see below", "", 8,
			[]Warning{
				{2, "title begins with !, which gives a type in YAML: put it in quotes: \"!important notes\""},
				{3, "an entry of keywords begins with &, which names a value in YAML: put it in quotes: \"&Co partners\""},
				{3, "an entry of keywords begins with !"},
				{3, "an entry of keywords begins with &, which names a value in YAML: remove &q, or"},
				{4, "summary begins with &"},
				{6, "category begins with &"},
			},
		},
		"items whose dash has no blank behind": {
			"---\ntitle: T\nsummary: s\nkeywords:\n  -a5\n\n  -b 5\naliases:\n  -x\n  y\n---\n", "T",
			[]string{"a5", "b 5"},
			"s", "", 12,
			[]Warning{{5, "a blank is missing after the dash of an item of keywords: `- a5`"}},
		},
		"no such items": {"---\ntitle: T\nsummary: s\nkeywords:\n  -5\naliases: -x\ntags:\n  --y\n---\n", "T", []string{"-5"}, "s", "", 10, nil},
		"an item cut by a comment": {
			"---\ntitle: T\nkeywords:\n  - issue #42\n  - b # note\nsummary: s\n---\n", "T",
			[]string{"issue", "b"},
			"s", "", 8,
			[]Warning{{4, `an item of keywords ends before "#42"`}},
		},
		"keywords cut by a comment": {
			"---\ntitle: T\nkeywords: a, b #c\nsummary: s\n---\n", "T",
			[]string{"a", "b"},
			"s", "", 6,
			[]Warning{{3, `keywords ends before "#c"`}},
		},
		"anchors and types of YAML": {"---\ntitle: &t !!str T\nkeywords: [a]\nsummary: s\nx: !ENV [*t]\n---\n", "T", []string{"a"}, "s", "", 7, nil},
		"category as a list": {
			"---\ntitle: T\nkeywords: [a]\nsummary: s\ncategory: [x, y]\n---\n", "T",
			[]string{"a"},
			"s", "", 7,
			[]Warning{{5, "category has to be one text, not a list"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tt.text, false)
			if d.Title != tt.title || !slices.Equal(d.Keywords, tt.keywords) || d.Summary != tt.summary {
				t.Errorf("title %q, keywords %q, summary %q; want %q, %q, %q", d.Title, d.Keywords, d.Summary, tt.title, tt.keywords, tt.summary)
			}
			if d.Body != tt.body || d.BodyLine != tt.line {
				t.Errorf("body %q from line %d; want %q from %d", d.Body, d.BodyLine, tt.body, tt.line)
			}
			if !d.InL0 || !d.HasFrontmatter || !json.Valid(d.Metadata) {
				t.Errorf("InL0 %v, HasFrontmatter %v, metadata %s", d.InL0, d.HasFrontmatter, d.Metadata)
			}
			checkWarnings(t, d, tt.warnings...)
		})
	}
}

func TestFrontMatter_1_3_TypedTitles(t *testing.T) {
	for _, title := range []string{"yes", "1.10", "2024-01-15", "0123", "20240425", "true", "No", "1e5", ".nan", "0o17", "2001-12-14t21:59:43.10-05:00", "=", "-1", "1_000"} {
		d := parse(t, "---\ntitle: "+title+"\nkeywords: [k]\nsummary: s\n---\n", false)
		var meta map[string]any
		if err := json.Unmarshal(d.Metadata, &meta); err != nil {
			t.Fatal(err)
		}
		if d.Title != title || meta["title"] != title || !d.InL0 || len(d.Warnings) > 0 {
			t.Errorf("title: %s is read as %q, metadata %v, warnings %+v", title, d.Title, meta["title"], d.Warnings)
		}
	}
}

// Not front matter, but body; and no warning, since nothing is wrong.
func TestFrontMatter_1_3_None(t *testing.T) {
	for name, text := range map[string]string{
		"empty":               "",
		"text behind":         "--- x\ntitle: T\n---\n",
		"a rule above prose":  "---\n\n# H1\n\ntext\n",
		"a rule and nothing":  "---",
		"a template":          "{{< toc >}}\n\n# H1\n",
		"a brace in prose":    "{\"a\": 1} is JSON\n",
		"braces":              "{ x }\n",
		"TOML fence in prose": "++++\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, text, true)
			if d.HasFrontmatter || d.InL0 || d.Metadata != nil || d.Body != text || d.BodyLine != 1 {
				t.Errorf("%+v", d)
			}
			checkWarnings(t, d)
			if strings.Contains(text, "# H1") && d.Title != "H1" {
				t.Errorf("title %q, want the H1 to show", d.Title)
			}
		})
	}
}

func TestFrontMatter_1_3_Malformed(t *testing.T) {
	for name, tt := range map[string]struct {
		block   string
		line    int
		message string
	}{
		"colon in a title":           {"title: Cache: what to do\nkeywords: [c]\n", 2, `needs quotes: "Cache: what to do"`},
		"colon below":                {"keywords: [c]\nsummary: 注意: 重启\n", 3, "summary holds a colon and needs quotes"},
		"colon at the end":           {"keywords: [c]\ntitle: What:\n  - x\n", 3, "colon and needs quotes"},
		"colon in an item":           {"title: T\nkeywords:\n  - a\n  - b: c: d\n", 5, "the value of b holds a colon"},
		"tab":                        {"title: T\nkeywords:\n\t- a\n", 4, "a tab is used to indent"},
		"tab further down":           {"title: T\n\nkeywords:\n  - a\n\t- b\n", 6, "a tab"},
		"dash without a blank":       {"title: T\nkeywords:\n-a4\n-b4\nsummary: s\n", 4, "a blank is missing after the dash: `- a4`"},
		"item without a blank":       {"title: T\nkeywords:\n  - a\n  -b\nsummary: s\n", 5, "a blank is missing after the dash: `- b`"},
		"tab alone, slip further on": {"title: T\n\t\nkeywords: [t\nsummary: s\n", 4, "[ opens the list of keywords"},
		"full-width colon":           {"title：支付\nkeywords: [a]\n", 2, "full-width colon ： after title"},
		"full-width colon below":     {"title: T\nkeywords: [a]\nsummary：s\n", 4, "full-width colon ： after summary"},
		"only full-width colons":     {"title：T\nsummary：s\n", 2, "full-width colon"},
		"no blank after the colon":   {"title: T\nkeywords:[a]\n", 3, "a blank is missing after the colon of keywords"},
		"no-break space":             {"title:\u00a0T\nkeywords: [a]\n", 2, "not a plain blank (U+00A0)"},
		"ideographic space":          {"title: T\nsummary:\u3000s\n", 3, "not a plain blank (U+3000)"},
		"no-break indent":            {"title: T\nkeywords:\n\u00a0\u00a0- a\n", 4, "U+00A0"},
		"quote left open":            {"title: \"T\nkeywords: [a]\n", 2, "is never closed"},
		"single quote left open":     {"title: T\nsummary: 'x\n", 3, "the quote ' that opens the value of summary"},
		"text behind a quote":        {"title: \"Foo\" and bar\n", 2, "goes on after its closing quote"},
		"apostrophe":                 {"title: 'it's'\n", 2, "put all of it in double quotes"},
		"Windows path":               {"title: T\npath: \"C:\\Users\\x\"\n", 3, "backslash"},
		"bracket left open":          {"title: T\nkeywords: [a, b\nsummary: s\n", 3, "[ opens the list of keywords but is never closed"},
		"brace left open":            {"x: {a: b\ntitle: T\n", 2, "{ opens"},
		"comment in a list":          {"title: T\nkeywords: [C#, #x]\n", 3, "# begins a comment within the list of keywords"},
		"full-width comma":           {"title: T\nkeywords: [\"a\"，\"b\"]\n", 3, "full-width ，"},
		"full-width bracket":         {"title: T\nkeywords: [a, b】\n", 3, "full-width 】"},
		"quote open in a list":       {"title: T\nkeywords: [\"a, b]\n", 3, "a quote within the list of keywords is never closed"},
		"two commas":                 {"title: T\nkeywords: [a,, b]\n", 3, "two commas"},
		"bad item":                   {"title: T\nkeywords: [a, @b]\n", 3, "an item in the list of keywords needs quotes"},
		"text behind a list":         {"title: [Draft] My title\n", 2, `needs quotes: "[Draft] My title"`},
		"wikilinks":                  {"title: T\nfamily: [[Ann]] [[Bob]]\n", 3, "goes on after its end"},
		"at sign":                    {"title: T\nauthor: @ann\n", 3, "begins with @ and needs quotes"},
		"backtick":                   {"title: `ls`\n", 2, "begins with `"},
		"percent":                    {"title: %d\n", 2, "begins with %"},
		"star":                       {"title: T\nsummary: *important*\n", 3, "begins with * and needs quotes"},
		"item with a star":           {"title: T\nkeywords:\n  - a\n  - *.md\n", 5, "*"},
		"at sign in an item":         {"title: T\nkeywords:\n  - [x]\n  - \"a\\tb\"\n  - @b\n", 6, "the value of the list item begins with @"},
		"greater sign":               {"title: > 5 ways\n", 2, "begins with >"},
		"list behind the key":        {"keywords: - a\n", 2, "begin on a line of its own"},
		"deeper than above":          {"title: T\n  keywords: [a]\n", 3, "keywords is indented deeper than title"},
		"item below a value":         {"title: T\nkeywords: a\n- b\n", 4, "has a value already"},
		"text block steps back":      {"summary: |\n    one\n  two\ntitle: T\n", 4, "indented less"},
		"bare word":                  {"title: T\noops\n", 3, "not of the form"},
		"template":                   {"title: <% tp.file.title %>\nkeywords: {{tags}}\nfamily: [[Ann]] [[Bob]]\nsummary: s\noops\n", 4, "needs quotes"},
		"unfilled placeholder":       {"title: {{title}}\nkeywords: {{tags}}\nsummary: s\n", 2, "template's {{…}}"},
		"control character":          {"title: T\nsummary: a\x08b\n", 3, "U+0008"},
		"second document":            {"title: T\n--- x\nsummary: s\n", 3, "ends the front matter only if nothing follows"},
		"unknown anchor":             {"title: T\nx: [1, *a]\n", 3, "begins with * needs quotes"},
		"prose":                      {"Just a sentence between rules\n", 1, "this is text"},
		"a list":                     {"- a\n- b\n", 1, "this is a list"},
		"a list, then a field":       {"- a\ntitle: T\n", 2, "not of the form"},
		"more dashes":                {"title: T\nsummary: >-\n  a\n ----\n", 5, ""},
		"unclosed, and a rule below": {"title: T\nsummary: s\n\n# H\n\nprose goes here\n\n", 1, "not closed"},
		"list in YAML of its own":    {"title: T\nx: !!int [\n", 3, "needs quotes"},
		"larger than the limit":      {"title: T\nx: " + strings.Repeat("x", maxFrontMatter) + "\n", 1, "larger than 256 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "---\n" + tt.block + "---\n\n# Heading\n\nprecious text\n"
			d := parse(t, text, true)
			if d.InL0 || d.HasFrontmatter || d.Metadata != nil {
				t.Errorf("InL0 %v, HasFrontmatter %v, metadata %s", d.InL0, d.HasFrontmatter, d.Metadata)
			}
			if d.Body != text || d.BodyLine != 1 {
				t.Error("the body has to hold all of the text")
			}
			checkWarnings(t, d, Warning{tt.line, tt.message})
			last := d.Sections[len(d.Sections)-1]
			if last.Title != "Heading" || d.Body[last.Start:last.Text] != "# Heading\n" || last.Line != lineAt(text, last.Start) {
				t.Errorf("sections %+v", d.Sections)
			}
			if len(d.Sections) > 2 || len(d.Sections) == 2 && d.Sections[0].Title != "H" {
				t.Errorf("a line of the block became a heading: %+v", d.Sections)
			}
		})
	}
}

func TestFrontMatter_1_3_Unclosed(t *testing.T) {
	text := "---\ntitle: Open\nkeywords: [open]\nsummary: s\n\n# H\n\nprecious text\n"
	d := parse(t, text, true)
	if d.InL0 || d.HasFrontmatter || d.Body != text {
		t.Errorf("%+v", d)
	}
	checkWarnings(t, d, Warning{1, "not closed"})
	checkWarnings(t, parse(t, "---\ntitle：Open\n", true), Warning{1, "not closed"})
	checkWarnings(t, parse(t, "+++\ntitle = 'x'\n", true), Warning{1, "not closed"})
	checkWarnings(t, parse(t, "{\n  \"title\": \"x\",\n", true), Warning{1, "not closed"})
}

func TestFrontMatter_1_3_Missing(t *testing.T) {
	for name, tt := range map[string]struct {
		text     string
		fallback bool
		inL0     bool
		warnings []Warning
	}{
		"all, without fallback":    {"---\nauthor: x\n---\n# H1\n", false, false, []Warning{{1, "title, keywords, summary are missing"}}},
		"all, with an H1":          {"---\nauthor: x\n---\n# H1\n", true, true, []Warning{{1, "keywords, summary are missing"}}},
		"all, without an H1":       {"---\nauthor: x\n---\n## H2\n", true, false, []Warning{{1, "title, keywords, summary are missing"}}},
		"empty block":              {"---\n---\ntext\n", true, false, []Warning{{1, "title, keywords, summary are missing"}}},
		"only comments":            {"---\n# x\n\n---\n# H1\n", true, true, []Warning{{1, "keywords, summary are missing"}}},
		"keywords of empty items":  {"---\ntitle: K\nkeywords:\n  -\nsummary: s\n---\n", true, true, []Warning{{3, "keywords is missing or empty"}}},
		"the same, no fallback":    {"---\ntitle: K\nkeywords:\n  -\nsummary: s\n---\n", false, false, []Warning{{3, "keywords is missing or empty"}}},
		"keywords empty":           {"---\ntitle: K\nsummary: s\nkeywords:\n---\n", true, true, []Warning{{4, "keywords is missing"}}},
		"keywords an empty list":   {"---\ntitle: K\nsummary: s\nkeywords: []\n---\n", true, true, []Warning{{4, "keywords is missing"}}},
		"keywords of tags":         {"---\ntitle: K\nsummary: s\nkeywords: #a #b\n---\n", true, true, []Warning{{4, "keywords is missing or empty (# begins a comment"}}},
		"only separators":          {"---\ntitle: K\nsummary: s\nkeywords: \"，、\"\n---\n", true, true, []Warning{{4, "keywords is missing"}}},
		"title null, summary gone": {"---\nkeywords: [a]\ntitle: null\n---\n", true, false, []Warning{{3, "title, summary are missing"}}},
		"title zero-width":         {"---\nkeywords: [a]\nsummary: s\ntitle: \"\u200b\"\n---\n", false, false, []Warning{{4, "title is missing"}}},
		"keywords a mapping":       {"---\ntitle: K\nkeywords: {a: b}\nsummary: s\n---\n", true, true, []Warning{{3, "keywords has to be a list, not a mapping"}}},
		"keywords all nested":      {"---\ntitle: K\nkeywords: [[a]]\nsummary: s\n---\n", false, false, []Warning{{3, "plain list"}}},
		"title a list":             {"---\ntitle: [a, b]\nkeywords: [a]\nsummary: s\n---\n# H1\n", true, true, []Warning{{2, "title has to be one text, not a list"}}},
		"summary a mapping":        {"---\ntitle: K\nkeywords: [a]\nsummary:\n  x: y\n---\n", false, false, []Warning{{4, "summary has to be one text"}}},
		"tags stand in":            {"---\ntitle: K\nkeywords: []\nsummary: s\ntags: [a]\n---\n", true, true, nil},
		"tags don't without":       {"---\ntitle: K\nsummary: s\ntags: [a]\n---\n", false, false, []Warning{{1, "keywords is missing"}}},
		"description stands in":    {"---\ntitle: K\nkeywords: a\ndescription: d\n---\n", true, true, nil},
		"aliases are no keywords":  {"---\ntitle: K\naliases: a\nsummary: d\n---\n", true, true, []Warning{{1, "keywords is missing"}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tt.text, tt.fallback)
			if d.InL0 != tt.inL0 || !d.HasFrontmatter {
				t.Errorf("InL0 %v, HasFrontmatter %v", d.InL0, d.HasFrontmatter)
			}
			checkWarnings(t, d, tt.warnings...)
		})
	}
}

func TestFrontMatter_1_3_OtherTools(t *testing.T) {
	for name, tt := range map[string]struct {
		text, title       string
		keywords, aliases []string
		summary           string
	}{
		"Hugo": {
			"---\ntitle: T\ndate: 2024-01-15T10:00:00+08:00\ndraft: false\ntags: [Go, C++]\ncategories: [x]\ndescription: D\naliases: [/old/url/, /old.html, /v1/pay, PG]\n---\n",
			"T",
			[]string{"Go", "C++"},
			[]string{"/v1/pay", "PG"},
			"D",
		},
		"Hugo TOML": {
			"+++\ntitle = \"T\" # x\ndate = 2024-01-15\ntags = [\"Go\", \"C++\"]\ndescription = '''\nD'''\n[params]\nx = 1\n+++\n",
			"T",
			[]string{"Go", "C++"},
			nil, "D",
		},
		"Hugo JSON": {"{\n  \"title\": \"T \\ud83d\\ude00\",\n\t\"tags\": [\"Go\", 1.10],\n  \"description\": \"D\"\n}\n\nx\n", "T 😀", []string{"Go", "1.10"}, nil, "D"},
		"Docusaurus": {
			"---\nid: x\nsidebar_label: X\ndescription: D\ntags: [a, {label: B, permalink: /b}]\n---\n# The title {#id}\n",
			"The title",
			[]string{"a", "B"},
			nil, "D",
		},
		"Obsidian":            {"---\ntags:\n  - \"#redis\"\n  - cache/hot\naliases: Ann, 安\ncssclass: x\nsummary: S\n---\n# T\n", "T", []string{"redis", "cache/hot"}, []string{"Ann", "安"}, "S"},
		"Obsidian, tags text": {"---\ntitle: T\ntags: \"#a #b\"\nsummary: S\n---\n", "T", []string{"a", "b"}, nil, "S"},
		"Jekyll":              {"---\nlayout: post\ntitle: \"T\"\ntags: redis cache\nexcerpt: x\nsummary: S\n---\n", "T", []string{"redis", "cache"}, nil, "S"},
		"tags with commas":    {"---\ntitle: T\ntags: machine learning, 缓存\nsummary: S\n---\n", "T", []string{"machine learning", "缓存"}, nil, "S"},
		"keywords go first":   {"---\ntitle: T\ntags: [x]\nkeywords: [a b]\nsummary: S\ndescription: D\n---\n# H1\n", "T", []string{"a b"}, nil, "S"},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tt.text, true)
			if d.Title != tt.title || !slices.Equal(d.Keywords, tt.keywords) || !slices.Equal(d.Aliases, tt.aliases) || d.Summary != tt.summary || !d.InL0 {
				t.Errorf("title %q, keywords %q, aliases %q, summary %q, InL0 %v", d.Title, d.Keywords, d.Aliases, d.Summary, d.InL0)
			}
			checkWarnings(t, d)
			if off := parse(t, tt.text, false); off.InL0 != (name == "keywords go first") {
				t.Errorf("without fallback InL0 is %v", off.InL0)
			}
		})
	}
}

func TestFrontMatter_1_3_TOMLAndJSON(t *testing.T) {
	for name, tt := range map[string]struct {
		text, metadata string
		warnings       []Warning
	}{
		"TOML": {
			"+++\nz = 1\ntitle = 404\nkeywords = [1, 2.5, true, 2024-01-15, 07:30:00, 2024-01-15T10:00:00, 2024-01-15T10:00:00Z]\nsummary = \"s\"\n[sections]\nb = \"## B\"\na = \"A\"\n[[x]]\ny = nan\n+++\n",
			`{"z":1,"title":"404","keywords":["1","2.5","true","2024-01-15","07:30:00","2024-01-15T10:00:00","2024-01-15T10:00:00Z"],"summary":"s","sections":{"b":"## B","a":"A"},"x":[{"y":"nan"}]}`, nil,
		},
		"TOML, empty field":       {"+++\ntitle = 'T'\nkeywords = []\nsummary = 's'\n+++\n", `{"title":"T","keywords":[],"summary":"s"}`, []Warning{{3, "keywords is missing"}}},
		"TOML, empty item":        {"+++\ntitle = 'T'\nkeywords = ['', 'a']\nsummary = 's'\n+++\n", `{"title":"T","keywords":["","a"],"summary":"s"}`, []Warning{{3, "item of keywords is empty"}}},
		"TOML, bad":               {"+++\ntitle = 'T'\nkeywords: []\n+++\n", ``, []Warning{{3, "not valid TOML"}}},
		"TOML, twice":             {"+++\ntitle = 'T'\ntitle = 'U'\n+++\n", ``, []Warning{{3, "not valid TOML"}}},
		"TOML, too large":         {"+++\ntitle = '" + strings.Repeat("x", maxFrontMatter) + "'\n+++\n", ``, []Warning{{1, "larger than"}}},
		"JSON":                    {"{\"title\": 1.10, \"keywords\": [null, \"a\", true],\n\"summary\": \"s\", \"n\": {\"b\": 0.5, \"a\": [1e3]}}\n", `{"title":"1.10","keywords":[null,"a","true"],"summary":"s","n":{"b":0.5,"a":["1e3"]}}`, []Warning{{1, "item of keywords is empty"}}},
		"JSON, twice the same":    {"{\"title\": \"a\", \"keywords\": [\"k\"], \"summary\": \"s\",\n\"title\": \"b\"}\n", `{"title":"b","keywords":["k"],"summary":"s"}`, []Warning{{2, "title is there twice"}}},
		"JSON, bad":               {"{\n\"title\": \"a\",\n\"keywords\": [k]\n}\n", ``, []Warning{{3, "not valid JSON"}}},
		"JSON, deep":              {"{\"a\":\n" + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}\n", ``, []Warning{{2, "nested too deep"}}},
		"JSON with prose behind":  {"{\"title\": \"a\"} is JSON\n", ``, nil},
		"JSON, a comma too much":  {"{\n\"title\": \"a\",\n}\n", ``, []Warning{{3, "not valid JSON"}}},
		"JSON, larger than limit": {"{\"title\": \"" + strings.Repeat("x", maxFrontMatter) + "\"}\n", ``, []Warning{{1, "larger than"}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tt.text+"x", true)
			if string(d.Metadata) != tt.metadata || d.HasFrontmatter != (tt.metadata != "") {
				t.Errorf("metadata %s, want %s", d.Metadata, tt.metadata)
			}
			checkWarnings(t, d, tt.warnings...)
			if off := parse(t, tt.text, false); off.HasFrontmatter || off.Body != tt.text || len(off.Warnings) > 0 {
				t.Error("without fallback it has to be body")
			}
		})
	}
}

func TestFrontMatter_1_3_Sections(t *testing.T) {
	for name, tt := range map[string]struct {
		block    string
		want     []SectionName
		warnings []Warning
	}{
		"mapping":       {"sections:\n  超时: \"## 1. 超时\"\n  b: Plain\n  a: '### **Bold** `x` {#id}'\n", []SectionName{{"超时", "1. 超时", 2}, {"b", "Plain", 0}, {"a", "Bold x", 3}}, nil},
		"list":          {"sections: ['## A', B, {c: '# C'}]\n", []SectionName{{"A", "A", 2}, {"B", "B", 0}, {"c", "C", 1}}, nil},
		"no blank":      {"sections: {x: '##超时'}\n", []SectionName{{"x", "超时", 2}}, nil},
		"hash unquoted": {"sections:\n  a: ## A\n  b: B\n  c:\n", []SectionName{{"b", "B", 0}}, []Warning{{6, `needs quotes: "## …" (also line 8)`}}},
		"text":          {"sections: x\n", nil, []Warning{{5, "sections has to be"}}},
		"empty":         {"sections:\n", nil, nil},
		"twice":         {"sections: {a: X, a: Y}\n", []SectionName{{"a", "Y", 0}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, "---\ntitle: T\nkeywords: [a]\nsummary: s\n"+tt.block+"---\n", false)
			if !slices.Equal(d.SectionNames, tt.want) {
				t.Errorf("sections %+v, want %+v", d.SectionNames, tt.want)
			}
			checkWarnings(t, d, tt.warnings...)
		})
	}
}

func TestMetadata_1_3(t *testing.T) {
	d := parse(t, `---
title: 1.10
keywords: [1, true]
summary: s
1: one
true: two
N: three
~: four
? [a, b]
: five
draft: true
on: yes
weight: 10
big: 12345678901234567890
ratio: 0.5
version: 1.10
day: 2024-01-15
hex: 0x1F
nothing:
nested: {x: [1, {y: "<&>"}], x: again}
name: &n base
*n : alias
ref: *n
---
`, false)
	want := `{"title":"1.10","keywords":["1","true"],"summary":"s","1":"one","true":"two","N":"three","~":"four","[a, b]":"five",` +
		`"draft":true,"on":"yes","weight":10,"big":"12345678901234567890","ratio":0.5,"version":"1.10","day":"2024-01-15","hex":"0x1F",` +
		`"nothing":null,"nested":{"x":"again"},"name":"base","base":"alias","ref":"base"}`
	if string(d.Metadata) != want {
		t.Errorf("metadata\n%s, want\n%s", d.Metadata, want)
	}
	checkWarnings(t, d)
}

// bombs are small blocks that stand for a lot.
func bombs() map[string]string {
	bomb := "title: Bomb\nkeywords: [bomb]\nsummary: s\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	merges := "m0: &m0 {t: 1}\n"
	for i := 1; i < 30; i++ {
		merges += fmt.Sprintf("m%d: &m%d {<<: [%s], k%d: v}\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*m%d,", i-1), 9), ","), i)
	}
	return map[string]string{
		"nested aliases":  bomb,
		"bombs as values": bomb + "keywords: *y\ntitle: *y\ntags: *y\naliases: [*y]\nsections: *y\n",
		"merges":          merges + "<<: *m29\n",
		"a circle":        "title: &t [*t]\nkeywords: &k {a: *k}\n<<: *k\n? *k\n: x\n",
		"long alias":      "a: &a \"" + strings.Repeat("x", 100_000) + "\"\nb: [" + strings.Repeat("*a,", 40_000) + "]\nkeywords: [" + strings.Repeat("*a,", 10_000) + "]\n",
		"alias keys":      "a: &a \"" + strings.Repeat("x", 100_000) + "\"\nb: [" + strings.Repeat("{*a : 1},", 10_000) + "]\n",
		"complex keys":    "a: " + strings.Repeat("{? ", 9000) + strings.Repeat("}", 9000) + "\n",
		"deep":            "a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n",
		"too deep":        "a: " + strings.Repeat("[", 100_000) + "\n",
		"same key":        strings.Repeat("a: b\n", 50_000),
		"many keys":       func() (s string) { return strings.Join(numbered("k%d: b\n", 20_000), "") }(),
		"many bad items":  "title: t\nkeywords:\n" + strings.Repeat("  - [a]\n", 25_000) + "  - @x\n",
		"empty items":     "title: t\nkeywords:\n" + strings.Repeat("  - #x\n", 25_000) + "  - x\n",
		"open brackets":   "title: t\nkeywords:\n" + strings.Repeat("  - [a\n", 30_000),
		"colons":          strings.Repeat("a: b: c\n", 30_000),
		"quotes":          "title: " + strings.Repeat("'", 200_001) + "\n",
		"spaces":          "title:" + strings.Repeat(" ", 200_000) + ": x\n",
		"section names":   "sections:\n" + strings.Join(numbered("  k%d: b\n", 20_000), ""),
	}
}

func numbered(format string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return out
}

func TestFrontMatter_1_3_Bombs(t *testing.T) {
	for name, block := range bombs() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			d := parse(t, "---\n"+block+"---\n# H\n", true)
			if took := time.Since(start); took > time.Minute { // milliseconds, but for a machine at its limit
				t.Errorf("took %v", took)
			}
			if d.Metadata != nil && !json.Valid(d.Metadata) {
				t.Error("metadata is no JSON")
			}
			if most := 4*len(block) + 8*maxAliasBytes; len(d.Metadata) > most {
				t.Errorf("metadata of %d bytes from a block of %d", len(d.Metadata), len(block))
			}
			if len(d.Warnings) > maxWarnings+1 {
				t.Errorf("%d warnings", len(d.Warnings))
			}
			names := len(strings.Join(d.Keywords, "")) + len(strings.Join(d.Aliases, "")) + len(d.Title)
			if names > len(block) || len(d.SectionNames) > maxNames {
				t.Errorf("%d bytes of names, %d section names", names, len(d.SectionNames))
			}
		})
	}
	d := parse(t, "---\n"+bombs()["nested aliases"]+"---\nx\n", true)
	if d.Title != "Bomb" || !slices.Equal(d.Keywords, []string{"bomb"}) || !d.InL0 || len(d.Metadata) > 50_000 {
		t.Errorf("%q %q, %d bytes of metadata", d.Title, d.Keywords, len(d.Metadata))
	}
	checkWarnings(t, d, Warning{8, "kept as names"})
}
