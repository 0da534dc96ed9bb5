package chunker

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"knowledged/document"
)

// maxPrefix bounds, in bytes, the quote marks that are repeated where a quote is cut.
const maxPrefix = 16

// addProse adds a paragraph in pieces of about the target, cut at ends of sentences.
func (p *packer) addProse(kind document.BlockKind, text string, runes int) {
	prefix := quotePrefix(text)
	room := p.opt.Target - len(prefix)
	gap := ""
	for continued := false; ; continued = true {
		marks := ""
		if continued && !strings.HasPrefix(text, strings.TrimSpace(prefix)) {
			marks = prefix
		}
		if runes <= p.opt.soft()-len(marks) {
			if text != "" {
				p.push(kind, marks+text, gap)
			}
			return
		}
		limit := room
		if runes < 2*room {
			limit = min(runes/2+runes/8, room) // two halves rather than a short rest
		}
		cut := breakAt(text, limit)
		first, rest := strings.TrimRight(text[:cut], " \t\n"), strings.TrimLeft(text[cut:], " \t\n")
		if first != "" {
			p.push(kind, marks+first, gap)
		}
		gap = blanksBetween(text[len(first) : len(text)-len(rest)])
		runes -= utf8.RuneCountInString(text[:len(text)-len(rest)])
		text = rest
	}
}

// blanksBetween is what joins two pieces of a paragraph again.
func blanksBetween(cut string) string {
	switch {
	case strings.Contains(cut, "\n"):
		return "\n"
	case cut != "":
		return " "
	}
	return ""
}

// quotePrefix is the run of quote marks that a text begins with.
func quotePrefix(text string) string {
	prefix := text[:len(text)-len(strings.TrimLeft(text, "> "))]
	if !strings.Contains(prefix, ">") || len(prefix) > maxPrefix {
		return ""
	}
	return prefix
}

// breakAt is the best place, in bytes, to cut a text before its limit-th character: after a sentence, else a clause or a
// line, else a word, in its second half; else within a word, but not within a character that is written with several.
func breakAt(text string, limit int) int {
	var best [4]int // the last place of each quality; 0 is none
	n := 0
	safe, prev, good := 0, rune(0), 0
	for i, r := range text {
		if !strings.ContainsRune(closing, prev) { // a sentence ends behind its closing quote
			good = quality(prev, r)
		}
		if n > 0 && !extends(prev, r) {
			safe = i
			if n > limit/2 {
				best[good] = i
			}
		}
		if n == limit {
			break
		}
		prev = r
		n++
	}
	if n < limit {
		return len(text)
	}
	for _, place := range []int{best[3], best[2], best[1], safe} {
		if place > 0 {
			return place
		}
	}
	// One character of more code points than the limit, such as a letter with a thousand accents.
	n = 0
	for i := range text {
		if n == limit {
			return i
		}
		n++
	}
	return len(text)
}

// quality says how good a place between two characters is for a cut: 3 after a sentence, 0 within a word.
func quality(before, after rune) int {
	switch {
	case strings.ContainsRune("。！？!?；;…", before):
		return 3
	case before == '.' && unicode.IsSpace(after):
		return 3
	case strings.ContainsRune("，、：", before), strings.ContainsRune(",:", before) && unicode.IsSpace(after), before == '\n':
		return 2
	case unicode.IsSpace(before), before == ',' && !unicode.IsDigit(after):
		return 1
	}
	return 0
}

// closing are the marks that stay with the sentence they close.
const closing = "”’」』）)"

// extends reports whether r belongs to the same visible character as prev: accents, joined emoji, skin tones; or is
// a mark that no line begins with.
func extends(prev, r rune) bool {
	const joiner = '\u200d'
	return unicode.IsMark(r) || r == joiner || prev == joiner || r >= 0x1f3fb && r <= 0x1f3ff ||
		strings.ContainsRune(closing+"。！？!?，、；", r)
}
