package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	envPrefix = "KNOWLEDGED_"
	envFile   = "KNOWLEDGED_CONFIG" // stands in for --config
)

// foreignEnv matches what Kubernetes and Docker links put into every container beside a service named "knowledged".
var foreignEnv = regexp.MustCompile(`^KNOWLEDGED_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_.*)?|NAME|ENV_.*)$`)

func environment(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, kv := range list {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	return env
}

// readEnv sets what KNOWLEDGED_… variables hold. An empty one counts as not set, as usual in container files.
func (l *loader) readEnv() {
	byName := map[string]*setting{}
	for _, s := range l.settings {
		byName[s.env()] = s
	}
	for _, name := range sortedKeys(l.env) {
		value := l.env[name]
		if !strings.HasPrefix(name, envPrefix) || name == envFile || value == "" {
			continue
		}
		o := Origin{Kind: FromEnv, Name: name}
		s := byName[name]
		switch {
		case s != nil:
			l.set(s, o, o, s.setText(value))
		case !foreignEnv.MatchString(name):
			near := nearest(name, slices.Collect(maps.Keys(byName)))
			if near != "" {
				l.meant[byName[near].path] = true
			}
			l.problemAt(o, "", "no such setting%s", hint(near))
		}
	}
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
