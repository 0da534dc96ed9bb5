package ipc

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// SPEC 5.1: what is refused as too large is told with its size, where that is known, and the limit.
func TestTooLargeSaysTheLimit_5_1(t *testing.T) {
	for want, err := range map[string]error{
		"accepted here: it has 12 bytes, the limit is 10.": fmt.Errorf("upload: %w", &TooLargeError{Size: 12, Limit: 10}),
		"accepted here: the limit is 10 bytes.":            &http.MaxBytesError{Limit: 10},
	} {
		if p := problemOf(err); p.Status != http.StatusRequestEntityTooLarge || !strings.HasSuffix(p.Detail, want) {
			t.Errorf("%v: %+v, want %q", err, p, want)
		}
	}
}
