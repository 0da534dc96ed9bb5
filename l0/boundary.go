package l0

import "unicode"

// oneWord lists names written in camel case that are one word: "JavaScript" does not mention Java.
var oneWord = map[string]bool{
	"coffeescript": true, "github": true, "gitlab": true, "ios": true, "ipad": true, "iphone": true, "javafx": true,
	"javascript": true, "latex": true, "linkedin": true, "macos": true, "typescript": true, "wordpress": true, "youtube": true,
}

// findParts marks where identifier parts begin inside words.
func (t *text) findParts() {
	n := len(t.runes)
	if cap(t.part) < n {
		t.part = make([]bool, n, 2*n)
	}
	t.part = t.part[:n]
	clear(t.part)
	for start := 0; start < n; {
		if !t.class[start].inWord() {
			start++
			continue
		}
		end, mixed := start+1, false // mixed: anything but lower-case letters, so there may be parts
		for end < n && t.class[end].inWord() {
			mixed = mixed || t.class[end] != letter || t.cased[end] != t.runes[end]
			end++
		}
		if mixed && !oneWord[t.sub(start, end)] {
			t.wordParts(start, end)
		}
		start = end
	}
}

// wordParts marks the parts of the word [start, end). Digits that end a word are a part (python|3, E|11000), those inside
// it are not (log4j, i18n).
func (t *text) wordParts(start, end int) {
	trailing := end // first of the digits that end the word
	for trailing > start && t.class[trailing-1] == digit {
		trailing--
	}
	for i := start + 1; i < end; i++ {
		a, b := t.class[i-1], t.class[i]
		upper := unicode.IsUpper(t.cased[i])
		lowerNext := i+1 < end && unicode.IsLower(t.cased[i+1])
		switch {
		case b == digit:
			t.part[i] = i == trailing
		case a == digit && b == letter:
			t.part[i] = upper && lowerNext // oauth2|Client
		case a == letter && b == letter && upper:
			plural := i+2 == end && t.runes[i+1] == 's' // API|s, not AP|Is
			t.part[i] = unicode.IsLower(t.cased[i-1]) || lowerNext && !plural
		case a == letter && b == letter && i+1 == end && t.runes[i] == 's':
			t.part[i] = i-start >= 2 && unicode.IsUpper(t.cased[i-1]) && unicode.IsUpper(t.cased[i-2])
		}
	}
}

// opens says whether a name may begin at rune i. Numbers go on across dots: 1.1 is not in 2.1.1.
func (t *text) opens(i int) bool {
	if i == 0 {
		return true
	}
	before := t.class[i-1]
	switch t.class[i] {
	case ideo:
		return true
	case letter:
		return !before.inWord() || t.part[i]
	case digit:
		if before.inWord() {
			return t.part[i]
		}
		return t.runes[i-1] != '.' || i < 2 || t.class[i-2] != digit
	case punct:
		return !before.inWord() || t.runes[i] == '_'
	}
	return false
}

// closes says whether a name may end before rune i.
func (t *text) closes(i int) bool {
	if i == len(t.runes) {
		return true
	}
	after := t.class[i]
	switch t.class[i-1] {
	case ideo:
		return true
	case letter:
		return !after.inWord() || t.part[i]
	case digit:
		if after.inWord() {
			return t.part[i]
		}
		return t.runes[i] != '.' || i+1 == len(t.runes) || t.class[i+1] != digit
	case sign:
		return after != letter && after != sign
	case punct:
		return !after.inWord() || t.runes[i-1] == '_'
	}
	return false
}

// holds says whether the runes [start, end) of t, which spell a name, are that name there and not a piece of another word.
func (t *text) holds(start, end int) bool {
	if end == start+1 && t.class[start].inWord() {
		return t.wholeWord(start)
	}
	if t.isPunct(start, end) { // "/" is a name only where it stands alone
		return (start == 0 || t.class[start-1] == blank) && (end == len(t.runes) || t.class[end] == blank)
	}
	return t.opens(start) && t.closes(end)
}

// isPunct says whether there is nothing to read in [start, end): such a name needs blanks on both sides.
func (t *text) isPunct(start, end int) bool {
	for i := start; i < end; i++ {
		if t.class[i] != punct && t.class[i] != blank && t.class[i] != sign {
			return false
		}
	}
	return true
}

// wholeWord says whether the single character at i is a word by itself. Han beside it is a word boundary ("C语言");
// punctuation is one unless it joins it to more ("x-axis", "e.g.", "don't", "C:x").
func (t *text) wholeWord(i int) bool {
	return t.separated(i-1, i-2) && t.separated(i+1, i+2)
}

func (t *text) separated(next, beyond int) bool {
	if next < 0 || next >= len(t.runes) {
		return true
	}
	switch t.class[next] {
	case blank, ideo:
		return true
	case punct:
		if inside := beyond >= 0 && beyond < len(t.runes); inside && t.runes[next] == ':' && (t.runes[beyond] == '\\' || t.runes[beyond] == '/') {
			return false // a drive: C:\x, C:/x
		}
		return separates(t.runes[next]) || beyond < 0 || beyond >= len(t.runes) || !t.class[beyond].inWord()
	}
	return false
}

func separates(r rune) bool {
	switch r {
	case ',', ';', '!', '?', '(', ')', '[', ']', '{', '}', '<', '>', '"', '/', '|':
		return true
	}
	return r >= 0x3000 // 、。「」
}
