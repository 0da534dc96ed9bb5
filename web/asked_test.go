package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"knowledged/lookup"
)

// moody refuses lookups until it does not. Nothing else of it is asked.
type moody struct {
	backend
	refuses bool
	counted int
}

func (m *moody) Lookup(_ context.Context, req lookup.Request) (*lookup.Answer, error) {
	if m.refuses {
		return nil, errors.New("not now")
	}
	if !req.Preview {
		m.counted++
	}
	return &lookup.Answer{}, nil
}

// SPEC 7.2: a lookup that failed is in no history, so the next try is; and what was refused, as long as it may be, is not kept.
func TestFailedLookupsAreForgotten_7_2(t *testing.T) {
	for what, ask := range map[string]func(*Server, http.ResponseWriter, *http.Request) error{"page": (*Server).search, "typed": (*Server).record} {
		m := &moody{refuses: true}
		s, err := New(Config{Backend: m, HasToken: func() bool { return false }}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		once := func() error {
			r := httptest.NewRequest(http.MethodGet, "/?q="+strings.Repeat("x", 9000), nil)
			r.Header.Set("HX-Request", "true")
			return ask(s, httptest.NewRecorder(), r)
		}
		if err := once(); err == nil || len(s.asked.last) != 0 {
			t.Errorf("%s: %v, and %d kept", what, err, len(s.asked.last))
		}
		m.refuses = false
		for range 2 {
			if err := once(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if m.counted != 1 {
			t.Errorf("%s: in the history %d times", what, m.counted)
		}
	}
}
