package config

import (
	"fmt"
	"strings"
)

// Options say where to load from. Nothing else is read: not the process's own environment, nor its working directory.
type Options struct {
	File  string            // of --config; "" searches the usual places
	Env   []string          // as of os.Environ
	Flags map[string]string // path of a setting → value, as text
	Cwd   string            // the working directory
}

// Loaded is a configuration with where each value came from.
type Loaded struct {
	Config  Config
	File    string            // the file that was read, absolute; "" if there is none
	Origins map[string]Origin // path of a setting → origin, for all settings
}

// Origin is the place a value was written at.
type Origin struct {
	Kind string // default, file, environment, flag
	Name string // the file or the variable
	Line int    // in the file, 1-based
}

// Kinds of origins.
const (
	FromDefault = "default"
	FromFile    = "file"
	FromEnv     = "environment"
	FromFlag    = "flag"
)

func (o Origin) String() string {
	switch o.Kind {
	case FromFile:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case FromEnv:
		return o.Kind + " " + o.Name
	}
	return o.Kind
}

// Load reads the configuration: flags go before environment, that before the file, that before the defaults. The error is
// an *Error with every fault found.
func Load(opt Options) (*Loaded, error) {
	l := &loader{Loaded: Loaded{Config: Default(), Origins: map[string]Origin{}}, opt: opt, env: environment(opt.Env)}
	l.settings = settings(&l.Config)
	for _, s := range l.settings {
		l.Origins[s.path] = Origin{Kind: FromDefault}
	}
	l.readFile()
	l.readEnv()
	l.readFlags()
	if len(l.problems) == 0 {
		// Only values that could be read are worth judging.
		l.resolve()
		l.validate()
	}
	if len(l.problems) > 0 {
		return nil, &Error{Problems: l.problems}
	}
	return &l.Loaded, nil
}

type loader struct {
	Loaded
	opt      Options
	env      map[string]string
	settings []*setting
	problems []Problem
}

func (l *loader) find(path string) *setting {
	for _, s := range l.settings {
		if s.path == path {
			return s
		}
	}
	return nil
}

// problem notes a fault of a setting at the place its value was written.
func (l *loader) problem(path, format string, args ...any) {
	l.problems = append(l.problems, Problem{Origin: l.Origins[path], Setting: path, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) problemAt(o Origin, setting, format string, args ...any) {
	l.problems = append(l.problems, Problem{Origin: o, Setting: setting, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) readFlags() {
	for _, path := range sortedKeys(l.opt.Flags) {
		o := Origin{Kind: FromFlag}
		s := l.find(path)
		if s == nil {
			l.problemAt(o, path, "unknown setting%s", l.suggest(path))
			continue
		}
		l.Origins[path] = o
		if err := s.setText(l.opt.Flags[path]); err != nil {
			l.problem(path, "%v", err)
		}
	}
}

// Problem is one fault of a configuration.
type Problem struct {
	Origin  Origin
	Setting string // "" if it concerns the whole file
	Message string
}

func (p Problem) String() string {
	parts := []string{p.Message}
	if p.Setting != "" {
		parts = []string{p.Setting, p.Message}
	}
	if p.Origin.Kind != FromDefault {
		parts = append([]string{p.Origin.String()}, parts...)
	}
	return strings.Join(parts, ": ")
}

// Error is all faults of a configuration.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d faults in the configuration:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}
