package document

import (
	"slices"
	"testing"

	"github.com/BurntSushi/toml"
)

// SPEC 1.3: scalars are the text the author typed, whatever the notation.
func TestFrontMatter_1_3_TOMLAsTyped(t *testing.T) {
	d := parse(t, "+++\ntitle = 1.10 # 1.1\nkeywords = [ 1.10,0x1F, 1_000 , 1e3,\n  +5, # five, 6\n  07:30:00, 2024-01-15 10:00:00, \"7 # = [8\", '9\\', \"\"\"\n10\"\"\", true ]\n"+
		"summary = '''\n= 1.50 ''''\nversion = 2.0\nn = 12\nt = { a = 1.0, 'b = 2' = [ {c = -0.0} ] }\n[x]\n[x.\"y]\"] # z = 4.0\nz = 5.0\n[[w]]\n+++\n", true)
	if want := []string{"1.10", "0x1F", "1_000", "1e3", "+5", "07:30:00", "2024-01-15 10:00:00", "7 # = [8", `9\`, "10", "true"}; !slices.Equal(d.Keywords, want) {
		t.Errorf("keywords %q, want %q", d.Keywords, want)
	}
	const metadata = `{"title":"1.10","keywords":["1.10","0x1F","1_000","1e3","+5","07:30:00","2024-01-15 10:00:00","7 # = [8","9\\","10","true"],` +
		`"summary":"= 1.50 '","version":"2.0","n":12,"t":{"a":"1.0","b = 2":[{"c":"-0.0"}]},"x":{"y]":{"z":"5.0"}},"w":[{}]}`
	if string(d.Metadata) != metadata {
		t.Errorf("metadata %s, want %s", d.Metadata, metadata)
	}
	checkWarnings(t, d)
}

// What is valid stays so.
func FuzzTypedTOML(f *testing.F) {
	for _, text := range []string{"a = 1", "a = [1, 2,\n3 # [\n]", "a = {b = \"}\", c = inf}", "[\"]\"]\n'=' = 1.0", "a = '''x'''''", "a = \"\\\\\"\nb = 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var before, after map[string]any
		if _, err := toml.Decode(text, &before); err != nil {
			return
		}
		if _, err := toml.Decode(typedTOML(text), &after); err != nil || len(before) != len(after) {
			t.Errorf("%q becomes %q: %v", text, typedTOML(text), err)
		}
	})
}
