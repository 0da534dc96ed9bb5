package ipc

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSegment = 255  // bytes: NAME_MAX of the usual file systems
	maxPath    = 1024 // bytes: leaves room for the base folder within PATH_MAX, macOS's 1024 included
)

// percentEscape finds what a second decoding would turn into another name.
var percentEscape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// CheckName says whether an upload may be called so (SPEC 5.2), as an *InvalidError with the field `category` or
// `fileName`. It judges by the names alone and more strictly than the watcher: files that people already have under odd
// names stay documents, but none is made over HTTP that another system could not hold or that would read as another path.
func CheckName(category, fileName string) error {
	if category != "" {
		for segment := range strings.SplitSeq(category, "/") {
			if why := segmentFault(segment); why != "" {
				return &InvalidError{"category", fmt.Sprintf("%q %s", category, why)}
			}
		}
	}
	why := segmentFault(fileName)
	switch {
	case fileName == "":
		return &InvalidError{"fileName", "is missing"}
	case why != "":
	case strings.Contains(fileName, "/"):
		why = "holds a slash: folders belong into the category"
	case !markdownName(fileName):
		why = "is not a Markdown file: it must end in .md or .markdown"
	case len(category)+1+len(fileName) > maxPath:
		why = fmt.Sprintf("is too long: with its category at most %d bytes", maxPath)
	default:
		return nil
	}
	return &InvalidError{"fileName", fmt.Sprintf("%q %s", shorten(fileName), why)}
}

func markdownName(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// segmentFault says what is wrong with one part of a path, or "".
func segmentFault(s string) string {
	switch {
	case s == "":
		return "has an empty part"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case s == "." || s == "..":
		return "holds . or .., which leads out of its folder"
	case s[0] == '.':
		return "begins with a dot: dot files are not documents"
	case len(s) > maxSegment:
		return fmt.Sprintf("is too long: %d bytes, at most %d", len(s), maxSegment)
	case strings.Contains(s, `\`):
		return "holds a backslash"
	case strings.Contains(s, ":"):
		return "holds a colon"
	case strings.ContainsAny(s, `<>"|?*`):
		return `holds one of < > " | ? *, which Windows does not allow`
	case percentEscape.MatchString(s):
		return "holds a percent escape"
	case deviceName(s):
		return "is the name of a device on Windows"
	}
	for _, r := range s {
		if why := runeFault(r); why != "" {
			return why
		}
	}
	if last, _ := utf8.DecodeLastRuneInString(s); last == '.' || unicode.IsSpace(last) {
		return "ends in a dot or a blank"
	}
	if first, _ := utf8.DecodeRuneInString(s); unicode.IsSpace(first) {
		return "begins with a blank"
	}
	return ""
}

// runeFault refuses characters that cannot be seen or that turn the text around them. The joiners stay: Persian words and
// emoji need them.
func runeFault(r rune) string {
	switch {
	case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
		return fmt.Sprintf("holds a control character (U+%04X)", r)
	case unicode.Is(unicode.Bidi_Control, r):
		return fmt.Sprintf("holds a character that changes the direction of writing (U+%04X)", r)
	case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
		return fmt.Sprintf("holds an invisible character (U+%04X)", r)
	}
	return ""
}

// deviceName knows the names that Windows keeps for devices, whatever follows the first dot.
func deviceName(s string) bool {
	stem, _, _ := strings.Cut(s, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	number, isPort := strings.CutPrefix(stem, "COM")
	if !isPort {
		number, isPort = strings.CutPrefix(stem, "LPT")
	}
	return isPort && utf8.RuneCountInString(number) == 1 && strings.ContainsAny(number, "0123456789¹²³")
}

// shorten keeps an over-long name out of the answer.
func shorten(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
