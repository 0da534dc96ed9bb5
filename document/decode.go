package document

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// ErrNotText is wrapped by Parse's error where the bytes are no text that can be read (SPEC 1.4).
var ErrNotText = errors.New("not text")

const byteOrderMark = "\uFEFF"

// decode turns a file's bytes into UTF-8 text with LF line ends and no byte order mark. A NUL is a sure sign of something
// else than text, and the stores behind us cannot hold one.
func decode(data []byte) (string, error) {
	text, err := decodeBytes(data)
	if err != nil {
		return "", err
	}
	for strings.HasPrefix(text, byteOrderMark) { // files joined by tools begin with several
		text = text[len(byteOrderMark):]
	}
	text = lineEnds.Replace(text)
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", notText("line %d holds a NUL byte (a binary file, or UTF-16 without a byte order mark?)", lineAt(text, i))
	}
	return text, nil
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func decodeBytes(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return decodeUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return decodeUTF16(data[2:], binary.BigEndian)
	case utf8.Valid(data):
		return string(data), nil
	case bytes.IndexByte(data, 0) >= 0:
		return string(data), nil // GB18030 text has no NULs either; decode names the place
	}
	if text, ok := decodeGB18030(data); ok {
		return text, nil
	}
	bad := firstInvalid(data)
	line := 1 + strings.Count(lineEnds.Replace(string(data[:bad])), "\n")
	return "", notText("byte 0x%02X in line %d is neither UTF-8 nor GB18030: save the file as UTF-8", data[bad], line)
}

func decodeUTF16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", notText("UTF-16 with an odd number of bytes: the file is cut off")
	}
	var b strings.Builder
	b.Grow(len(data))
	for i := 0; i < len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		if utf16.IsSurrogate(r) {
			var low rune
			if i+3 < len(data) {
				low = rune(order.Uint16(data[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r == unicode.ReplacementChar {
				return "", notText("UTF-16 with half a character in line %d", 1+strings.Count(b.String(), "\n"))
			}
			i += 2
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

// decodeGB18030 reads older Chinese Windows files. Nearly any two bytes with the high bit form some GB18030 character, so that
// "decodes without an error" proves little: a Latin-1 é before a letter would become a rare character. Clean means that the
// file isn't UTF-8 with some bad bytes, and that what comes out looks like Chinese: common characters, mostly side by side.
func decodeGB18030(data []byte) (string, bool) {
	if mostlyUTF8(data) {
		return "", false
	}
	out, err := simplifiedchinese.GB18030.NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(out, unicode.ReplacementChar) {
		return "", false
	}
	text := string(out)
	if !looksChinese(text) || !commonPairs(data) {
		return "", false
	}
	return text, true
}

// mostlyUTF8 says whether most bytes with the high bit belong to UTF-8 characters. In real GB18030 text some happen to.
func mostlyUTF8(data []byte) bool {
	good, all := 0, 0
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		all += n
		if r != utf8.RuneError || n > 1 {
			good += n
		}
		i += n
	}
	return good*2 > all
}

// commonPairs says whether most double-byte characters are of GB2312, the everyday set (lead A1–F7, trail A1–FE). Stray
// bytes of other encodings mostly pair up with an ASCII letter, which is outside of it. EUC-KR's Hangul have the leads B0–C8,
// which are characters from 啊 to 饶 in GB2312's order by sound: no Chinese text of some length does without the later ones
// (是, 有, 在, 中).
func commonPairs(data []byte) bool {
	const korean = 20 // characters that prove it where none comes later
	common, all, early, late := 0, 0, 0, 0
	for i := 0; i < len(data); i++ {
		if data[i] < utf8.RuneSelf || i+1 == len(data) {
			continue
		}
		lead, trail := data[i], data[i+1]
		if trail >= '0' && trail <= '9' {
			i += 3 // four bytes: rare characters and emoji, no evidence either way
			continue
		}
		all++
		if lead >= 0xA1 && lead <= 0xF7 && trail >= 0xA1 {
			common++
		}
		switch {
		case lead >= 0xB0 && lead <= 0xC8:
			early++
		case lead > 0xC8:
			late++
		}
		i++
	}
	return all > 0 && common*2 >= all && (late > 0 || early < korean)
}

// looksChinese wants most characters beyond ASCII to be Chinese ones, signs or digits, and few of them alone between Latin
// letters ("Gr鲞e" is a German word read wrongly).
func looksChinese(text string) bool {
	wide, chinese, alone := 0, 0, 0
	runes := []rune(text)
	for i, r := range runes {
		if r < utf8.RuneSelf {
			continue
		}
		wide++
		if unicode.Is(unicode.Han, r) || !unicode.IsLetter(r) && !unicode.Is(unicode.Co, r) {
			chinese++
		}
		if i > 0 && asciiLetter(runes[i-1]) && i+1 < len(runes) && asciiLetter(runes[i+1]) {
			alone++
		}
	}
	return chinese*5 >= wide*4 && alone*4 <= wide
}

func asciiLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return 0
}

// lineAt is the 1-based line of the byte at offset.
func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

func notText(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNotText}, args...)...)
}
