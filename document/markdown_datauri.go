package document

import "strings"

// maxDataShown is how long, in bytes, the data of a URI may be where the reader sees it: in code and in plain text.
const maxDataShown = 64

// withoutDataURIs drops data URIs where they are the target of a link or an attribute; where they are text, long data
// becomes "…". What surrounds them, such as a picture's alternative text, is kept.
func withoutDataURIs(s string, code bool) string {
	const scheme = "data:"
	if indexFold(s, scheme) < 0 {
		return s
	}
	var out strings.Builder
	kept := 0
	for from := 0; ; {
		i := indexFold(s[from:], scheme)
		if i < 0 {
			break
		}
		start := from + i
		from = start + len(scheme)
		data := dataStart(s, start)
		if data == 0 {
			continue
		}
		var before byte
		if start > 0 {
			before = s[start-1]
		}
		end := dataEnd(s, data, before)
		from = end
		shown := code || !strings.ContainsRune("(<\"'", rune(before)) && !strings.HasSuffix(s[:start], "]: ")
		switch {
		case !shown:
			out.WriteString(s[kept:start])
		case end-data > maxDataShown:
			out.WriteString(s[kept:data])
			out.WriteString("…")
		default:
			continue
		}
		kept = end
	}
	out.WriteString(s[kept:])
	return out.String()
}

// indexFold is strings.Index for a scheme in any letter case; it looks at colons only.
func indexFold(s, scheme string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], ':')
		if i < 0 {
			return -1
		}
		from += i + 1
		if start := from - len(scheme); start >= 0 && strings.EqualFold(s[start:from], scheme) {
			return start
		}
	}
}

// dataStart is where the data of the URI at s[start:] begin, or 0 if it is no data URI.
func dataStart(s string, start int) int {
	const scheme, longestType = "data:", 128
	if start > 0 && isWordByte(s[start-1]) {
		return 0 // metadata:
	}
	header := s[start+len(scheme) : min(len(s), start+longestType)]
	header, _, ok := strings.Cut(header, ",")
	if !ok || !strings.Contains(header, "/") && !strings.HasSuffix(header, ";base64") {
		return 0
	}
	for i := range len(header) {
		if !isWordByte(header[i]) && !strings.ContainsRune("/+.;=-", rune(header[i])) {
			return 0
		}
	}
	return start + len(scheme) + len(header) + 1
}

// dataEnd is where data end that begin at s[data] in a URI that stands behind the byte before.
func dataEnd(s string, data int, before byte) int {
	rest := s[data:]
	if before == '"' || before == '\'' {
		if end := strings.IndexAny(rest, string(before)+"\n"); end >= 0 && rest[end] == before {
			return data + end
		}
	}
	ends := " \t\n\"'<>)]|`"
	switch before {
	case '(':
		ends = " \t\n)"
	case '<':
		ends = "\n>"
	}
	if end := strings.IndexAny(rest, ends); end >= 0 {
		return data + end
	}
	return len(s)
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
