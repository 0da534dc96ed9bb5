package config

import (
	"cmp"
	"fmt"
	"slices"
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
	l := load(opt)
	if len(l.problems) > 0 {
		return nil, l.faults()
	}
	return &l.Loaded, nil
}

func load(opt Options) *loader {
	l := newLoader(opt)
	l.readFile()
	l.readEnv()
	l.readFlags()
	l.resolve()
	l.validate()
	return l
}

func newLoader(opt Options) *loader {
	l := &loader{
		Loaded: Loaded{Config: Default(), Origins: map[string]Origin{}}, opt: opt, env: environment(opt.Env),
		unread: map[string]bool{}, meant: map[string]bool{},
	}
	l.settings = settings(&l.Config)
	for _, s := range l.settings {
		l.Origins[s.path] = Origin{Kind: FromDefault}
	}
	return l
}

type loader struct {
	Loaded
	opt      Options
	env      map[string]string
	settings []*setting
	problems []Problem

	// What is known of the values, so that all faults are told in one go and none that only follows from another.
	unread   map[string]bool // settings whose value could not be read, by path
	meant    map[string]bool // settings that an unknown name probably stands for
	fileLost bool            // the file, or what follows a fault of its syntax, could not be read
}

func (l *loader) find(path string) *setting {
	for _, s := range l.settings {
		if s.path == path {
			return s
		}
	}
	return nil
}

// known tells whether the values of all these settings are those that their author meant. Others are not worth judging.
func (l *loader) known(paths ...string) bool {
	for _, path := range paths {
		unset := l.Origins[path].Kind == FromDefault
		if l.unread[path] || unset && (l.meant[path] || l.fileLost) {
			return false
		}
	}
	return true
}

// problem notes a fault of a setting's value, and of others it is compared with, at the place it was written.
func (l *loader) problem(path, format string, args ...any) {
	l.problems = append(l.problems, Problem{Origin: l.Origins[path], Setting: path, Message: fmt.Sprintf(format, args...)})
}

// set notes where a value is written and whether it could be read there.
func (l *loader) set(s *setting, o Origin, at Origin, err error) {
	l.Origins[s.path] = o
	l.unread[s.path] = err != nil
	if err != nil {
		l.problemAt(at, s.path, "%v", err)
	}
}

// lost notes that the settings of a section could not be read.
func (l *loader) lost(section string, of map[string]bool) {
	for _, s := range l.settings {
		if s.path == section || section == "" || strings.HasPrefix(s.path, section+".") {
			of[s.path] = true
		}
	}
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
		l.set(s, o, o, s.setText(l.opt.Flags[path]))
	}
}

// faults is all problems in the order of the file's lines; what is written elsewhere follows.
func (l *loader) faults() *Error {
	rank := func(p Problem) int {
		return slices.Index([]string{FromFile, FromDefault, FromEnv, FromFlag}, p.Origin.Kind)
	}
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Origin.Line, b.Origin.Line))
	})
	return &Error{Problems: l.problems}
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
