package l0

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"knowledged/document"
	"knowledged/hanzi"
)

// class says how a character behaves at the edges of a match.
type class uint8

const (
	blank  class = iota
	punct        // all that separates: punctuation, symbols, control characters
	letter       // of scripts that put blanks between words
	digit
	sign // a + or # that belongs to the word before it: C++, C#
	ideo // of scripts without word blanks (Han, kana, Thai), Korean with its glued particles, emoji: a word may start anywhere
)

func (c class) inWord() bool { return c == letter || c == digit || c == sign }

// text is a string in the form in which names and queries are compared (SPEC 2.2), with what the matching rules must
// know of each rune. All slices but off have one entry a rune. A text may be reused: set overwrites it.
type text struct {
	str   string  // NFKC, lower case, simplified characters, blanks single and outer ones gone
	off   []int32 // byte offset in str of rune i; off[len(runes)] == len(str)
	runes []rune
	class []class
	part  []bool // an identifier part begins here, inside a word: getUser|Name, python|3

	cased []rune // runes before folding; shows camelCase, and traditional characters
	bytes []byte
}

func newText(s string) *text {
	t := new(text)
	t.set(s)
	return t
}

func (t *text) len() int { return len(t.runes) }

// sub returns the text between two runes without copying.
func (t *text) sub(start, end int) string { return t.str[t.off[start]:t.off[end]] }

func (t *text) set(s string) {
	t.off, t.runes, t.cased, t.bytes = t.off[:0], t.runes[:0], t.cased[:0], t.bytes[:0]
	if !isASCII(s) && !norm.NFKC.IsNormalString(s) {
		s = norm.NFKC.String(s)
	}
	gap := false // a blank is due before the next rune
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if r <= ' ' || r == 0x7f {
				gap = true
				continue
			}
		case document.Invisible(r):
			continue
		case unicode.IsSpace(r) || unicode.IsControl(r):
			gap = true
			continue
		default:
			r = document.PlainForm(r)
		}
		if n := len(t.runes); gap && n > 0 && !document.Glued(t.runes[n-1], r) {
			t.push(' ', ' ')
		}
		gap = false
		t.fold(r)
	}
	for len(t.cased) > 0 && isJoiner(t.cased[len(t.cased)-1]) {
		t.cased = t.cased[:len(t.cased)-1]
		t.runes = t.runes[:len(t.runes)-1]
		t.bytes = t.bytes[:t.off[len(t.off)-1]]
		t.off = t.off[:len(t.off)-1]
	}
	t.off = append(t.off, int32(len(t.bytes)))
	t.str = string(t.bytes)
	t.classify()
	t.findParts()
}

func (t *text) push(folded, cased rune) {
	t.off = append(t.off, int32(len(t.bytes)))
	t.bytes = utf8.AppendRune(t.bytes, folded)
	t.runes = append(t.runes, folded)
	t.cased = append(t.cased, cased)
}

// firstHan is where Han characters begin.
const firstHan = 0x3400

// fold appends r in lower case and simplified, and where Unicode's full case folding says more than that, what it says.
func (t *text) fold(r rune) {
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			t.push(r+'a'-'A', r)
			return
		}
		t.push(r, r)
	case isJoiner(r) && len(t.runes) == 0: // the outer ones don't count
	case r == 'ß' || r == 'ẞ':
		t.push('s', r)
		t.push('s', r)
	case r == 'ς':
		t.push('σ', r)
	case r >= firstHan:
		t.push(hanzi.Simplify(unicode.ToLower(r)), r)
	default:
		t.push(unicode.ToLower(r), r)
	}
}

func (t *text) classify() {
	t.class = t.class[:0]
	for i, r := range t.runes {
		c := classOf(r)
		switch {
		case c == punct && (r == '+' || r == '#') && t.signBelongs(i):
			c = sign
		case c == punct && unicode.Is(unicode.M, r) && i > 0:
			c = t.class[i-1] // a mark goes with the character it modifies
			if c == blank {
				c = punct
			}
		}
		t.class = append(t.class, c)
	}
}

// signBelongs decides whether the + or # at i is part of the word before it. "C++", "C#" and "A+" are words of their own;
// in "jwt+redis", "Redis+缓存" and "PR#42" the sign only joins two.
func (t *text) signBelongs(i int) bool {
	if i == 0 {
		return false
	}
	prev := t.class[i-1]
	if prev == sign {
		return true
	}
	if prev != letter {
		return false
	}
	if i+1 == len(t.runes) || t.runes[i+1] == '+' || t.runes[i+1] == '#' {
		return true
	}
	next := classOf(t.runes[i+1])
	oneLetter := i == 1 || t.class[i-2] != letter
	if next == letter {
		return false
	}
	return oneLetter || next == blank || next == punct
}

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		return asciiClass[r]
	case r >= 0x4e00 && r <= 0x9fff:
		return ideo
	case isIdeo(r):
		return ideo
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	case r >= 0x2190 && unicode.Is(unicode.So, r): // emoji and pictograms
		return ideo
	}
	return punct
}

var asciiClass = func() (table [utf8.RuneSelf]class) {
	for r := range table {
		switch {
		case r == ' ':
			table[r] = blank
		case r >= '0' && r <= '9':
			table[r] = digit
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			table[r] = letter
		default:
			table[r] = punct
		}
	}
	return table
}()

func isIdeo(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff, // Thai, Lao
		r >= 0x1000 && r <= 0x109f, // Myanmar
		r >= 0x1100 && r <= 0x11ff, // Hangul jamo
		r >= 0x1780 && r <= 0x17ff, // Khmer
		r >= 0x3005 && r <= 0x3007, // 々〆〇
		r >= 0x3021 && r <= 0x3029,
		r >= 0x3040 && r <= 0x30ff && r != 0x30a0 && r != 0x30fb, // kana without the middle dot
		r >= 0x3100 && r <= 0x31ff && r != 0x3130,
		r >= 0x3400 && r <= 0x4dbf,
		r >= 0xac00 && r <= 0xd7ff, // Hangul
		r >= 0xf900 && r <= 0xfaff,
		r >= 0x20000 && r <= 0x3ffff:
		return true
	}
	return false
}

func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
