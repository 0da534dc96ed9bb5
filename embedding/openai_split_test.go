package embedding

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// badIf answers a call with one of the bad texts in it in its own way, and others as it should.
func (s *fakeServer) badIf(bad func(text string) bool, answer func(w http.ResponseWriter, texts []string)) {
	s.set(func(w http.ResponseWriter, _ *http.Request, texts []string) bool {
		if !slices.ContainsFunc(texts, bad) {
			return false
		}
		answer(w, texts)
		return true
	})
}

// data writes an answer of these vectors of Hash.
func (s *fakeServer) data(w http.ResponseWriter, texts []string, index func(i int) any) {
	hash := Hash{Dims: int(s.dims.Load())}
	items := []map[string]any{}
	for i, text := range texts {
		item := map[string]any{"embedding": hash.encode(text)}
		if at := index(i); at != nil {
			item["index"] = at
		}
		items = append(items, item)
	}
	json.NewEncoder(w).Encode(map[string]any{"data": items})
}

// wantWhole fails unless there was one call of so many texts, and at most the control besides.
func (s *fakeServer) wantWhole(t *testing.T, texts int) {
	t.Helper()
	calls := s.take()
	if len(calls[0].texts) != texts || len(calls) > 2 || len(calls) == 2 && !slices.Equal(calls[1].texts, []string{controlText}) {
		t.Errorf("calls %+v", calls)
	}
}

// SPEC 3.5: a text for which the server gives an answer of no use costs its neighbours nothing, and is the one blamed.
func TestOpenAINeighboursOfAnOddAnswer_3_5(t *testing.T) {
	texts := numbered(20)
	isBad := func(text string) bool { return text == texts[13] }
	in := func(i int) any { return i }
	for name, answer := range map[string]func(s *fakeServer, w http.ResponseWriter, texts []string){
		"left out": func(s *fakeServer, w http.ResponseWriter, texts []string) {
			s.data(w, slices.DeleteFunc(slices.Clone(texts), isBad), in)
		},
		"left out without index": func(s *fakeServer, w http.ResponseWriter, texts []string) {
			s.data(w, slices.DeleteFunc(slices.Clone(texts), isBad), func(int) any { return nil })
		},
		"two for one": func(s *fakeServer, w http.ResponseWriter, texts []string) {
			s.data(w, append(slices.Clone(texts), texts[0]), in)
		},
		"index of another": func(s *fakeServer, w http.ResponseWriter, texts []string) {
			s.data(w, texts, func(i int) any { return i + 7 })
		},
		"index is a word": func(s *fakeServer, w http.ResponseWriter, texts []string) {
			s.data(w, texts, func(int) any { return "first" })
		},
		"cut JSON": func(_ *fakeServer, w http.ResponseWriter, _ []string) {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[0.1,`)
		},
		"HTML": func(_ *fakeServer, w http.ResponseWriter, _ []string) { fmt.Fprint(w, "<html>Blocked</html>") },
		"cut by length": func(_ *fakeServer, w http.ResponseWriter, _ []string) {
			w.Header().Set("Content-Length", "999")
			fmt.Fprint(w, `{"data":[`)
		},
		"cut in chunks": func(_ *fakeServer, w http.ResponseWriter, _ []string) {
			fmt.Fprint(w, `{"data":[`)
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"without end": func(_ *fakeServer, w http.ResponseWriter, _ []string) {
			w.Write(make([]byte, 64<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, nil)
			s.badIf(isBad, func(w http.ResponseWriter, texts []string) { answer(s, w, texts) })
			got, err := o.EmbedPassages(t.Context(), passages(texts...))
			wantVectors(t, s, texts, got, err, 13)
			if n := len(s.take()); n > 13 { // one to learn the length, one of 20, the control, and two each of 10, 5, 2 or 3, 1 or 2, 1
				t.Errorf("%d calls", n)
			}
		})
	}
}

// An index that is wrong in every batch says nothing where there is one text, so these go alone.
func TestOpenAIOddIndexOfBatches(t *testing.T) {
	for name, index := range map[string]func(i int) any{
		"twice": func(int) any { return 0 },
		"some": func(i int) any {
			if i%2 == 0 {
				return nil
			}
			return i
		},
		"gap": func(i int) any { return 2 * i },
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, nil)
			s.set(func(w http.ResponseWriter, _ *http.Request, texts []string) bool {
				s.data(w, texts, index)
				return true
			})
			texts := numbered(5)
			got, err := o.EmbedPassages(t.Context(), passages(texts...))
			wantVectors(t, s, texts, got, err)
		})
	}
}

// Routers answer 200 with the error of the server behind them: it counts as if it had come with its own status.
func TestOpenAIErrorInside200(t *testing.T) {
	t.Run("of a text", func(t *testing.T) {
		s := newFakeServer(t)
		o, _ := newOpenAI(t, s, nil)
		for _, body := range []string{
			`{"error":{"code":400,"message":"input refused"}}`,
			`{"error":{"code":"400","message":"input refused"},"data":[]}`,
			`{"error":{"message":"input refused"}}`,
			`{"code":422,"message":"input refused","data":null}`,
			`{"detail":"input refused"}`,
		} {
			texts := numbered(9)
			s.badIf(func(text string) bool { return text == texts[4] }, func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, body) })
			got, err := o.EmbedPassages(t.Context(), passages(texts...))
			wantVectors(t, s, texts, got, err, 4)
			if !strings.Contains(err.Error(), "input refused") {
				t.Errorf("%s: %v", body, err)
			}
		}
	})
	t.Run("too long", func(t *testing.T) {
		s := newFakeServer(t)
		o, _ := newOpenAI(t, s, nil)
		long := strings.Repeat("a long text. ", 100)
		for _, body := range []string{
			`{"error":{"code":400,"message":"no"}}`,
			`{"error":{"message":"This model's maximum context length is 512 tokens"}}`,
		} {
			s.badIf(func(text string) bool { return len(text) > 700 }, func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, body) })
			got, err := o.EmbedPassages(t.Context(), passages("a", long, "b"))
			wantVectors(t, s, []string{"a", long[:650], "b"}, got, err)
		}
	})
	t.Run("of the server", func(t *testing.T) {
		s := newFakeServer(t)
		o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 16 })
		texts := numbered(9)
		for _, code := range []string{"401", "429", "503", `"503"`} {
			body := `{"error":{"code":` + code + `,"message":"not now"}}`
			s.badIf(func(text string) bool { return text == texts[4] }, func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, body) })
			_, err := o.EmbedPassages(t.Context(), passages(texts...))
			var failed *PassageErrors
			if err == nil || errors.As(err, &failed) || !strings.Contains(err.Error(), "not now") {
				t.Errorf("%s: %v", code, err)
			}
			s.wantWhole(t, 9)
			o.batch.Store(32)
		}
	})
}

// A worker that dies of a text cuts the connection; the server lives on, as the control text shows.
func TestOpenAIConnectionCutAtAText(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, nil)
	texts := numbered(9)
	s.badIf(func(text string) bool { return text == texts[4] }, func(http.ResponseWriter, []string) { panic(http.ErrAbortHandler) })
	got, err := o.EmbedPassages(t.Context(), passages(texts...))
	wantVectors(t, s, texts, got, err, 4)
}

// Statuses that do not tell the server from the text are the text's where a harmless one passes: a firewall answers 403 to
// an example of SQL injection.
func TestOpenAIStatusOfOneText(t *testing.T) {
	for _, status := range []int{400, 403, 406, 409, 413, 415, 422, 451, 500} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, nil)
			texts := numbered(9)
			s.refuseIf(status, "<h1>Request blocked</h1>", func(text string) bool { return text == texts[4] })
			got, err := o.EmbedPassages(t.Context(), passages(texts...))
			wantVectors(t, s, texts, got, err, 4)
		})
	}
}

// SPEC 3.6: a server that cannot, or does not want to, is not asked for the halves.
func TestOpenAIServerFaultsAreNotSplit_3_6(t *testing.T) {
	for _, status := range []int{308, 401, 402, 404, 405, 408, 425, 429, 501, 502, 503, 504, 529} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 16 })
			texts := numbered(9)
			s.refuseIf(status, "no", func(text string) bool { return text == texts[4] })
			_, err := o.EmbedPassages(t.Context(), passages(texts...))
			var failed *PassageErrors
			if err == nil || errors.As(err, &failed) {
				t.Errorf("error %v", err)
			}
			s.wantWhole(t, 9)
		})
	}
}

// A server may spoil the vectors of a text's neighbours: by a NaN that spreads over the batch, or by filling up short texts
// beside long ones. Alone, the neighbours are well.
func TestOpenAISpoiltNeighbours(t *testing.T) {
	texts := numbered(20)
	isBad := func(text string) bool { return text == texts[13] }
	for name, spoilt := range map[string]func(i int) bool{
		"all":      func(int) bool { return true },
		"some":     func(i int) bool { return i%3 > 0 },
		"only one": func(i int) bool { return i == 4 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, nil)
			s.badIf(isBad, func(w http.ResponseWriter, texts []string) {
				hash := Hash{Dims: 16}
				var items []map[string]any
				for i, text := range texts {
					item := map[string]any{"index": i, "embedding": hash.encode(text)}
					if isBad(text) || len(texts) > 1 && spoilt(i) {
						item["embedding"] = nil
					}
					items = append(items, item)
				}
				json.NewEncoder(w).Encode(map[string]any{"data": items})
			})
			got, err := o.EmbedPassages(t.Context(), passages(texts...))
			wantVectors(t, s, texts, got, err, 13)
			if n := len(s.take()); n > 20 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// SPEC 3.6: a server that begins to refuse everything while texts are looked at one by one is not asked for each.
func TestOpenAIRefusesAllFromNowOn_3_6(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Batch = 64 })
	if _, err := o.EmbedPassages(t.Context(), passages("works")); err != nil {
		t.Fatal(err)
	}
	s.take()
	var calls atomic.Int64
	s.set(func(w http.ResponseWriter, _ *http.Request, texts []string) bool {
		if calls.Add(1) < 4 && slices.Equal(texts, []string{controlText}) {
			return false
		}
		w.WriteHeader(http.StatusForbidden) // the account was closed
		return true
	})
	_, err := o.EmbedPassages(t.Context(), passages(numbered(64)...))
	var failed *PassageErrors
	if err == nil || errors.As(err, &failed) {
		t.Errorf("blamed on texts: %v", err)
	}
	if n := len(s.take()); n > 4*checkAgain {
		t.Errorf("%d calls", n)
	}
}
