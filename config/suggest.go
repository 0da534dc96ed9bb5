package config

import (
	"slices"
	"strings"
)

// suggest names the known setting or section nearest to an unknown one, and notes that it was probably meant.
func (l *loader) suggest(path string) string {
	near := l.near(path)
	if near != "" {
		l.lost(near, l.meant)
	}
	return hint(near)
}

// near finds it by its whole path, or by its last part where the author put it into the wrong section.
func (l *loader) near(path string) string {
	var known, parts []string
	for _, s := range l.settings {
		for i, c := range s.path + "." {
			if p := s.path[:i]; c == '.' && !slices.Contains(known, p) {
				known = append(known, p)
			}
		}
	}
	section := path[:strings.LastIndexByte(path, '.')+1]
	for _, p := range known {
		if strings.HasPrefix(p, section) && !strings.Contains(p[len(section):], ".") {
			parts = append(parts, p[len(section):])
		}
	}
	if near := nearest(lastPart(path), parts); near != "" {
		return section + near
	}
	for _, p := range known {
		if bare(lastPart(p)) == bare(lastPart(path)) {
			return p
		}
	}
	return nearest(path, known)
}

func hint(near string) string {
	if near == "" {
		return ""
	}
	return "; did you mean " + near + "?"
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// bare takes topK, top-k and TOP_K for the same.
func bare(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// nearest returns the candidate with the fewest edits, or "" if none is near enough to have been meant.
func nearest(name string, candidates []string) string {
	name = bare(name)
	best, least := "", max(1, len(name)/3)+1
	slices.Sort(candidates) // of equals the first, whatever order they came in
	for _, c := range candidates {
		if d := edits(name, bare(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// edits is the Levenshtein distance in bytes: names of settings are ASCII.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
