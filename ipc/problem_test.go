package ipc

import (
	"errors"
	"strings"
	"testing"
)

// A sentence begins with a capital, a name stays as it is.
func TestProblemsKeepNames(t *testing.T) {
	const name = "ops/a.md"
	for _, err := range []error{
		&ExistsError{Record: Record{Source: name}}, &ExistsError{Record: Record{Source: name}, Alike: true},
		&MissingError{Path: name, Err: errors.New("gone")}, &InvalidError{Field: name, Message: "is ignored"},
	} {
		if p := problemOf(err); !strings.Contains(p.Detail, name) {
			t.Errorf("%T: %s", err, p.Detail)
		}
	}
}
