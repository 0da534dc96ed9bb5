package config

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed example.yaml
var example string

// Example is a configuration file with every setting, its default and what it does.
func Example() string { return example }

// Show renders the effective settings as YAML, each with where it came from.
func (l *Loaded) Show() string {
	var b strings.Builder
	if l.File == "" {
		b.WriteString("# no configuration file\n")
	} else {
		fmt.Fprintf(&b, "# configuration file: %s\n", l.File)
	}
	c := l.Config
	var open []string // the sections that the last line stood in
	for _, s := range settings(&c) {
		parts := strings.Split(s.path, ".")
		sections := parts[:len(parts)-1]
		for i, name := range sections {
			if i >= len(open) || open[i] != name {
				fmt.Fprintf(&b, "%s%s:\n", indent(i), name)
				open = append(open[:i:i], name)
			}
		}
		open = open[:len(sections)]
		fmt.Fprintf(&b, "%s%s: %s  # %s\n", indent(len(sections)), parts[len(parts)-1], s.show(), l.Origins[s.path])
	}
	return b.String()
}

// Setting is one setting as it is in force.
type Setting struct {
	Name   string `json:"name"`  // as in the file, with dots
	Value  any    `json:"value"` // a text, number, truth or mapping; durations and sizes as texts
	Origin string `json:"origin"`
}

// Settings lists what Show prints.
func (l *Loaded) Settings() (all []Setting) {
	c := l.Config
	for _, s := range settings(&c) {
		var value any
		switch v := s.value.Interface().(type) {
		case bool, int, float64, map[string]any:
			value = v
		case string:
			value = redacted(v)
		default:
			value = s.show()
		}
		all = append(all, Setting{s.path, value, l.Origins[s.path].String()})
	}
	return all
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// show writes the value so that it can be read again. The password in a URL is left out.
func (s *setting) show() string {
	switch v := s.value.Interface().(type) {
	case string:
		return scalar(redacted(v))
	case float64:
		return formatFloat(v)
	case map[string]any:
		data, err := json.Marshal(v)
		if err != nil { // keys of nested mappings that are no texts
			return scalar(fmt.Sprint(v))
		}
		return string(data)
	default:
		return fmt.Sprint(v)
	}
}

// redacted leaves out the password in a URL.
func redacted(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil && u.Host != "" {
		return u.Redacted()
	}
	return text
}

// scalar quotes a text where YAML needs it.
func scalar(s string) string {
	if strings.ContainsAny(s, "\n\r\t") || s == "" {
		data, _ := json.Marshal(s) // a string always has a JSON form
		return string(data)
	}
	data, err := yaml.Marshal(s)
	if err != nil {
		return s
	}
	return strings.TrimRight(string(data), "\n")
}
