package document

import (
	"slices"
	"strings"
	"unicode"
)

// SectionTitles lists what can be asked for (availableSections of SPEC 2.7): the names of front matter's `sections` whose heading
// is there, then the headings of level 2 and deeper in order, each once. It is never nil.
func (d *Document) SectionTitles() []string {
	titles := []string{}
	seen := map[string]bool{}
	add := func(title string) {
		if key := Fold(title); key != "" && !seen[key] {
			seen[key] = true
			titles = append(titles, title)
		}
	}
	for _, n := range d.SectionNames {
		if _, ok := d.heading(Fold(n.Heading), n.Level); ok {
			add(n.Name)
		}
	}
	for _, s := range d.Sections {
		if s.Level > 1 {
			add(s.Title)
		}
	}
	return titles
}

// FindSection finds the section that title asks for: by a name of `sections`, then by heading, then by a part that only one of
// them holds; blind to case and width. name is the title that matched, as the author wrote it.
func (d *Document) FindSection(title string) (name string, s Section, ok bool) {
	level, title := splitHeading(title)
	want := Fold(title)
	if want == "" {
		return "", Section{}, false
	}
	for _, n := range d.SectionNames {
		if Fold(n.Name) == want {
			if s, ok := d.heading(Fold(n.Heading), n.Level); ok {
				return n.Name, s, true
			}
		}
	}
	if s, ok := d.heading(want, level); ok {
		return s.Title, s, true
	}
	if s, ok := d.headingAlike(title, level); ok {
		return s.Title, s, true
	}
	return d.uniquePart(want)
}

// headingAlike finds a heading that people ask for in another spelling of theirs: with its markup, as the anchor of a link
// (quick-start), with the quotes of a keyboard, or as a breadcrumb, whose last step is the heading.
func (d *Document) headingAlike(title string, level int) (best Section, ok bool) {
	plain := lettersOf(PlainHeading(title))
	crumb := lettersOf(strings.ReplaceAll(title, breadcrumbSeparator, " "))
	var open []Section
	for _, s := range d.Sections {
		for len(open) > 0 && open[len(open)-1].Level >= s.Level {
			open = open[:len(open)-1]
		}
		open = append(open, s)
		same := plain != "" && lettersOf(s.Title) == plain
		if !same && strings.Contains(title, breadcrumbSeparator) {
			same = d.endsTrail(open, crumb)
		}
		if same && (!ok || s.Level == level && best.Level != level) {
			best, ok = s, true
		}
	}
	return best, ok
}

// breadcrumbSeparator is what joins the steps of a breadcrumb (SPEC 3.2).
const breadcrumbSeparator = " > "

// endsTrail says whether crumb, as lettersOf has it, is how the breadcrumb of the last of the sections ends.
func (d *Document) endsTrail(open []Section, crumb string) bool {
	trail := ""
	for _, s := range slices.Backward(open) {
		if trail = lettersOf(s.Title) + trail; trail == crumb {
			return true
		}
	}
	return lettersOf(d.Title)+trail == crumb
}

// lettersOf is what is left of a folded text without punctuation, blanks and symbols, save those of C++ and C#.
func lettersOf(s string) string {
	var b strings.Builder
	sign := false // a + or # belongs to the letter before it
	for _, r := range Fold(s) {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			sign = true
		case r != '+' && r != '#' || !sign:
			sign = false
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// heading finds a heading by its folded text; one of the wanted level goes before one of another, deeper ones before an H1.
func (d *Document) heading(want string, level int) (best Section, ok bool) {
	for _, s := range d.Sections {
		if Fold(s.Title) != want {
			continue
		}
		if s.Level == level {
			return s, true
		}
		if !ok || best.Level == 1 && s.Level > 1 {
			best, ok = s, true
		}
	}
	return best, ok
}

// uniquePart finds the one section whose name or heading holds want. A name and its own heading count as one.
func (d *Document) uniquePart(want string) (name string, found Section, ok bool) {
	take := func(title string, s Section) (several bool) {
		if ok && found.Start != s.Start {
			return true
		}
		if !ok {
			name, found, ok = title, s, true
		}
		return false
	}
	for _, n := range d.SectionNames {
		if strings.Contains(Fold(n.Name), want) {
			if s, there := d.heading(Fold(n.Heading), n.Level); there && take(n.Name, s) {
				return "", Section{}, false
			}
		}
	}
	for _, s := range d.Sections {
		if s.Level > 1 && strings.Contains(Fold(s.Title), want) && take(s.Title, s) {
			return "", Section{}, false
		}
	}
	return name, found, ok
}

// NearestTitles lists at most n section titles, those that share most with title first; for the hint of SPEC 2.7.
func (d *Document) NearestTitles(title string, n int) []string {
	_, title = splitHeading(title)
	want := shingles(Fold(title))
	titles := d.SectionTitles()
	likeness := make(map[string]float64, len(titles))
	for _, t := range titles {
		likeness[t] = overlap(want, shingles(Fold(t)))
	}
	slices.SortStableFunc(titles, func(a, b string) int {
		switch {
		case likeness[a] > likeness[b]:
			return -1
		case likeness[a] < likeness[b]:
			return 1
		}
		return 0
	})
	return titles[:min(max(n, 0), len(titles))]
}

// shingles counts the characters and the pairs of characters of s: pairs carry the order, single ones help short Chinese titles.
func shingles(s string) map[string]int {
	counts := map[string]int{}
	runes := []rune(s)
	for i, r := range runes {
		if r == ' ' {
			continue
		}
		counts[string(r)]++
		if i+1 < len(runes) {
			counts[string(runes[i:i+2])]++
		}
	}
	return counts
}

// overlap is Dice's coefficient of two multisets, 0 to 1.
func overlap(a, b map[string]int) float64 {
	shared, all := 0, 0
	for k, n := range a {
		shared += min(n, b[k])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(all)
}

// splitHeading parts the leading #s of a heading as an author writes it ("## 1. Timeouts") from its text.
func splitHeading(s string) (level int, text string) {
	s = trimInvisible(s)
	text = strings.TrimLeft(s, "#")
	level = len(s) - len(text)
	if level == 0 || level > 6 || level == 1 && !strings.HasPrefix(text, " ") {
		return 0, s // "#tag"; but "##超时" can only be a heading whose blank was forgotten
	}
	return level, strings.TrimSpace(text)
}
