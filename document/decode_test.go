package document

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
)

func utf16Bytes(order binary.AppendByteOrder, s string) []byte {
	out := order.AppendUint16(nil, 0xFEFF)
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func gb18030(t *testing.T, s string) []byte {
	t.Helper()
	out, err := simplifiedchinese.GB18030.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDecode_1_4_Encodings(t *testing.T) {
	chinese := "---\ntitle: 缓存手册\n---\n# 缓存穿透\n\n旧编码，C语言与 Redis：①②③ 𠀀\n"
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"empty":             {nil, ""},
		"UTF-8":             {[]byte("café 支付\n"), "café 支付\n"},
		"BOM":               {[]byte("\xEF\xBB\xBF---\n"), "---\n"},
		"two BOMs":          {[]byte("\xEF\xBB\xBF\xEF\xBB\xBFx"), "x"},
		"BOM inside stays":  {[]byte("a\uFEFFb"), "a\uFEFFb"},
		"CRLF":              {[]byte("a\r\nb\r\n"), "a\nb\n"},
		"CR":                {[]byte("a\rb\r"), "a\nb\n"},
		"mixed line ends":   {[]byte("a\r\r\nb\n\rc"), "a\n\nb\n\nc"},
		"UTF-16 little":     {utf16Bytes(binary.LittleEndian, "标题 😀\r\nx"), "标题 😀\nx"},
		"UTF-16 big":        {utf16Bytes(binary.BigEndian, "标题 😀\nx"), "标题 😀\nx"},
		"GB18030":           {gb18030(t, chinese), chinese},
		"GB18030, one word": {gb18030(t, "plain text, then 支付网关 and more plain text\n"), "plain text, then 支付网关 and more plain text\n"},
		"GB18030, traditional": {
			gb18030(t, "資料庫快取穿透的解決方案，與連線設定\n"),
			"資料庫快取穿透的解決方案，與連線設定\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode(tt.data)
			if err != nil || got != tt.want {
				t.Errorf("decode = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestDecode_1_4_NotText(t *testing.T) {
	latin1 := func(s string) []byte {
		out, err := charmap.Windows1252.NewEncoder().Bytes([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	eucKR, err := korean.EUCKR.NewEncoder().Bytes([]byte("한국어 문서\n\n이것은 한국어 문서입니다. 안내서를 보세요.\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		data   []byte
		reason string
	}{
		"stray CP1252 dash":               {[]byte("# H\n\ngood \x96 still good\n"), "0x96 in line 3"},
		"stray é before a letter":         {[]byte("caf\xe9s are open\n"), "0xE9 in line 1"},
		"stray byte at the end":           {[]byte("caf\xe9"), "0xE9"},
		"French":                          {latin1("Les clés périmées étaient gardées à côté du cœur.\r\nVoilà.\n"), "neither UTF-8 nor GB18030"},
		"German":                          {latin1("Die Größe für ähnliche Übergänge, größer als die maßgebliche Straße\n"), "neither"},
		"one German word":                 {latin1("Die Größe\n"), "neither"},
		"Korean":                          {eucKR, "neither"},
		"bad byte in Chinese UTF-8":       {[]byte("支付网关错误码\n超时\xff重试\n"), "0xFF in line 2"},
		"cut Chinese UTF-8":               {[]byte("支付网关错误码定义")[:25], "neither"},
		"NUL":                             {[]byte("a\nb\x00c"), "line 2 holds a NUL"},
		"UTF-16 without BOM":              {utf16Bytes(binary.LittleEndian, "hello")[2:], "byte order mark"},
		"UTF-16 of odd length":            {append(utf16Bytes(binary.LittleEndian, "hello"), 'x'), "odd number"},
		"UTF-16 with half a character":    {[]byte{0xFF, 0xFE, 'a', 0, 0x3D, 0xD8, 'b', 0}, "half a character"},
		"UTF-16 ends in half a character": {[]byte{0xFF, 0xFE, 0x3D, 0xD8}, "half a character"},
		"UTF-32":                          {[]byte{0xFF, 0xFE, 0, 0, 'a', 0, 0, 0}, "NUL"},
		"PNG":                             {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), "NUL"},
		"bytes":                           {[]byte{0x81, 0x20, 0xFF, 0xFE, 0x80}, "neither"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Parse("a.md", tt.data, Options{Fallback: true})
			if !errors.Is(err, ErrNotText) || d != nil {
				t.Fatalf("Parse = %v, %v; want ErrNotText", d, err)
			}
			if !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %q does not say %q", err, tt.reason)
			}
		})
	}
}
