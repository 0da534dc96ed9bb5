package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
)

var testEntry = mcpEntry{Command: "/opt/a b/knowledged", Args: []string{"mcp", "--base", "/n&<o>"}}

// What else a client's settings hold stays, byte for byte, and a second time changes nothing.
func TestEditJSON(t *testing.T) {
	for name, c := range map[string]struct{ old, want string }{
		"none":  {"", "{\n  \"mcpServers\": {\n    \"knowledged\": {\n      \"command\": \"/opt/a b/knowledged\",\n      \"args\": [\"mcp\", \"--base\", \"/n&<o>\"]\n    }\n  }\n}\n"},
		"other": {"{\n\t// mine\n\t\"theme\": \"dark\", /* yes */\n}", "{\n\t// mine\n\t\"theme\": \"dark\", /* yes */\n\t\"mcpServers\": {"},
		"servers": {
			"{\"n\": 1e400, \"mcpServers\": {\n    \"x\": {\"command\": \"y\"} // last\n  }}",
			"{\"n\": 1e400, \"mcpServers\": {\n    \"x\": {\"command\": \"y\"}",
		},
		"ours": {
			"{\"mcpServers\": {\"knowledged\": {\"env\": {\"A\": \"b\"}, \"args\": [\"old\"], \"command\": \"old\", \"disabled\": true}}}\n",
			"{\"mcpServers\": {\"knowledged\": {\"env\": {\"A\": \"b\"}, \"args\": [\"mcp\", \"--base\", \"/n&<o>\"], \"command\": \"/opt/a b/knowledged\", \"disabled\": true}}}\n",
		},
	} {
		edit := jsonEditor("mcpServers", false)
		out, err := edit([]byte(c.old), testEntry)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(string(out), c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, out, c.want)
		}
		if strings.Contains(c.old, "// last") && !strings.Contains(string(out), "// last") {
			t.Errorf("%s: the comment is gone:\n%s", name, out)
		}
		again, err := edit(out, testEntry)
		if err != nil || string(again) != string(out) {
			t.Errorf("%s: a second time: %v\n%s", name, err, again)
		}
		plain, err := hujson.Standardize(out)
		var v struct {
			MCPServers map[string]struct {
				Command string
				Args    []string
			} `json:"mcpServers"`
		}
		if err == nil {
			err = json.Unmarshal(plain, &v)
		}
		if got := v.MCPServers["knowledged"]; err != nil || got.Command != testEntry.Command || len(got.Args) != 3 {
			t.Errorf("%s: %v, %+v from\n%s", name, err, got, out)
		}
	}
	for _, bad := range []string{"[]", "{", `{"mcpServers": []}`, `{"mcpServers": {"knowledged": 1}}`} {
		if out, err := jsonEditor("mcpServers", true)([]byte(bad), testEntry); err == nil {
			t.Errorf("%s: %s", bad, out)
		}
	}
}

func TestEditTOML(t *testing.T) {
	ours := "[mcp_servers.knowledged]\ncommand = \"/opt/a b/knowledged\"\nargs = [\"mcp\", \"--base\", \"/n&<o>\"]\n"
	for name, c := range map[string]struct{ old, want string }{
		"none":  {"", ours},
		"other": {"model = \"m\" # mine\n[mcp_servers.x]\ncommand = \"y\"\n\n\n", "model = \"m\" # mine\n[mcp_servers.x]\ncommand = \"y\"\n\n" + ours},
		"ours": {
			"[mcp_servers.\"knowledged\"] # kd\nargs = [\n  \"a\", # one\n  \"b\",\n]\nstartup_timeout_sec = 5\ncommand = 'old'\n[mcp_servers.knowledged.env]\nA = \"b\"\n",
			"[mcp_servers.\"knowledged\"] # kd\ncommand = \"/opt/a b/knowledged\"\nargs = [\"mcp\", \"--base\", \"/n&<o>\"]\nstartup_timeout_sec = 5\n[mcp_servers.knowledged.env]\nA = \"b\"\n",
		},
		"no line end": {"[mcp_servers.knowledged]", ours},
	} {
		out, err := editTOML([]byte(c.old), testEntry)
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, out, c.want)
			continue
		}
		if again, err := editTOML(out, testEntry); err != nil || string(again) != string(out) {
			t.Errorf("%s: a second time: %v\n%s", name, err, again)
		}
		if err := toml.Unmarshal(out, &map[string]any{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"x", "mcp_servers = {}\n", "[mcp_servers]\nknowledged = {command = \"c\"}\n", "text = \"\"\"\n[mcp_servers.knowledged]\n\"\"\"\n"} {
		if out, err := editTOML([]byte(bad), testEntry); err == nil {
			t.Errorf("%s: %s", bad, out)
		}
	}
}
