package document

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"knowledged/hanzi"
)

// Fold is the form in which names and queries are compared (SPEC 2.2): NFKC, which also makes full width half width, case
// folded, traditional Chinese characters made simplified, typographic hyphens and apostrophes made those of a keyboard,
// what no reader sees dropped, and blanks at the edges and where only typography wants them; runs of others made one.
func Fold(s string) string {
	if s, ok := foldASCII(s); ok {
		return s
	}
	s = strings.Map(foldRune, norm.NFKC.String(s))
	if strings.Contains(s, "ß") {
		s = strings.ReplaceAll(s, "ß", "ss")
	}
	s = norm.NFKC.String(s) // folding may leave marks out of order
	return joinWords(strings.Fields(trimInvisible(s)))
}

// foldRune goes by way of upper case, so that both small sigmas are one. (x/text's Fold swaps the cases of Cherokee.)
func foldRune(r rune) rune {
	if Invisible(r) {
		return -1
	}
	return hanzi.Simplify(unicode.ToLower(unicode.ToUpper(PlainForm(r))))
}

func joinWords(words []string) string {
	var b strings.Builder
	last := rune(0)
	for _, w := range words {
		if first, _ := utf8.DecodeRuneInString(w); last != 0 && !Glued(last, first) {
			b.WriteByte(' ')
		}
		b.WriteString(w)
		last, _ = utf8.DecodeLastRuneInString(w)
	}
	return b.String()
}

// Invisible names the characters that no reader sees and no author means: zero-width blanks, soft hyphens, marks of
// direction, variation selectors. Joiners are left out: inside Persian, Indic and emoji text they carry meaning.
func Invisible(r rune) bool {
	switch {
	case r == 0xad, r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2064,
		r >= 0x2066 && r <= 0x2069, r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff:
		return true
	}
	return false
}

// PlainForm maps the typographic hyphens and apostrophes, which word processors put in, to those on the keyboard.
func PlainForm(r rune) rune {
	switch r {
	case 0x2010, 0x2011, 0x2012, 0x2013, 0x2212:
		return '-'
	case 0x2018, 0x2019, 0x02bc:
		return '\''
	}
	return r
}

// Glued says whether a blank between the two characters is no word's end: between Chinese or Japanese and Latin letters or
// digits some authors write one and others don't (MySQL 主从, MySQL主从).
func Glued(before, after rune) bool {
	return ideographic(before) && alphanumeric(after) || alphanumeric(before) && ideographic(after)
}

func ideographic(r rune) bool {
	return r >= 0x3040 && r <= 0x30ff || r >= 0x3400 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0x20000 && r <= 0x3ffff
}

func alphanumeric(r rune) bool {
	return r < 0x3000 && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

// foldASCII takes the common case without allocating; ok is false where s needs the full treatment.
func foldASCII(s string) (folded string, ok bool) {
	plain := true
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x80 || c < ' ':
			return "", false
		case c >= 'A' && c <= 'Z':
			plain = false
		case c == ' ' && (i == 0 || i+1 == len(s) || s[i+1] == ' '):
			return "", false
		}
	}
	if plain {
		return s, true
	}
	return strings.ToLower(s), true
}

// trimInvisible drops blanks and zero-width characters from both ends.
func trimInvisible(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || zeroWidth(r) })
}

// zeroWidth adds those that mean something between others alone: joiners, and the Mongolian vowel separator.
func zeroWidth(r rune) bool { return Invisible(r) || r == 0x200c || r == 0x200d || r == 0x180e }

// FoldName is the form in which names are compared with each other: marks around the whole of one are no part of it.
func FoldName(name string) string { return Fold(Unframed(name)) }

// frames are the marks that authors put around a whole name: 《手册》, “雪崩”, "quoted".
const frames = "“”‘’「」『』《》〈〉【】〔〕\"\"''"

// Unframed is a name without the quotes or brackets of a book's title around it and without a question or exclamation mark
// behind it: no question repeats them.
func Unframed(name string) string {
	inner := trimInvisible(name)
	for {
		first, n := utf8.DecodeRuneInString(inner)
		last, m := utf8.DecodeLastRuneInString(inner)
		at := strings.IndexRune(frames, first)
		switch {
		case at >= 0 && strings.HasPrefix(frames[at+n:], string(last)) && len(inner) > n+m && !strings.ContainsRune(inner[n:len(inner)-m], first):
			inner = inner[n : len(inner)-m]
		case strings.ContainsRune("？！。：?!", last) && len(inner) > m+1:
			inner = inner[:len(inner)-m]
		default:
			if strings.IndexFunc(inner, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) < 0 {
				return name // "!!", 「」: the marks are the name
			}
			return inner
		}
	}
}
