package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxFile bounds what is read of a configuration file. It has a hundred lines, not a million.
const maxFile = 1 << 20

// readFile finds the file, reads it and sets what it holds.
func (l *loader) readFile() {
	for _, name := range l.candidates() {
		data, err := readLimited(name)
		if l.opt.File == "" && (errors.Is(err, fs.ErrNotExist) || l.hidden(name)) {
			continue
		}
		l.File = name
		if err != nil {
			var pe *fs.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			l.fileLost = true
			l.problems = append(l.problems, Problem{Message: fmt.Sprintf("read configuration file %s: %v", name, err), Origin: Origin{Kind: FromDefault}})
			return
		}
		l.readYAML(data)
		return
	}
}

func (l *loader) candidates() []string {
	if l.opt.File != "" {
		return []string{l.absolute(l.opt.File, l.opt.Cwd)}
	}
	if name := l.env[envFile]; name != "" {
		l.opt.File = name // as if it had been a flag: it must exist
		return []string{l.absolute(name, l.opt.Cwd)}
	}
	list := []string{filepath.Join(l.opt.Cwd, "knowledged.yaml")}
	if dir := l.configHome(); dir != "" {
		list = append(list, filepath.Join(dir, "knowledged", "config.yaml"))
	}
	return append(list, systemFile)
}

// hidden tells of a file in a working directory that the caller may not look into. Who is there did not choose the file.
func (l *loader) hidden(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrPermission) && filepath.Dir(name) == filepath.Clean(l.opt.Cwd)
}

func readLimited(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("more than %d bytes", maxFile)
	}
	return data, err
}

func (l *loader) readYAML(data []byte) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return
	}
	if err == nil && len(doc.Content) > 0 {
		l.section("", doc.Content[0])
		if err = dec.Decode(&second); err == nil {
			l.problemAt(l.at(&second), "", "a second YAML document; only one is read")
			return
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		line := l.syntax(err)
		if len(doc.Content) == 0 {
			l.fileLost = true
			l.before(data, line)
		}
	}
}

// before reads what stands above a fault of syntax, if that is whole: its faults can be told as well.
func (l *loader) before(data []byte, line int) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	var doc yaml.Node
	if err := yaml.Unmarshal(bytes.Join(lines[:min(max(line-1, 0), len(lines))], nil), &doc); err == nil && len(doc.Content) > 0 {
		l.section("", doc.Content[0])
	}
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax tells of broken YAML, and gives the line. yaml.v3 names it in the text of its error only.
func (l *loader) syntax(err error) int {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	o := Origin{Kind: FromFile, Name: l.File, Line: 1}
	if m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			o.Line = n
		}
	}
	if strings.Contains(text, "cannot start any token") {
		text += " (a tab? YAML is indented by blanks)"
	}
	l.problemAt(o, "", "not valid YAML: %s", text)
	return o.Line
}

// section reads a mapping whose keys continue prefix, which is "" or ends in a dot.
func (l *loader) section(prefix string, n *yaml.Node) {
	n = target(n)
	if isNull(n) {
		return // a section with all its lines commented out
	}
	if n.Kind != yaml.MappingNode {
		section := strings.TrimSuffix(prefix, ".")
		l.lost(section, l.unread)
		l.problemAt(l.at(n), section, "a mapping of settings is needed, not %s", kindName(n))
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		path := prefix + key.Value
		if first, twice := lines[key.Value]; twice {
			l.problemAt(l.at(key), path, "set twice, first on line %d", first)
			continue
		}
		lines[key.Value] = key.Line
		l.entry(path, key, value)
	}
}

func (l *loader) entry(path string, key, value *yaml.Node) {
	s := l.find(path)
	value = target(value)
	switch {
	case s == nil && l.isSection(path):
		l.section(path+".", value)
	case s == nil:
		l.problemAt(l.at(key), path, "unknown setting%s", l.suggest(path))
	case isNull(value):
		// Nothing after the colon: the default stays.
	default:
		l.set(s, l.at(key), l.at(value), s.setNode(value))
	}
}

func (l *loader) isSection(path string) bool {
	for _, s := range l.settings {
		if strings.HasPrefix(s.path, path+".") {
			return true
		}
	}
	return false
}

func (l *loader) at(n *yaml.Node) Origin {
	return Origin{Kind: FromFile, Name: l.File, Line: max(n.Line, 1)}
}

// target follows an alias to the node it stands for.
func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
