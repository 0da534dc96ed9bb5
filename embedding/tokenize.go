package embedding

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// scratch is the memory one tokenizer run needs; it is reused.
type scratch struct {
	raw, low []rune
	norm     []byte
	best     []float32 // best log-probability of a split of norm[:i]
	piece    []int32   // last piece of that split, -1 if its last character is unknown
	from     []int32   // where that piece starts
	ids      []int32
	vector   []float32
}

// wordStart stands before every run of letters and digits, as in SentencePiece.
const wordStart = "▁"

// camelMin is the length in characters from which a run is split at its capitals.
const camelMin = 11

// normalize writes Norm(text) of the model card to s.norm: full-width to ASCII, lower case, no white space, wordStart before
// every run of letters and digits and before the parts of long camelCase ones.
func (s *scratch) normalize(text string) {
	s.raw, s.low, s.norm = s.raw[:0], s.low[:0], s.norm[:0]
	for _, c := range text {
		switch {
		case c >= 0xFF01 && c <= 0xFF5E:
			c -= 0xFEE0
		case c == 0x3000 || c == 0xA0:
			c = ' '
		}
		s.raw = append(s.raw, c)
		s.low = append(s.low, unicode.ToLower(c))
	}
	for i := 0; i < len(s.low); {
		c := s.low[i]
		switch {
		case c < 32 || unicode.IsSpace(c):
			i++
		case !inWord(c):
			s.norm = utf8.AppendRune(s.norm, c)
			i++
		default:
			end := i + 1
			for end < len(s.low) && inWord(s.low[end]) {
				end++
			}
			s.word(i, end)
			i = end
		}
	}
}

func (s *scratch) word(start, end int) {
	s.norm = append(s.norm, wordStart...)
	camel := end-start >= camelMin
	for k := start; k < end; k++ {
		if camel && k > start && isUpper(s.raw[k]) && (!isUpper(s.raw[k-1]) || k+1 < end && isLower(s.raw[k+1])) {
			s.norm = append(s.norm, wordStart...)
		}
		s.norm = utf8.AppendRune(s.norm, s.low[k])
	}
}

func isUpper(c rune) bool { return c >= 'A' && c <= 'Z' }
func isLower(c rune) bool { return c >= 'a' && c <= 'z' }

func inWord(c rune) bool {
	if c < 128 {
		return isLower(c) || c >= '0' && c <= '9'
	}
	return c >= 0xC0 && c < 0x2E80 && unicode.IsLetter(c)
}

// unknownLogProb is what a character costs that no piece of one character stands for. Such characters have no vector.
const unknownLogProb = -35

// tokenize splits text into the likeliest sequence of pieces (Viterbi) and gives their ids in order. The result is s's.
func (m *model) tokenize(text string, s *scratch) []int32 {
	s.normalize(text)
	b, n := s.norm, len(s.norm)
	if cap(s.best) <= n {
		s.best, s.piece, s.from = make([]float32, n+n/4+1), make([]int32, n+n/4+1), make([]int32, n+n/4+1)
	}
	best, piece, from := s.best[:n+1], s.piece[:n+1], s.from[:n+1]
	const unreached = float32(-1e30)
	for i := range best {
		best[i] = unreached
	}
	best[0] = 0
	for i := 0; i < n; {
		next := i + runeLen(b[i])
		single := false // a piece of one character matched
		h := hashStart
		for j := i; j < n; {
			h = hashByte(h, b[j])
			if j++; j < n && !utf8.RuneStart(b[j]) {
				continue
			}
			e := m.find(h, b[i:j])
			if e.length == 0 {
				break // no piece starts like this
			}
			if e.piece < 0 {
				continue
			}
			if v := best[i] + m.logProb[e.piece]; v > best[j] {
				best[j], piece[j], from[j] = v, e.piece, int32(i)
			}
			single = single || j == next
		}
		if !single {
			if v := best[i] + unknownLogProb; v > best[next] {
				best[next], piece[next], from[next] = v, -1, int32(i)
			}
		}
		i = next
	}
	s.ids = s.ids[:0]
	for i := n; i > 0; i = int(from[i]) {
		if piece[i] >= 0 {
			s.ids = append(s.ids, piece[i])
		}
	}
	slices.Reverse(s.ids)
	return s.ids
}

// runeLen is the length of the character that starts with c; norm is valid UTF-8.
func runeLen(c byte) int {
	switch {
	case c >= 0xF0:
		return 4
	case c >= 0xE0:
		return 3
	case c >= 0xC0:
		return 2
	}
	return 1
}

// encode writes the normalised sum of text's pieces to out, of length dims; it reports whether a piece was known.
func (m *model) encode(text string, s *scratch, out []float32) bool {
	clear(out)
	for _, id := range m.tokenize(text, s) {
		scale := m.scale[id]
		row := m.row(id)[:len(out)]
		for d, v := range row {
			out[d] += scale * float32(int8(v))
		}
	}
	return Normalize(out)
}
