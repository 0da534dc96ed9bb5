package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Faults of names, kinds, ranges, pairs and files are told in one go, in the order of the lines: whoever mends them all has
// a good configuration, and none is told that only follows from another.
func TestCheck_AllFaultsInOneRound(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown names, kinds, ranges, pairs and files", `lookup:
  top_k: 51
  top_kk: 3
  candidates: many
watch:
  settle: 5s
  max_settle: 4s
ipc: {token_file: none}
`, `c.yaml:2: lookup.top_k: 51 is more than 50
c.yaml:3: lookup.top_kk: unknown setting; did you mean lookup.top_k?
c.yaml:4: lookup.candidates: "many" is not a whole number
c.yaml:6: watch.settle: 5s is more than watch.max_settle (4s)
c.yaml:8: ipc.token_file: DIR/none: no such file or directory`},
		{"a pair whose other half is misspelt", "watch: {settle: 2s, max_setle: 3s}\n", "c.yaml:1: watch.max_setle: unknown setting; did you mean watch.max_settle?"},
		{"a pair whose other half has no unit", "watch: {settle: 2s, max_settle: 3}\n", `c.yaml:1: watch.max_settle: "3" lacks a unit: 3ms, 3s, 3m or 3h`},
		{"a pair whose other half stands in a misspelt section", "chunker: {target: 3000}\nchunkers: {max: 4000}\n", "c.yaml:2: chunkers: unknown setting; did you mean chunker?"},
		{"what allows a remote door has a fault", "ipc: {http: \":7420\", allow_remote: maybe}\n", `c.yaml:1: ipc.allow_remote: "maybe" is neither true nor false`},
		{"ranges beside a section that is none", "watch: 3s\nchunker: {max: 0}\n", `c.yaml:1: watch: a mapping of settings is needed, not "3s"` + "\nc.yaml:2: chunker.max: 0 is not above 0"},
		{
			"above a fault of syntax", "lookup: {top_k: 0}\nwatch: {settle: 2s}\nlog:\n\tlevel: info\n",
			"c.yaml:1: lookup.top_k: 0 is not above 0\nc.yaml:4: not valid YAML: found character that cannot start any token (a tab? YAML is indented by blanks)",
		},
		{"a folder that is a list hides nothing else", "state_dir: [a]\nembedding: {openai: {model: \"\"}}\n", "c.yaml:1: state_dir: a text is needed, not a list\nc.yaml:2: embedding.openai.model: is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.opt.File = p.write(t, "c.yaml", c.yaml)
			l, err := Check(p.opt)
			faults, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("%v, want faults", err)
			}
			if l.File != p.opt.File {
				t.Errorf("file %q", l.File)
			}
			var got []string
			for _, problem := range faults.Problems {
				got = append(got, strings.NewReplacer(p.dir+"/c.yaml", "c.yaml", p.dir, "DIR").Replace(problem.String()))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A variable that is good repairs what the file says.
func TestCheck_AVariableOverAFault(t *testing.T) {
	p := newPlace(t)
	p.opt.File = p.write(t, "c.yaml", "lookup: {top_k: many}\n")
	p.opt.Env = append(p.opt.Env, "KNOWLEDGED_LOOKUP_TOP_K=99")
	got := p.faults(t)
	if diff := cmp.Diff([]string{`c.yaml:1: lookup.top_k: "many" is not a whole number`, "environment KNOWLEDGED_LOOKUP_TOP_K: lookup.top_k: 99 is more than 50"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
