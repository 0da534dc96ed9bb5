package config

import (
	"fmt"
	"strings"
	"testing"
)

// API.md: a wrong type is an error naming file and line. What a number or a switch may stand for is taken.
func TestLoad_NumbersAndSwitchesAreNoTexts(t *testing.T) {
	refused := func(setting, what, value string) string {
		return fmt.Sprintf(`c.yaml:2: %s: a text is needed, not %s (if that is meant, put it in quotes: "%s")`, setting, what, value)
	}
	for _, c := range []struct{ yaml, want string }{
		{"knowledge:\n  base_path: 5", refused("knowledge.base_path", "the number 5", "5")},
		{"knowledge:\n  base_path: -1.5e3", refused("knowledge.base_path", "the number -1.5e3", "-1.5e3")},
		{"ipc:\n  socket: true", refused("ipc.socket", "true", "true")},
		{"ipc:\n  token_file: off", refused("ipc.token_file", "off", "off")},
		{"\nstate_dir: No", refused("state_dir", "No", "No")},
		{"l1:\n  milvus: {username: 0x1F, password_file: p}", refused("l1.milvus.username", "the number 0x1F", "0x1F")},
		{"l1:\n  milvus: {collection: yes}", refused("l1.milvus.collection", "yes", "yes")},
		{"l1:\n  milvus: {ca_file: FALSE}", refused("l1.milvus.ca_file", "FALSE", "FALSE")},
		{"embedding: {openai: {\n  model: 404}}", refused("embedding.openai.model", "the number 404", "404")},
		{"embedding: {openai: {\n  query_prefix: 1}}", refused("embedding.openai.query_prefix", "the number 1", "1")},
		{"\nx: &x 7\nstate_dir: *x", "c.yaml:2: x: unknown setting\n" + refused("state_dir", "the number 7", "7")},

		// Those say by themselves what they take.
		{"ipc:\n  http: 7420", `c.yaml:2: ipc.http: "7420" is neither an address such as 127.0.0.1:7420 nor off`},
		{"ipc:\n  http: true", `c.yaml:2: ipc.http: "true" is neither an address such as 127.0.0.1:7420 nor off`},
		{"l1: {milvus: {\n  address: 19530}}", `c.yaml:2: l1.milvus.address: "19530" is not an address such as 127.0.0.1:19530`},
		{"embedding: {openai: {\n  base_url: true}}", `c.yaml:2: embedding.openai.base_url: "true" is not a URL such as http://127.0.0.1:11434/v1`},
		{"log:\n  level: 5", `c.yaml:2: log.level: "5" is not one of debug, info, warn, error`},
		{"l1:\n  backend: true", `c.yaml:2: l1.backend: "true" is not one of embedded, milvus, off`},
		{"lookup:\n  min_score: true", `c.yaml:2: lookup.min_score: "true" is neither auto nor a number`},

		{"ipc: {http: off}", ""},
		{"ipc: {http: false}", ""},
		{"l1: {backend: off}", ""},
		{"l1: {backend: false}", ""},
		{"lookup: {min_score: 1, always_semantic: on}", ""},
		{"lookup: {min_score: 0.5, always_semantic: no}", ""},
		{"lookup: {min_score: auto}", ""},
		{"knowledge: {max_file_size: 1048576, base_path: \"5\"}", ""},
		{"knowledge: {base_path: 'true'}", ""},
		{"knowledge: {base_path: !!str 5}", ""},
		{"knowledge: {base_path: !!str yes}", ""},
		{"knowledge: {base_path: 2024-01-31}", ""},
		{"knowledge: {base_path: 5 kb}", ""},
		{"knowledge:\n  base_path: >-\n    on\n", ""},
		{"ipc: {socket: null, token_file: ~}", ""},
		{"embedding: {openai: {query_body: {a: 1, b: true, c: no}, dimensions: 512}}", ""},
	} {
		t.Run(c.yaml, func(t *testing.T) {
			p := newPlace(t)
			p.opt.File = p.write(t, "c.yaml", c.yaml+"\n")
			if c.want == "" {
				p.load(t)
			} else if got := strings.Join(p.faults(t), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	// A flag and a variable are text as such.
	p := newPlace(t)
	p.opt.Env = append(p.opt.Env, "KNOWLEDGED_EMBEDDING_OPENAI_MODEL=404")
	p.opt.Flags = map[string]string{"knowledge.base_path": "5"}
	p.load(t)
}
