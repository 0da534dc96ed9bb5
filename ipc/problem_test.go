package ipc

import (
	"errors"
	"fmt"
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

// Two disks may be full, and only one of them is the documents'.
func TestFullDisksAreToldApart(t *testing.T) {
	for err, want := range map[error]string{
		fmt.Errorf("%w (save a.md)", ErrNoSpace): "for this document", fmt.Errorf("%w (index a.md)", ErrStateFull): "in the state folder",
	} {
		if p := problemOf(err); p.Status != 507 || !strings.Contains(p.Detail, want) || !errors.Is(err, ErrNoSpace) {
			t.Errorf("%v: %d %s", err, p.Status, p.Detail)
		}
	}
}
