package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

var compareScores = cmp.AllowUnexported(Score{})

// place is a working directory with an environment of its own.
type place struct {
	dir string
	opt Options
}

func newPlace(t *testing.T) *place {
	dir := t.TempDir()
	return &place{dir: dir, opt: Options{Cwd: dir, Env: []string{"HOME=/home/u", "XDG_CONFIG_HOME=" + filepath.Join(dir, "xdg"), "XDG_RUNTIME_DIR=/run/user/7"}}}
}

func (p *place) write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func (p *place) load(t *testing.T) *Loaded {
	t.Helper()
	l, err := Load(p.opt)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (p *place) faults(t *testing.T) []string {
	t.Helper()
	_, err := Load(p.opt)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want *Error", err)
	}
	var all []string
	for _, f := range e.Problems {
		all = append(all, strings.ReplaceAll(f.String(), p.dir+string(filepath.Separator), ""))
	}
	return all
}

func TestLoad_Precedence(t *testing.T) {
	p := newPlace(t)
	top := func() (int, string) {
		l := p.load(t)
		return l.Config.Lookup.TopK, strings.ReplaceAll(l.Origins["lookup.top_k"].String(), p.dir+"/", "")
	}
	steps := []struct {
		name   string
		do     func()
		want   int
		origin string
	}{
		{"default", func() {}, 5, "default"},
		{"XDG file", func() { p.write(t, "xdg/knowledged/config.yaml", "lookup:\n  top_k: 6\n") }, 6, "xdg/knowledged/config.yaml:2"},
		{"./knowledged.yaml", func() { p.write(t, "knowledged.yaml", "lookup: {top_k: 7}\n") }, 7, "knowledged.yaml:1"},
		{"KNOWLEDGED_CONFIG", func() {
			p.opt.Env = append(p.opt.Env, "KNOWLEDGED_CONFIG=env.yaml")
			p.write(t, "env.yaml", "lookup: {top_k: 8}\n")
		}, 8, "env.yaml:1"},
		{"--config", func() { p.opt.File = p.write(t, "other/x.yaml", "\n\nlookup: {top_k: 9}\n") }, 9, "other/x.yaml:3"},
		{"empty variable", func() { p.opt.Env = append(p.opt.Env, "KNOWLEDGED_LOOKUP_TOP_K=") }, 9, "other/x.yaml:3"},
		{"variable", func() { p.opt.Env = append(p.opt.Env, "KNOWLEDGED_LOOKUP_TOP_K=10") }, 10, "environment KNOWLEDGED_LOOKUP_TOP_K"},
		{"flag", func() { p.opt.Flags = map[string]string{"lookup.top_k": "11"} }, 11, "flag"},
	}
	for _, s := range steps {
		s.do()
		if got, origin := top(); got != s.want || origin != s.origin {
			t.Errorf("%s: top_k %d from %s, want %d from %s", s.name, got, origin, s.want, s.origin)
		}
	}
}

func TestLoad_EveryTypeFromEveryPlace(t *testing.T) {
	p := newPlace(t)
	p.opt.File = p.write(t, "c.yaml", `
knowledge: {base_path: /kb, max_file_size: 1048576, front_matter: {fallback: no}}
ipc: {http: off}
watch: {settle: 10ms, mode: POLL}
lookup: {min_score: 0.25, unique_match: verify, fusion: {method: rrf, rrf: {k: 20, exact: 2}}}
l1: {backend: off}
embedding:
  provider: openai
  openai: {model: "404", query_body: {input_type: query, nested: {a: [1, 2]}}}
state_dir:
log:
`)
	p.opt.Env = append(p.opt.Env,
		"KNOWLEDGED_KNOWLEDGE_FRONT_MATTER_FALLBACK=true", "KNOWLEDGED_WATCH_MAX_SETTLE=2s", "KNOWLEDGED_LOOKUP_FUSION_RRF_SEMANTIC=0.5",
		`KNOWLEDGED_EMBEDDING_OPENAI_DOCUMENT_BODY={"input_type": "passage"}`, "KNOWLEDGED_IPC_SOCKET=/s.sock", "KNOWLEDGED_STATE_DIR=/state")
	p.opt.Flags = map[string]string{"log.level": "Debug", "knowledge.max_file_size": "2MiB", "watch.follow_symlinks": "yes"}
	want := Default()
	want.Knowledge = Knowledge{BasePath: "/kb", MaxFileSize: 2 << 20, FrontMatter: FrontMatter{Fallback: true}}
	want.StateDir, want.IPC.Socket, want.IPC.HTTP, want.L1.Backend, want.Log.Level = "/state", "/s.sock", HTTPOff, BackendOff, "debug"
	want.Watch.Settle, want.Watch.MaxSettle, want.Watch.Mode, want.Watch.FollowSymlinks = Duration(10*time.Millisecond), Duration(2*time.Second), "poll", true
	want.Lookup.MinScore, want.Lookup.UniqueMatch, want.Lookup.Fusion.Method = Score{true, .25}, "verify", "rrf"
	want.Lookup.Fusion.RRF = RRF{K: 20, Exact: 2, Fulltext: 1, Semantic: .5}
	want.Embedding.Provider, want.Embedding.OpenAI.Model = ProviderOpenAI, "404"
	want.Embedding.OpenAI.QueryBody = map[string]any{"input_type": "query", "nested": map[string]any{"a": []any{1, 2}}}
	want.Embedding.OpenAI.DocumentBody = map[string]any{"input_type": "passage"}
	l := p.load(t)
	if diff := cmp.Diff(want, l.Config, compareScores); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if v := l.Config.Lookup.MinScore.Value(); v == nil || *v != .25 {
		t.Errorf("min_score %v", v)
	}
	if Default().Lookup.MinScore.Value() != nil {
		t.Error("auto has a value")
	}
}

// The files that generators and black-box tools write are JSON or have JSON scalars.
func TestLoad_JSONAndFalseForOff(t *testing.T) {
	p := newPlace(t)
	p.opt.File = p.write(t, "c.json", `{"l1": {"backend": false}, "ipc": {"http": false, "socket": "/a/b.sock"}, "watch": {"max_settle": "2s", "settle": "150ms"}, "embedding": {"openai": {"query_body": {}}}}`)
	c := p.load(t).Config
	if c.L1.Backend != BackendOff || c.IPC.HTTP != HTTPOff || c.Watch.Settle != Duration(150*time.Millisecond) || c.IPC.Socket != "/a/b.sock" {
		t.Errorf("%+v", c)
	}
}

func TestLoad_Faults(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "watch:\n  setle: 3ms\n", "c.yaml:2: watch.setle: unknown setting; did you mean watch.settle?"},
		{"unknown section", "lookups: {top_k: 3}\n", "c.yaml:1: lookups: unknown setting; did you mean lookup?"},
		{"camel case", "lookup: {topK: 3}\n", "c.yaml:1: lookup.topK: unknown setting; did you mean lookup.top_k?"},
		{"wrong section", "top_k: 3\n", "c.yaml:1: top_k: unknown setting; did you mean lookup.top_k?"},
		{"nothing near", "frobnicate: 3\n", "c.yaml:1: frobnicate: unknown setting"},
		{"merge key", "x: &x {a: 1}\n", "c.yaml:1: x: unknown setting"},
		{"word for number", "lookup:\n\n  top_k: five\n", `c.yaml:3: lookup.top_k: "five" is not a whole number`},
		{"fraction for number", "lookup: {top_k: 1.5}\n", `c.yaml:1: lookup.top_k: "1.5" is not a whole number`},
		{"quoted number", "lookup: {top_k: \"5\"}\n", `c.yaml:1: lookup.top_k: a whole number is needed, not the text "5" (leave the quotes out)`},
		{"list for number", "lookup: {top_k: [1]}\n", "c.yaml:1: lookup.top_k: a whole number is needed, not a list"},
		{"mapping for text", "log: {level: {a: 1}}\n", "c.yaml:1: log.level: a text is needed, not a mapping"},
		{"text for section", "log: debug\n", `c.yaml:1: log: a mapping of settings is needed, not "debug"`},
		{"list for section", "- a\n", "c.yaml:1: a mapping of settings is needed, not a list"},
		{"text for map", "embedding: {openai: {query_body: x}}\n", `c.yaml:1: embedding.openai.query_body: a mapping is needed, not "x"`},
		{"duration without unit", "watch: {poll_interval: 30}\n", `c.yaml:1: watch.poll_interval: "30" lacks a unit: 30ms, 30s, 30m or 30h`},
		{"bad duration", "watch: {poll_interval: soon}\n", `c.yaml:1: watch.poll_interval: "soon" is not a duration such as 30ms, 1.5s or 5m`},
		{"bad size", "knowledge: {max_file_size: big}\n", `c.yaml:1: knowledge.max_file_size: "big" is not a size such as 8MiB, 500kB or 1048576`},
		{"bad bool", "ipc: {allow_remote: maybe}\n", `c.yaml:1: ipc.allow_remote: "maybe" is neither true nor false`},
		{"bad score", "lookup: {min_score: high}\n", `c.yaml:1: lookup.min_score: "high" is neither auto nor a number`},
		{"no number", "lookup: {fusion: {rrf: {k: .nan}}}\n", `c.yaml:1: lookup.fusion.rrf.k: ".nan" is not a number`},
		{"enum", "l1:\n  backend: milvuss\n", `c.yaml:2: l1.backend: "milvuss" is not one of embedded, milvus, off`},
		{"twice", "log: {}\nstate_dir: a\nlog: {level: info}\n", "c.yaml:3: log: set twice, first on line 1"},
		{"second document", "log: {level: info}\n---\nlog: {level: debug}\n", "c.yaml:2: a second YAML document; only one is read"},
		{"tab", "log:\n\tlevel: info\n", "c.yaml:2: not valid YAML: found character that cannot start any token (a tab? YAML is indented by blanks)"},
		{"settle over max", "watch: {settle: 2s}\n", "c.yaml:1: watch.settle: 2s is more than watch.max_settle (500ms)"},
		{"max below settle", "watch:\n  max_settle: 1ms\n", "c.yaml:2: watch.max_settle: 1ms is less than watch.settle (30ms)"},
		{"target over max", "chunker: {target: 2000}\n", "c.yaml:1: chunker.target: 2000 is more than chunker.max (1600)"},
		{"max of zero", "chunker: {max: 0}\n", "c.yaml:1: chunker.max: 0 is not above 0"},
		{"max too big", "chunker: {max: 100000}\n", "c.yaml:1: chunker.max: 100000 is more than 16000"},
		{"more results than a lookup may ask for", "lookup: {top_k: 51}\n", "c.yaml:1: lookup.top_k: 51 is more than 50"},
		{"more candidates than memory", "lookup: {candidates: 999999999}\n", "c.yaml:1: lookup.candidates: 999999999 is more than 1000"},
		{"negative score", "lookup: {min_score: -5}\n", "c.yaml:1: lookup.min_score: -5 is less than 0"},
		{"zero", "lookup: {top_k: 0}\n", "c.yaml:1: lookup.top_k: 0 is not above 0"},
		{"negative weight", "lookup: {fusion: {score: {soft: -1}}}\n", "c.yaml:1: lookup.fusion.score.soft: -1 is less than 0"},
		{"negative size", "knowledge: {max_file_size: -1}\n", "c.yaml:1: knowledge.max_file_size: -1 is not above 0"},
		{"no weights", "lookup: {fusion: {method: rrf, rrf: {exact: 0, fulltext: 0, semantic: 0}}}\n", "c.yaml:1: lookup.fusion.rrf.exact: is 0, as are the other weights"},
		{"http word", "ipc: {http: on}\n", `c.yaml:1: ipc.http: "on" is neither an address such as 127.0.0.1:7420 nor off`},
		{"http port", "ipc: {http: \"127.0.0.1:70000\"}\n", `c.yaml:1: ipc.http: "127.0.0.1:70000" is neither an address such as 127.0.0.1:7420 nor off`},
		{"remote", "ipc: {http: \"0.0.0.0:7420\"}\n", "c.yaml:1: ipc.http: 0.0.0.0:7420 is reached from other machines; that needs ipc.allow_remote and ipc.token_file"},
		{"all interfaces", "ipc: {http: \":7420\", allow_remote: true}\n", "c.yaml:1: ipc.http: :7420 is reached from other machines; that needs ipc.token_file"},
		{"milvus address", "l1: {milvus: {address: localhost}}\n", `c.yaml:1: l1.milvus.address: "localhost" is not an address such as 127.0.0.1:19530`},
		{"milvus collection", "l1: {milvus: {collection: a-b}}\n", `c.yaml:1: l1.milvus.collection: "a-b" is not a name of letters, digits and _ that Milvus takes`},
		{"milvus user", "l1: {milvus: {username: root}}\n", "c.yaml:1: l1.milvus.username: needs l1.milvus.password_file"},
		{"base_url", "embedding: {openai: {base_url: localhost}}\n", `c.yaml:1: embedding.openai.base_url: "localhost" is not a URL such as http://127.0.0.1:11434/v1`},
		{"no model", "embedding: {openai: {model: \"\"}}\n", "c.yaml:1: embedding.openai.model: is empty"},
		{"root as base", "knowledge: {base_path: /}\n", `c.yaml:1: knowledge.base_path: "/" is not a folder that can hold documents`},
		{"alias", "log: &l {level: loud}\nwatch: *l\n", `c.yaml:1: log.level: "loud" is not one of debug, info, warn, error` + "\n" + "c.yaml:1: watch.level: unknown setting; did you mean log.level?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.opt.File = p.write(t, "c.yaml", c.yaml)
			if got := strings.Join(p.faults(t), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestLoad_FaultsAllAtOnce(t *testing.T) {
	p := newPlace(t)
	p.opt.File = p.write(t, "c.yaml", "watch: {setle: 1s}\nlookup:\n  top_k: x\n")
	p.opt.Env = append(p.opt.Env, "KNOWLEDGED_IPC_SOCKT=/x", "KNOWLEDGED_LOOKUP_CANDIDATES=many")
	p.opt.Flags = map[string]string{"log.level": "loud", "log.levle": "x"}
	want := []string{
		"c.yaml:1: watch.setle: unknown setting; did you mean watch.settle?",
		`c.yaml:3: lookup.top_k: "x" is not a whole number`,
		"environment KNOWLEDGED_IPC_SOCKT: no such setting; did you mean KNOWLEDGED_IPC_SOCKET?",
		`environment KNOWLEDGED_LOOKUP_CANDIDATES: lookup.candidates: "many" is not a whole number`,
		`flag: log.level: "loud" is not one of debug, info, warn, error`,
		"flag: log.levle: unknown setting; did you mean log.level?",
	}
	got := p.faults(t)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, err := Load(p.opt)
	if !strings.HasPrefix(err.Error(), "6 faults in the configuration:\n  ") {
		t.Errorf("error: %v", err)
	}
}

// The state's files are none of the documents, and its changes none of theirs.
func TestLoad_StateInBase(t *testing.T) {
	for state, bad := range map[string]bool{"kb": true, "kb/state": true, "kb/a/../b": true, "kb/.state": false, ".": false, "kb2": false, "kb/.hidden/state": false} {
		p := newPlace(t)
		p.opt.Flags = map[string]string{"knowledge.base_path": "kb", "state_dir": state}
		_, err := Load(p.opt)
		if got := err != nil && strings.Contains(err.Error(), "flag: state_dir: ") && strings.Contains(err.Error(), "lies in the base folder"); got != bad {
			t.Errorf("%s: %v", state, err)
		}
	}
}

// Files with secrets are needed at the start; `config check` looks for them too, those in use.
func TestCheckFiles(t *testing.T) {
	p := newPlace(t)
	p.opt.File = p.write(t, "c.yaml", "ipc: {token_file: token}\nembedding: {openai: {api_key_file: key}}\n")
	err := p.load(t).CheckFiles()
	if err == nil || !strings.Contains(err.Error(), "c.yaml:1: ipc.token_file: ") || !strings.Contains(err.Error(), "no such file") || strings.Contains(err.Error(), "key") {
		t.Errorf("missing: %v", err)
	}
	p.write(t, "token", " \n")
	if err := p.load(t).CheckFiles(); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("empty: %v", err)
	}
	p.write(t, "token", "secret\n")
	if err := p.load(t).CheckFiles(); err != nil {
		t.Error(err)
	}
	p.opt.Flags = map[string]string{"embedding.provider": "openai"}
	if err := p.load(t).CheckFiles(); err == nil || !strings.Contains(err.Error(), "embedding.openai.api_key_file") {
		t.Errorf("in use: %v", err)
	}
}

// Kubernetes puts these into every pod beside a service named knowledged.
func TestLoad_ForeignVariables(t *testing.T) {
	p := newPlace(t)
	p.opt.Env = append(p.opt.Env, "KNOWLEDGED_SERVICE_HOST=10.0.0.1", "KNOWLEDGED_SERVICE_PORT_HTTP=7420", "KNOWLEDGED_PORT=tcp://10.0.0.1:7420", "KNOWLEDGED_PORT_7420_TCP_ADDR=10.0.0.1", "NOEQUALS")
	p.load(t)
}

func TestLoad_Files(t *testing.T) {
	p := newPlace(t)
	p.opt.File = "missing.yaml"
	if got := p.faults(t); len(got) != 1 || got[0] != "read configuration file missing.yaml: no such file or directory" {
		t.Errorf("missing --config: %q", got)
	}
	p.opt.File = p.dir
	if got := p.faults(t); len(got) != 1 || !strings.Contains(got[0], "is a directory") {
		t.Errorf("a folder as --config: %q", got)
	}
	p.opt.File = p.write(t, "huge.yaml", strings.Repeat("# x\n", maxFile/4+1))
	if got := p.faults(t); len(got) != 1 || !strings.Contains(got[0], "more than 1048576 bytes") {
		t.Errorf("huge file: %q", got)
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "\ufefflog: {level: info}\n", "lookup:\nlog:\n", "null\n"} {
		p.opt.File = p.write(t, "ok.yaml", text)
		if l := p.load(t); l.File != p.opt.File || l.Config.Log.Level != "info" {
			t.Errorf("%q: %+v", text, l)
		}
	}
}

// SPEC 1.2: absolute, or relative to the configuration file, without one to the working directory; ~ expands.
func TestLoad_1_2_BasePath(t *testing.T) {
	p := newPlace(t)
	base := func() string { return p.load(t).Config.Knowledge.BasePath }
	if got, want := base(), filepath.Join(p.dir, "knowledge_base"); got != want {
		t.Errorf("default: %s, want %s", got, want)
	}
	p.opt.File = p.write(t, "etc/c.yaml", "log: {level: info}\n")
	if got, want := base(), filepath.Join(p.dir, "etc/knowledge_base"); got != want {
		t.Errorf("default with a file: %s, want %s", got, want)
	}
	for in, want := range map[string]string{
		"docs/": p.dir + "/etc/docs", "../docs": p.dir + "/docs", "/abs//x/": "/abs/x", "~": "/home/u", "~/n/../m": "/home/u/m", "~other": p.dir + "/etc/~other",
	} {
		p.write(t, "etc/c.yaml", fmt.Sprintf("knowledge: {base_path: %q}\n", in))
		if got := base(); got != want {
			t.Errorf("%s in the file: %s, want %s", in, got, want)
		}
	}
	p.opt.Env = append(p.opt.Env, "KNOWLEDGED_KNOWLEDGE_BASE_PATH=docs")
	if got := base(); got != p.dir+"/docs" {
		t.Errorf("variable: %s", got)
	}
	p.opt.Flags = map[string]string{"knowledge.base_path": "flagged"}
	if got := base(); got != p.dir+"/flagged" {
		t.Errorf("flag: %s", got)
	}
}

func TestLoad_StateDir(t *testing.T) {
	p := newPlace(t)
	state := func() string { return p.load(t).Config.StateDir }
	p.opt.Flags = map[string]string{"knowledge.base_path": "/a/notes"}
	first := state()
	if !strings.HasPrefix(first, "/home/u/.local/state/knowledged/notes-") {
		t.Errorf("default: %s", first)
	}
	p.opt.Flags["knowledge.base_path"] = "/b/notes/"
	if second := state(); second == first || filepath.Dir(second) != filepath.Dir(first) {
		t.Errorf("two base paths share %s", second)
	}
	p.opt.Flags["knowledge.base_path"] = "/b/" + strings.Repeat("支", 80)
	if name := filepath.Base(state()); len(name) > 70 || !strings.HasPrefix(name, "支支") {
		t.Errorf("long name: %s", name)
	}
	p.opt.Env = append(p.opt.Env, "XDG_STATE_HOME=/xs")
	if got := state(); !strings.HasPrefix(got, "/xs/knowledged/") {
		t.Errorf("XDG_STATE_HOME: %s", got)
	}
	p.opt.Env = append(p.opt.Env, "STATE_DIRECTORY=/var/lib/knowledged:/var/lib/other")
	if got := state(); !strings.HasPrefix(got, "/var/lib/knowledged/支") {
		t.Errorf("as a service: %s", got)
	}
	p.opt.Flags["state_dir"] = "mine"
	if got := state(); got != p.dir+"/mine" {
		t.Errorf("set: %s", got)
	}
}

func TestLoad_Socket(t *testing.T) {
	p := newPlace(t)
	socket := func() string { return p.load(t).Config.IPC.Socket }
	if got := socket(); got != "/run/user/7/knowledged/knowledged.sock" {
		t.Errorf("default: %s", got)
	}
	p.opt.Env = []string{"HOME=/home/u", "XDG_RUNTIME_DIR=relative/is/ignored", "TMPDIR=/t"}
	if got, want := socket(), fmt.Sprintf("/t/knowledged-%d/knowledged.sock", os.Getuid()); got != want {
		t.Errorf("temporary folder: %s, want %s", got, want)
	}
	limit := 107
	if runtime.GOOS == "darwin" {
		limit = 103
	}
	p.opt.Flags = map[string]string{"ipc.socket": "/" + strings.Repeat("d", limit-1)}
	if got := socket(); len(got) != limit {
		t.Errorf("longest: %d bytes", len(got))
	}
	long := "/" + strings.Repeat("d", limit)
	p.opt.Flags["ipc.socket"] = long
	want := fmt.Sprintf("flag: ipc.socket: %s has %d bytes; the path of a Unix socket may have %d: name a shorter one", long, limit+1, limit)
	if got := p.faults(t); len(got) != 1 || got[0] != want {
		t.Errorf("too long: %q", got)
	}
}

func TestLoad_NoHome(t *testing.T) {
	all := map[string]string{"knowledge.base_path": "/kb", "state_dir": "/state", "ipc.socket": "/s.sock"}
	l, err := Load(Options{Cwd: t.TempDir(), Flags: all})
	if err != nil || l.Config.StateDir != "/state" {
		t.Errorf("env -i with absolute paths: %v", err)
	}
	// The user database still knows a home; where it doesn't, the fault is told, not a crash.
	l, err = Load(Options{Cwd: t.TempDir(), Flags: map[string]string{"knowledge.base_path": "~/kb"}})
	if err == nil && !filepath.IsAbs(l.Config.Knowledge.BasePath) || err != nil && !strings.Contains(err.Error(), "HOME is not set") {
		t.Errorf("%v, %v", l, err)
	}
}

func TestLoad_HTTP(t *testing.T) {
	for _, ok := range []string{"127.0.0.1:7420", "localhost:0", "[::1]:80", "127.9.9.9:1", "off", "OFF", "false", "[::ffff:127.0.0.1]:1"} {
		p := newPlace(t)
		p.opt.Flags = map[string]string{"ipc.http": ok}
		p.load(t)
	}
	p := newPlace(t)
	p.opt.Flags = map[string]string{"ipc.http": "0.0.0.0:7420", "ipc.allow_remote": "true", "ipc.token_file": "/t"}
	p.load(t)
}

func TestExample_IsTheDefaults(t *testing.T) {
	p := newPlace(t)
	p.opt.File = p.write(t, "c.yaml", Example())
	l := newLoader(p.opt)
	l.Config = Config{}
	l.readFile()
	if len(l.problems) > 0 {
		t.Fatal(l.problems)
	}
	if diff := cmp.Diff(Default(), l.Config, compareScores); diff != "" {
		t.Errorf("example.yaml is not the defaults (-default +example):\n%s", diff)
	}
	for _, s := range l.settings {
		if l.Origins[s.path].Kind != FromFile {
			t.Errorf("example.yaml lacks %s", s.path)
		}
	}
	p.load(t)
}

// What `config show` prints is a configuration file that loads to the same.
func TestShow(t *testing.T) {
	p := newPlace(t)
	p.opt.File = p.write(t, "c.yaml", `
knowledge: {base_path: "/k b/#1"}
lookup: {min_score: 0.3}
embedding: {openai: {query_prefix: "query: ", document_prefix: "行\n二", query_body: {a: [1, {b: true}]}, model: "yes"}}
`)
	p.opt.Env = append(p.opt.Env, "KNOWLEDGED_LOG_LEVEL=warn")
	l := p.load(t)
	text := l.Show()
	for _, want := range []string{
		"# configuration file: " + p.opt.File + "\n", "  max_file_size: 8MiB  # default\n", "  level: warn  # environment KNOWLEDGED_LOG_LEVEL\n",
		"  min_score: 0.3  # " + p.opt.File + ":3\n", "  fusion:\n    method: score  # default\n    rrf:\n      k: 60  # default\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q in\n%s", want, text)
		}
	}
	again := newPlace(t)
	again.opt.File = again.write(t, "c.yaml", text)
	if diff := cmp.Diff(l.Config, again.load(t).Config, compareScores); diff != "" {
		t.Errorf("shown and read again (-want +got):\n%s\n%s", diff, text)
	}
	if got := newPlace(t).load(t).Show(); !strings.HasPrefix(got, "# no configuration file\n") {
		t.Error(got)
	}
	p.opt.Flags = map[string]string{"embedding.openai.base_url": "http://me:secret@host/v1"}
	if text := p.load(t).Show(); strings.Contains(text, "secret") {
		t.Error("a password is shown")
	}
}

func TestSettings_NamesAreUnique(t *testing.T) {
	c := Default()
	seen := map[string]string{}
	for _, s := range settings(&c) {
		if other, twice := seen[s.env()]; twice {
			t.Errorf("%s and %s have the variable %s", s.path, other, s.env())
		}
		seen[s.env()] = s.path
		if foreignEnv.MatchString(s.env()) || s.env() == envFile {
			t.Errorf("%s is shadowed by a variable of another meaning", s.path)
		}
		if s.enum != nil && !slices.Contains(s.enum, s.value.String()) {
			t.Errorf("%s: default %q is none of %v", s.path, s.value, s.enum)
		}
	}
}

func TestSize(t *testing.T) {
	for in, want := range map[string]Size{"8MiB": 8 << 20, "8 mib": 8 << 20, "1.5KiB": 1536, "2GB": 2e9, "500kB": 5e5, "10B": 10, "1048576": 1 << 20, "0": 0} {
		if got, err := parseSize(in); got != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "MiB", "8XB", "NaN", "1e30GiB", "inf"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("%q: %d, want an error", in, got)
		}
	}
	for _, s := range []Size{8 << 20, 1536, 2e9, 1, 0, 1 << 30, 12345678} {
		if got, err := parseSize(s.String()); got != s || err != nil {
			t.Errorf("%d shows as %s, read as %d", s, s, got)
		}
	}
}

// A fault is an error, whatever the file holds: never a panic, and the same text twice says the same.
func FuzzLoad(f *testing.F) {
	f.Add(Example())
	for _, s := range []string{"a: &a [*a]\n", "log: &l\n  level: *l\n", "<<: {log: 1}\n", "? [a]\n: b\n", "log: !!binary x\n", "lookup: {top_k: 0x10}\n", "a: b: c", "\x00", "%YAML 9\n"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(dir, fmt.Sprintf("%d.yaml", os.Getpid()))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		opt := Options{File: file, Cwd: dir, Env: []string{"HOME=/h", "XDG_RUNTIME_DIR=/r"}}
		a, errA := Load(opt)
		b, errB := Load(opt)
		if fmt.Sprint(errA) != fmt.Sprint(errB) || !reflect.DeepEqual(a, b) {
			t.Fatalf("%v, then %v", errA, errB)
		}
		if errA == nil {
			var any map[string]any
			if err := yaml.Unmarshal([]byte(a.Show()), &any); err != nil {
				t.Fatalf("shown as invalid YAML: %v\n%s", err, a.Show())
			}
		}
	})
}

func TestSettingsAreThoseOfShow(t *testing.T) {
	p := newPlace(t)
	p.opt.File = p.write(t, "c.yaml", "lookup: {top_k: 7}\nembedding: {openai: {base_url: \"http://me:secret@host/v1\"}}\nwatch: {settle: 40ms}\n")
	l := p.load(t)
	values := map[string]Setting{}
	for _, s := range l.Settings() {
		values[s.Name] = s
		if last := s.Name[strings.LastIndex(s.Name, ".")+1:]; !strings.Contains(l.Show(), last+": ") {
			t.Errorf("Show does not print %s", s.Name)
		}
	}
	if s := values["lookup.top_k"]; s.Value != 7 || !strings.HasSuffix(s.Origin, "c.yaml:1") {
		t.Errorf("%+v", s)
	}
	if s := values["watch.settle"]; s.Value != "40ms" {
		t.Errorf("%+v", s)
	}
	if s := values["embedding.openai.base_url"]; strings.Contains(s.Value.(string), "secret") {
		t.Errorf("a password is told: %+v", s)
	}
}
