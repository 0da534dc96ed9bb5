package embedding

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
)

// SPEC 3.5: a text of which the model makes NaN, for which servers answer 500 to the whole batch, costs nobody else.
func TestOpenAIFindsThePoisonedText(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, nil)
	texts := numbered(64)
	for _, bad := range [][]int{{0}, {17}, {31, 32}, {63}} {
		s.refuseIf(500, `{"error":{"message":"unsupported value: NaN"}}`, func(text string) bool {
			return slices.ContainsFunc(bad, func(i int) bool { return text == texts[i] })
		})
		got, err := o.EmbedPassages(t.Context(), passages(texts...))
		wantVectors(t, s, texts, got, err, bad...)
		if !strings.Contains(err.Error(), "unsupported value: NaN") {
			t.Errorf("error %v", err)
		}
		calls := s.take()
		for _, i := range bad {
			with := 0
			for _, c := range calls {
				if slices.Contains(c.texts, texts[i]) {
					with++
				}
			}
			if with > 6 { // 32, 16, 8, 4, 2, 1
				t.Errorf("%d calls with text %d", with, i)
			}
		}
	}
	s.refuseIf(500, "", func(text string) bool { return text == texts[0] })
	got, err := o.EmbedPassages(t.Context(), passages(texts[0])) // alone: nothing else came through
	wantVectors(t, s, texts[:1], got, err, 0)
}

// SPEC 3.6: where it is the server that fails, no passage is blamed, and it is not asked again and again.
func TestOpenAIOutage_3_6(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		fault      func(s *fakeServer)
	}{
		{"500", "500 Internal Server Error: out of memory", func(s *fakeServer) { s.refuse(500, `{"error":"out of memory"}`) }},
		{"400", "400 Bad Request: no such field", func(s *fakeServer) { s.refuse(400, `{"detail":"no such field"}`) }},
		{"502", "502 Bad Gateway: <html> nginx", func(s *fakeServer) { s.refuse(502, "<html>\n\x00nginx") }},
		{"404", "check embedding.openai.model", func(s *fakeServer) { s.refuse(404, `{"message":"model not found"}`) }},
		{"redirect", "redirects are not followed: set embedding.openai.base_url to where it points, http://x/", func(s *fakeServer) { s.refuse(308, "", "Location", "http://x/") }},
		{"all NaN", "vector holds NaN at position 1", func(s *fakeServer) { s.reply(oneVector(`[1,NaN]`)) }},
		{"all zero", "vector is all zero", func(s *fakeServer) { s.reply(oneVector(`[0,0]`)) }},
		{"no vector", "no vector", func(s *fakeServer) { s.reply(oneVector(`null`)) }},
		{"HTML", `no JSON of embeddings, but "<!doctype html> login"`, func(s *fakeServer) { s.reply("<!doctype html>\nlogin") }},
		{"error in 200", "model is loading", func(s *fakeServer) { s.reply(`{"error":{"message":"model is loading"}}`) }},
		{"no answer", "EOF", func(s *fakeServer) {
			s.set(func(http.ResponseWriter, *http.Request, []string) bool { panic(http.ErrAbortHandler) })
		}},
		{"cut answer", "unexpected EOF", func(s *fakeServer) { s.refuse(200, "{", "Content-Length", "999") }},
		{"gone", "connect", func(s *fakeServer) { s.Close() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 2 })
			tc.fault(s)
			_, err := o.EmbedPassages(t.Context(), passages("only one"))
			var failed *PassageErrors
			if err == nil || errors.As(err, &failed) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if n := len(s.take()); n > 2 {
				t.Errorf("%d calls", n)
			}
			if _, err := o.EmbedQuery(t.Context(), "q"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("query: %v", err)
			}
		})
	}
}

// What was made before the server failed is handed over, to be cached.
func TestOpenAIGivesWhatWasMade(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Batch = 4; c.Dimensions = 16 })
	var n atomic.Int64
	s.set(func(w http.ResponseWriter, _ *http.Request, _ []string) bool {
		if n.Add(1) == 1 { // which is made alone
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	texts := numbered(12)
	got, err := o.EmbedPassages(t.Context(), passages(texts...))
	if err == nil || !strings.Contains(err.Error(), "503") {
		t.Fatalf("error %v", err)
	}
	if made := len(slices.DeleteFunc(got, func(v []float32) bool { return v == nil })); made != 4 {
		t.Errorf("%d vectors", made)
	}
}

func oneVector(v string) string {
	return `{"data":[{"index":0,"embedding":` + v + `}]}`
}

// SPEC 3.5: too long a text is cut at a character, with a note; its neighbours are whole.
func TestOpenAITooLong(t *testing.T) {
	for name, refusal := range map[string]struct {
		status int
		body   string
	}{
		"TEI":    {413, `{"error":"Input validation error: inputs must have less than 512 tokens","error_type":"Validation"}`},
		"vLLM":   {400, `{"object":"error","message":"This model's maximum context length is 512 tokens"}`},
		"Ollama": {500, `{"error":"the input length exceeds the context length"}`},
		"llama":  {500, `{"error":{"code":500,"message":"input is too large to process. increase the physical batch size"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t)
			o, log := newOpenAI(t, s, nil)
			s.refuseIf(refusal.status, refusal.body, func(text string) bool { return utf8.RuneCountInString(text) > 300 })
			long := strings.Repeat("连接超时", 250)
			texts := []string{"a", long, "b", "text " + long}
			got, err := o.EmbedPassages(t.Context(), []Passage{{Text: "a"}, {Text: long}, {Text: "b"}, {Breadcrumb: "Big", Text: "text " + long}})
			texts[1] = string([]rune(long)[:250])
			texts[3] = string([]rune("Big\ntext " + long)[:1009/4])
			wantVectors(t, s, texts, got, err)
			if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "characters=1000 embedded=250 err=") {
				t.Errorf("log:\n%s", log)
			}
			if _, err := o.EmbedQuery(t.Context(), long); err != nil {
				t.Errorf("long query: %v", err)
			}
			for _, c := range s.take() {
				for _, text := range c.texts {
					if !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
						t.Error("a character was cut in two")
					}
				}
			}
		})
	}
}

// A short text that is refused is not too long, and a long one is not cut for ever.
func TestOpenAIRefusedText(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, nil)
	s.refuseIf(422, `{"message":"no"}`, func(text string) bool { return text != controlText && strings.Contains(text, "x") })
	texts := []string{"x", strings.Repeat("x", 1600), "good"}
	got, err := o.EmbedPassages(t.Context(), passages(texts...))
	wantVectors(t, s, texts, got, err, 0, 1)
	if n := len(s.take()); n > 12 {
		t.Errorf("%d calls", n)
	}
}

// SPEC 3.5: NaN, null, infinities, zeros and other lengths are refused one by one.
func TestOpenAIBadVectors(t *testing.T) {
	for vector, want := range map[string]string{
		`[1,NaN]`:              "NaN at position 1",
		`[Infinity,1]`:         "NaN at position 0",
		`[1,-Infinity]`:        "NaN at position 1",
		`[1e39,1]`:             "Inf", // beyond float32
		`[null,1]`:             "NaN at position 0",
		`["1",1]`:              "NaN at position 0",
		`[[1,2]]`:              "NaN at position 0",
		`[0,-0.0]`:             "all zero",
		`[1e-45,1e-45]`:        "position 0", // too small to be scaled
		`[]`:                   "no vector",
		`null`:                 "no vector",
		`"AAAAAAAAAAA="`:       "all zero", // base64, as the others below
		`"AADAfwAAgD8="`:       "NaN at position 0",
		`"AACAPw=="`:           "vector has 1 dimensions",
		`"AACAPwA="`:           "no vector",
		`"a vector"`:           "no vector",
		`""`:                   "no vector",
		`[1]`:                  "vector has 1 dimensions, and embedding.openai.dimensions says 2",
		`[1,2,3]`:              "vector has 3 dimensions",
		`{"sparse":{"NaN":1}}`: "no vector",
	} {
		t.Run(vector, func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 2 })
			s.reply(`{"note":"NaN \" NaN","data":[{"index":0,"embedding":[3,4]},{"index":1,"embedding":` + vector + `},{"index":2,"embedding":[ 0 , 2e0 ]}]}`)
			got, err := o.EmbedPassages(t.Context(), passages("a", "b", "c"))
			var failed *PassageErrors
			if !errors.As(err, &failed) || len(failed.Errs) != 1 || failed.Errs[1] == nil || !strings.Contains(failed.Errs[1].Error(), want) {
				t.Fatalf("error %v", err)
			}
			if fmt.Sprint(got) != "[[0.6 0.8] [] [0 1]]" {
				t.Errorf("vectors %v", got)
			}
		})
	}
}

// SPEC 3.5: `index` says which text a vector belongs to; an answer that does not fit its request is refused whole.
func TestOpenAIReplyOrder(t *testing.T) {
	item := func(index, vector string) string { return `{` + index + `"embedding":` + vector + `}` }
	for name, tc := range map[string]struct {
		items []string
		want  string
	}{
		"in order":     {[]string{item(`"index":0,`, "[1,0]"), item(`"index":1,`, "[0,1]")}, ""},
		"shuffled":     {[]string{item(`"index":1,`, "[0,1]"), item(`"index":0,`, "[1,0]")}, ""},
		"from one":     {[]string{item(`"index":2,`, "[0,1]"), item(`"index":1,`, "[1,0]")}, ""},
		"two missing":  {[]string{item(`"index":1,`, "[1,0]"), item(`"index":3,`, "[0,1]")}, "index 3 is out of range"},
		"without":      {[]string{item("", "[1,0]"), item("", "[0,1]")}, ""},
		"gap":          {[]string{item(`"index":0,`, "[1,0]"), item(`"index":2,`, "[0,1]")}, "index 2 is out of range"},
		"negative":     {[]string{item(`"index":-1,`, "[1,0]"), item(`"index":0,`, "[0,1]")}, "index -1 is out of range"},
		"twice":        {[]string{item(`"index":0,`, "[1,0]"), item(`"index":0,`, "[0,1]")}, "there twice"},
		"some":         {[]string{item(`"index":0,`, "[1,0]"), item("", "[0,1]")}, "only 1 of 2 embeddings have an index"},
		"one too few":  {[]string{item(`"index":0,`, "[1,0]")}, "1 embeddings for 2 texts"},
		"one too many": {[]string{item(`"index":0,`, "[1,0]"), item(`"index":1,`, "[0,1]"), item(`"index":2,`, "[0,1]")}, "3 embeddings for 2 texts"},
		"none":         {nil, "0 embeddings for 2 texts"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decodeReply([]byte(`{"data":[`+strings.Join(tc.items, ",")+`]}`), 2)
			if tc.want == "" {
				if err != nil || fmt.Sprint(got) != "[[1 0] [0 1]]" {
					t.Errorf("%v, %v", got, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// Some servers, and proxies before them, give base64 to whoever has not asked for it, too.
func TestOpenAIBase64(t *testing.T) {
	got, err := decodeReply([]byte(`{"data":[{"index":0,"embedding":"AACAPwAAAMA="},{"index":1,"embedding":[3, 4]}]}`), 2)
	if err != nil || fmt.Sprint(got) != "[[1 -2] [3 4]]" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestOpenAIBoundsTheAnswer(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, nil)
	sent := make(chan int64, 1)
	s.set(func(w http.ResponseWriter, r *http.Request, _ []string) bool {
		n, _ := io.Copy(w, neverEnding{})
		sent <- n
		return true
	})
	if _, err := o.EmbedQuery(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("error %v", err)
	}
	if n := <-sent; n > 64<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// SPEC 3.5: Retry-After is heeded by passages and queries alike.
func TestOpenAIRetryAfter(t *testing.T) {
	for _, status := range []int{429, 503, 500} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 16 })
			s.refuse(status, `{"error":{"message":"slow down"}}`, "Retry-After", "0.3")
			_, err := o.EmbedPassages(t.Context(), passages("a", "b"))
			var retry *RetryError
			if !errors.As(err, &retry) || retry.RetryAfter() != 300*time.Millisecond || !strings.Contains(err.Error(), "slow down") {
				t.Fatalf("%d: error %v", status, err)
			}
			refused := time.Now()
			if n := len(s.take()); n != 1 {
				t.Errorf("%d calls", n)
			}
			s.set(nil)
			for {
				_, err = o.EmbedQuery(t.Context(), "q")
				if err == nil {
					break
				}
				if !errors.As(err, &retry) || retry.After <= 0 || retry.After > 300*time.Millisecond {
					t.Fatalf("meanwhile: %v", err)
				}
				time.Sleep(time.Millisecond) // a server's clock runs on; nothing to await
			}
			calls := s.take()
			if len(calls) != 1 || calls[0].at.Sub(refused) < 290*time.Millisecond {
				t.Errorf("%d calls, the first after %s", len(calls), calls[0].at.Sub(refused))
			}
		})
	}
}

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, tc := range []struct {
		value, date string
		want        time.Duration
		ok          bool
	}{
		{"2", "", 2 * time.Second, true},
		{" 1.5 ", "", 1500 * time.Millisecond, true},
		{"-3", "", 0, true},
		{"1e300", "", time.Hour, true},
		{"Inf", "", time.Hour, true},
		{"NaN", "", 0, false},
		{"", "", 0, false},
		{"soon", "", 0, false},
		{date(90 * time.Second), "", 90 * time.Second, true},
		{date(-time.Minute), "", 0, true},
		{date(9000 * time.Hour), "", time.Hour, true},
		{date(90 * time.Second), date(80 * time.Second), 10 * time.Second, true}, // their clock
	} {
		h := http.Header{}
		h.Set("Retry-After", tc.value)
		if tc.date != "" {
			h.Set("Date", tc.date)
		}
		if got, ok := retryAfter(h, now); got != tc.want || ok != tc.ok {
			t.Errorf("%q, %q: %s, %v", tc.value, tc.date, got, ok)
		}
	}
}

// The key comes from a file, follows its changes, and is never shown.
func TestOpenAIKey(t *testing.T) {
	s := newFakeServer(t)
	file := filepath.Join(t.TempDir(), "key")
	o, log := newOpenAI(t, s, func(c *OpenAIConfig) { c.APIKeyFile = file })
	ask := func() error { _, err := o.EmbedQuery(t.Context(), "x"); return err }
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "api_key_file") {
		t.Errorf("no file: %v", err)
	}
	for text, want := range map[string]string{"\t\n": "is empty", "sk-1\nsk-2": "holds more than a key", "sk-\x00": "more than a key"} {
		write(text)
		if err := ask(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if n := len(s.take()); n != 0 {
		t.Errorf("%d calls without a key", n)
	}
	for _, key := range []string{"sk-first", "sk-second"} {
		write("\ufeff" + key + "\r\n")
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		if got := s.take()[0].key; got != "Bearer "+key {
			t.Errorf("key %q", got)
		}
	}
	for _, status := range []int{401, 403} {
		s.refuse(status, `{"error":{"message":"`+strings.Repeat("no ", 63)+`Incorrect API key provided: sk-second."}}`)
		_, err := o.EmbedPassages(t.Context(), passages("a"))
		for _, err := range []error{err, ask()} {
			if err == nil || !strings.Contains(err.Error(), "check the key in embedding.openai.api_key_file") || strings.Contains(err.Error(), "sk-") {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
	s.reply("<html>sk-second</html>")
	if err := ask(); err == nil || strings.Contains(err.Error(), "sk-second") {
		t.Errorf("page: %v", err)
	}
	if strings.Contains(log.String(), "sk-") {
		t.Error("the key is in the log")
	}
}

func TestOpenAIWantsAKey(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, nil)
	s.refuse(401, "")
	if _, err := o.EmbedQuery(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "set embedding.openai.api_key_file") {
		t.Errorf("error %v", err)
	}
}

// A server too slow for a batch gets smaller ones, and large ones again once it is fast.
func TestOpenAIPace(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Batch = 8; c.Timeout = 150 * time.Millisecond; c.Dimensions = 16 })
	s.set(func(_ http.ResponseWriter, r *http.Request, texts []string) bool {
		if len(texts) <= 2 {
			return false
		}
		<-r.Context().Done()
		return true
	})
	texts := numbered(8)
	var got [][]float32
	var err error
	for range 3 {
		if got, err = o.EmbedPassages(t.Context(), passages(texts...)); err == nil {
			break
		}
		if !errors.Is(err, errTooSlow) {
			t.Fatal(err)
		}
	}
	wantVectors(t, s, texts, got, err)
	s.set(nil)
	for o.batch.Load() < 8 {
		if _, err := o.EmbedPassages(t.Context(), passages(texts...)); err != nil {
			t.Fatal(err)
		}
	}
}

// A text on which the server hangs ends up alone, and then is that text's fault.
func TestOpenAITextThatHangs(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Batch = 2; c.Timeout = 150 * time.Millisecond })
	texts := numbered(3)
	s.set(func(_ http.ResponseWriter, r *http.Request, got []string) bool {
		if !slices.Contains(got, texts[1]) {
			return false
		}
		<-r.Context().Done()
		return true
	})
	if _, err := o.EmbedPassages(t.Context(), passages(texts...)); !errors.Is(err, errTooSlow) {
		t.Fatalf("error %v", err)
	}
	got, err := o.EmbedPassages(t.Context(), passages(texts...))
	wantVectors(t, s, texts, got, err, 1)
}

func BenchmarkDecodeReply(b *testing.B) { // a batch of bge-m3
	hash := Hash{Dims: 1024}
	var items []string
	for i, text := range numbered(32) {
		items = append(items, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, strings.Join(strings.Fields(fmt.Sprint(hash.encode(text))), ",")))
	}
	body := []byte(`{"data":[` + strings.Join(items, ",") + `]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := decodeReply(body, 32); err != nil {
			b.Fatal(err)
		}
	}
}
