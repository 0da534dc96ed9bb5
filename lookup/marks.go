package lookup

// Piece is a stretch of a text, and whether the query has it too.
type Piece struct {
	Text   string
	Marked bool
}

// Marks cuts a text into what the query's words hit and what lies between, for showing why a passage was found. Case, width
// and script of Chinese do not count, as in snippets; a Latin word is marked where it begins a word of the text.
func Marks(text, query string) []Piece {
	r := []rune(text)
	folded := foldedRunes(r)
	hit := make([]bool, len(r))
	for _, t := range queryTerms(query) {
		for i := indexRunes(folded, t, 0); i >= 0; i = indexRunes(folded, t, i+1) {
			if i > 0 && wordRune(t[0]) && wordRune(r[i-1]) {
				continue
			}
			for j := range t {
				hit[i+j] = true
			}
		}
	}
	var out []Piece
	for from := 0; from < len(r); {
		to := from + 1
		for to < len(r) && hit[to] == hit[from] {
			to++
		}
		out = append(out, Piece{string(r[from:to]), hit[from]})
		from = to
	}
	return out
}
