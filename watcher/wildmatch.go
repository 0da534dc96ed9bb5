package watcher

import "strings"

// verdict is the outcome of a match. The two aborts tell the callers above, which try one star after another, that
// shorter texts cannot match either; without them hostile patterns take exponential time.
type verdict int

const (
	noMatch verdict = iota
	match
	abortAll        // the text ran out
	abortToStarStar // only a ** further up could still help
)

// wildmatch is git's matcher of the same name, byte by byte: with slashes set, `*`, `?` and sets stop at a slash and `**`
// between slashes spans folders. path.Match and the libraries at hand differ from git in `[!a]`, `[[:digit:]]`, `a**b`
// and in backtracking over `**/`, hence this one.
func wildmatch(pattern, text string, slashes bool) verdict {
	p, t := 0, 0
	for ; p < len(pattern); p, t = p+1, t+1 {
		c := pattern[p]
		if t == len(text) && c != '*' {
			return abortAll
		}
		switch c {
		case '\\':
			if p++; p == len(pattern) || pattern[p] != text[t] {
				return noMatch
			}
		case '?':
			if slashes && text[t] == '/' {
				return noMatch
			}
		case '*':
			rest, span, found := star(pattern, p, text[t:], slashes)
			if found {
				return match
			}
			after := pattern[rest:]
			switch {
			case after == "" && (span || !strings.Contains(text[t:], "/")):
				return match
			case after == "":
				return abortToStarStar
			case !span && after[0] == '/': // one star and a slash: the rest of this name
				slash := strings.IndexByte(text[t:], '/')
				if slash < 0 {
					return abortAll
				}
				p, t = rest, t+slash // the loop steps over the slash in both
				continue
			}
			return wildTail(after, text[t:], span, slashes)
		case '[':
			end, in, ok := inSet(pattern, p+1, text[t])
			if !ok {
				return abortAll
			}
			if !in || slashes && text[t] == '/' {
				return noMatch
			}
			p = end
		default:
			if c != text[t] {
				return noMatch
			}
		}
	}
	if t < len(text) {
		return noMatch
	}
	return match
}

// star reads the stars at pattern[p]: where the rest begins and whether they span slashes. found means that `**/`, taken
// for nothing, already matches the whole text.
func star(pattern string, p int, text string, slashes bool) (rest int, span, found bool) {
	rest = p + 1
	for rest < len(pattern) && pattern[rest] == '*' {
		rest++
	}
	if !slashes {
		return rest, true, false
	}
	after := pattern[rest:]
	if rest-p == 1 || p > 0 && pattern[p-1] != '/' || after != "" && after[0] != '/' && !strings.HasPrefix(after, `\/`) {
		return rest, false, false
	}
	return rest, true, after != "" && after[0] == '/' && wildmatch(after[1:], text, slashes) == match
}

// wildTail tries the pattern behind a star at each place of text that the star can reach.
func wildTail(after, text string, span, slashes bool) verdict {
	for t := 0; t < len(text); t++ {
		if !strings.ContainsRune(`*?[\`, rune(after[0])) {
			for t < len(text) && text[t] != after[0] && (span || text[t] != '/') {
				t++
			}
			if t == len(text) || text[t] != after[0] {
				if span {
					return abortAll
				}
				return abortToStarStar
			}
		}
		switch v := wildmatch(after, text[t:], slashes); {
		case v != noMatch && (!span || v != abortToStarStar):
			return v
		case v == noMatch && !span && text[t] == '/':
			return abortToStarStar
		}
	}
	return abortAll
}

// inSet reads the set whose first byte after `[` is pattern[p] and tells where its `]` is and whether c is in it. ok is
// false for a set without end or with an unknown class, which matches nothing in git.
func inSet(pattern string, p int, c byte) (end int, in, ok bool) {
	at := func(i int) byte { // 0 past the end, as in C
		if i < len(pattern) {
			return pattern[i]
		}
		return 0
	}
	negated := at(p) == '!' || at(p) == '^'
	if negated {
		p++
	}
	var prev byte // left end of a range; 0 after a range or a class
	for first := true; first || at(p) != ']'; first, p = false, p+1 {
		switch ch := at(p); {
		case ch == 0:
			return 0, false, false
		case ch == '\\':
			if p++; at(p) == 0 {
				return 0, false, false
			}
			in = in || c == at(p)
			prev = at(p)
		case ch == '-' && prev != 0 && at(p+1) != 0 && at(p+1) != ']':
			if p++; at(p) == '\\' {
				if p++; at(p) == 0 {
					return 0, false, false
				}
			}
			in = in || prev <= c && c <= at(p)
			prev = 0
		case ch == '[' && at(p+1) == ':':
			stop := strings.IndexByte(pattern[p+2:], ']')
			if stop < 0 {
				return 0, false, false
			}
			name := pattern[p+2 : p+2+stop]
			if !strings.HasSuffix(name, ":") { // no class after all: a plain `[`
				in = in || c == '['
				prev = '['
				continue
			}
			member, known := classes[strings.TrimSuffix(name, ":")]
			if !known {
				return 0, false, false
			}
			in = in || member(c)
			p += 2 + stop
			prev = 0
		default:
			in = in || c == ch
			prev = ch
		}
	}
	return p, in != negated, true
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func digit(c byte) bool { return '0' <= c && c <= '9' }
func graph(c byte) bool { return '!' <= c && c <= '~' }

// classes are the POSIX character classes, of ASCII as in git.
var classes = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return lower(c) || upper(c) || digit(c) },
	"alpha":  func(c byte) bool { return lower(c) || upper(c) },
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 127 },
	"digit":  digit,
	"graph":  graph,
	"lower":  lower,
	"print":  func(c byte) bool { return c == ' ' || graph(c) },
	"punct":  func(c byte) bool { return graph(c) && !lower(c) && !upper(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  upper,
	"xdigit": func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' },
}
