package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
)

// jsonEditor edits settings in JSON, with comments or without, whose servers are an object under key. Only our own entry's
// command and arguments change: its other members (an environment, say) are the user's.
func jsonEditor(key string, typed bool) func([]byte, mcpEntry) ([]byte, error) {
	return func(old []byte, entry mcpEntry) ([]byte, error) {
		if len(bytes.TrimSpace(old)) == 0 {
			old = []byte("{}\n")
		}
		root, err := hujson.Parse(old)
		if err != nil {
			return nil, fmt.Errorf("read it: %w", err)
		}
		fields := [][2]any{{"command", entry.Command}, {"args", entry.Args}}
		if typed {
			fields = append([][2]any{{"type", "stdio"}}, fields...)
		}
		servers, err := child(&root, key, 1)
		if err != nil {
			return nil, err
		}
		ours, err := child(servers, serverName, 2)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			if err := setMember(ours, f[0].(string), f[1], 3); err != nil {
				return nil, err
			}
		}
		return root.Pack(), nil
	}
}

// child is the object under a name, made if need be.
func child(v *hujson.Value, name string, depth int) (*hujson.Value, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("what should hold %q is not an object", name)
	}
	if i := memberOf(object, name); i >= 0 {
		found := &object.Members[i].Value
		if _, ok := found.Value.(*hujson.Object); !ok {
			return nil, fmt.Errorf("%q is not an object", name)
		}
		return found, nil
	}
	return addMember(object, name, &hujson.Object{}, depth), nil
}

func memberOf(object *hujson.Object, name string) int {
	for i, m := range object.Members {
		if l, ok := m.Name.Value.(hujson.Literal); ok && l.String() == name {
			return i
		}
	}
	return -1
}

// addMember appends on a line of its own, indented as the members before it, else by two blanks a level.
func addMember(object *hujson.Object, name string, value hujson.ValueTrimmed, depth int) *hujson.Value {
	indent, end := "\n"+strings.Repeat("  ", depth), "\n"+strings.Repeat("  ", depth-1)
	if len(object.Members) > 0 {
		first := string(object.Members[0].Name.BeforeExtra)
		if i := strings.LastIndexByte(first, '\n'); i >= 0 {
			indent, end = first[i:], string(object.AfterExtra)
			if j := strings.LastIndexByte(end, '\n'); j >= 0 {
				end = end[j:]
			}
		}
	}
	member := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(indent), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	// A comment behind the last member is in the object's tail: it goes before the new one, where it was.
	if tail := strings.TrimRight(string(object.AfterExtra), " \t\r\n"); tail != "" && len(object.Members) > 0 {
		member.Name.BeforeExtra = hujson.Extra(tail + indent)
	}
	object.Members = append(object.Members, member)
	object.AfterExtra = hujson.Extra(end)
	return &object.Members[len(object.Members)-1].Value
}

// setMember replaces a member's value unless it is equal already.
func setMember(v *hujson.Value, name string, value any, depth int) error {
	object := v.Value.(*hujson.Object) // child has looked
	data, err := marshalPlain(value)
	if err != nil {
		return err
	}
	parsed, err := hujson.Parse(data)
	if err != nil {
		return err
	}
	i := memberOf(object, name)
	if i < 0 {
		addMember(object, name, parsed.Value, depth)
		return nil
	}
	old := object.Members[i].Value.Clone()
	old.BeforeExtra, old.AfterExtra = nil, nil
	old.Standardize()
	var was, is any
	if json.Unmarshal(old.Pack(), &was) == nil && json.Unmarshal(data, &is) == nil && reflect.DeepEqual(was, is) {
		return nil
	}
	object.Members[i].Value.Value = parsed.Value
	return nil
}

// marshalPlain leaves < and & in paths as they are, and blanks between items.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	items, isList := v.([]string)
	if !isList {
		err := enc.Encode(v)
		return bytes.TrimSpace(b.Bytes()), err
	}
	parts := make([]string, len(items))
	for i, item := range items {
		b.Reset()
		if err := enc.Encode(item); err != nil {
			return nil, err
		}
		parts[i] = strings.TrimSpace(b.String())
	}
	return []byte("[" + strings.Join(parts, ", ") + "]"), nil
}

var (
	tomlHeader = regexp.MustCompile(`^\s*\[\s*mcp_servers\s*\.\s*(?:knowledged|"knowledged"|'knowledged')\s*\]\s*(?:#.*)?$`)
	anyHeader  = regexp.MustCompile(`^\s*\[`)
	inlineOnes = regexp.MustCompile(`(?m)^\s*mcp_servers\s*=`) // closed: no table may add to it, though the library lets it
	ourKeys    = regexp.MustCompile(`^\s*(?:command|args)\s*=`)
)

// editTOML edits Codex's settings line by line: no TOML library writes comments back. What comes out is read again and must
// say the same of everything else.
func editTOML(old []byte, entry mcpEntry) ([]byte, error) {
	var before map[string]any
	if err := toml.Unmarshal(old, &before); err != nil {
		return nil, fmt.Errorf("read it: %w", err)
	}
	if same(before, entry) {
		return old, nil
	}
	args, err := marshalPlain(entry.Args)
	if err != nil {
		return nil, err
	}
	command, err := marshalPlain(entry.Command)
	if err != nil {
		return nil, err
	}
	ours := fmt.Sprintf("command = %s\nargs = %s\n", command, args) // JSON's strings are TOML's
	text, err := replaceTable(string(old), ours)
	if err != nil {
		return nil, err
	}
	var after map[string]any
	if err := toml.Unmarshal([]byte(text), &after); err != nil || inlineOnes.MatchString(text) || !same(after, entry) || !reflect.DeepEqual(without(before), without(after)) {
		return nil, errors.New("its [mcp_servers] cannot be edited line by line")
	}
	return []byte(text), nil
}

// replaceTable puts our two lines under our header, or header and lines at the end.
func replaceTable(old, ours string) (string, error) {
	var out strings.Builder
	lines := strings.SplitAfter(old, "\n")
	found := false
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i])
		if found || !tomlHeader.MatchString(strings.TrimRight(lines[i], "\r\n")) {
			continue
		}
		found = true
		if !strings.HasSuffix(lines[i], "\n") {
			out.WriteString("\n")
		}
		out.WriteString(ours)
		for i+1 < len(lines) && !anyHeader.MatchString(lines[i+1]) {
			i++
			if !ourKeys.MatchString(lines[i]) {
				out.WriteString(lines[i])
				continue
			}
			value := lines[i] // of several lines, perhaps
			for toml.Unmarshal([]byte(value), &map[string]any{}) != nil && i+1 < len(lines) {
				i++
				value += lines[i]
			}
		}
	}
	if found {
		return out.String(), nil
	}
	text := strings.TrimRight(old, "\n")
	if text != "" {
		text += "\n\n"
	}
	return text + "[mcp_servers." + serverName + "]\n" + ours, nil
}

// same reports whether the settings start us as entry says.
func same(settings map[string]any, entry mcpEntry) bool {
	servers, _ := settings["mcp_servers"].(map[string]any)
	ours, _ := servers[serverName].(map[string]any)
	args, _ := ours["args"].([]any)
	if ours["command"] != entry.Command || len(args) != len(entry.Args) {
		return false
	}
	for i, a := range args {
		if a != entry.Args[i] {
			return false
		}
	}
	return true
}

// without is the settings less what we write: a table of ours that held nothing else is none.
func without(settings map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range settings {
		out[k] = v
	}
	servers, ok := settings["mcp_servers"].(map[string]any)
	if !ok {
		return out
	}
	rest := map[string]any{}
	for name, server := range servers {
		if table, ok := server.(map[string]any); ok && name == serverName {
			kept := map[string]any{}
			for k, v := range table {
				if k != "command" && k != "args" {
					kept[k] = v
				}
			}
			if len(kept) == 0 {
				continue
			}
			server = kept
		}
		rest[name] = server
	}
	if delete(out, "mcp_servers"); len(rest) > 0 {
		out["mcp_servers"] = rest
	}
	return out
}
