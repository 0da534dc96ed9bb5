package embedding

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SPEC 3.5, 3.6: the length of the vectors is learned once, and known while the server is down.
func TestOpenAIDimensionsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l1", "dimensions.json")
	s := newFakeServer(t)
	kept := func(c *OpenAIConfig) { c.DimensionsFile = file }
	o, _ := newOpenAI(t, s, kept)
	if n := o.Dimensions(); n != 0 {
		t.Fatalf("%d dimensions before any answer", n)
	}
	s.refuse(503, "")
	if _, err := o.Learn(t.Context()); err == nil || !strings.Contains(err.Error(), "learn the dimensions of m") {
		t.Errorf("error %v", err)
	}
	s.set(nil)
	if n, err := o.Learn(t.Context()); n != 16 || err != nil {
		t.Fatalf("%d dimensions, %v", n, err)
	}
	s.take()
	if n, err := o.Learn(t.Context()); n != 16 || err != nil || len(s.take()) != 0 {
		t.Errorf("asked again")
	}
	other, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.DimensionsFile = file; c.Model = "other" })
	s.dims.Store(8)
	if _, err := other.EmbedQuery(t.Context(), "a query shows it too"); err != nil || other.Dimensions() != 8 {
		t.Fatalf("%d dimensions, %v", other.Dimensions(), err)
	}
	s.Close()
	for model, want := range map[string]int{"m": 16, "other": 8, "third": 0} {
		again, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.DimensionsFile = file; c.Model = model })
		if n := again.Dimensions(); n != want {
			t.Errorf("%s: %d dimensions after a restart, want %d", model, n, want)
		}
	}
}

// SPEC 3.5: a model that changes its length is told with both, keeps nothing wrong, and is learned anew by the next start.
func TestOpenAIDimensionsChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dimensions.json")
	s := newFakeServer(t)
	kept := func(c *OpenAIConfig) { c.DimensionsFile = file }
	o, _ := newOpenAI(t, s, kept)
	if _, err := o.EmbedPassages(t.Context(), passages("a", "b")); err != nil {
		t.Fatal(err)
	}
	s.dims.Store(24)
	const want = "vector has 24 dimensions, and those of this model had 16"
	for range 2 {
		if _, err := o.EmbedPassages(t.Context(), passages("a", "b")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("passages: %v", err)
		}
		if _, err := o.EmbedQuery(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("query: %v", err)
		}
	}
	next, _ := newOpenAI(t, s, kept)
	if n, err := next.Learn(t.Context()); n != 24 || err != nil {
		t.Errorf("next start: %d dimensions, %v", n, err)
	}
	s.dims.Store(16) // it was a passing fault: this process goes on
	texts := []string{"a", "b"}
	got, err := o.EmbedPassages(t.Context(), passages(texts...))
	wantVectors(t, s, texts, got, err)
}

func TestOpenAIDimensionsOfTheConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dimensions.json")
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 12; c.DimensionsFile = file })
	if n, err := o.Learn(t.Context()); n != 12 || err != nil || len(s.take()) != 0 {
		t.Errorf("%d dimensions, %v", n, err)
	}
	const want = "vector has 16 dimensions, and embedding.openai.dimensions says 12"
	if _, err := o.EmbedQuery(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a file for what is configured: %v", err)
	}
}

// One text with a shorter vector is that text's trouble, alone or in a batch.
func TestOpenAIOneShorterVector(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.DimensionsFile = filepath.Join(t.TempDir(), "d") })
	if _, err := o.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	decoded, err := decodeReply([]byte(`{"data":[{"embedding":[1,2,3]}]}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.check(decoded); err == nil || decoded[0] != nil {
		t.Errorf("a shorter vector passed: %v", err)
	}
	if o.Dimensions() != 16 || !o.dims.saved {
		t.Error("one vector changed what is known of the model")
	}
}

func TestDimensionsFileOfNoUse(t *testing.T) {
	for name, content := range map[string]string{"garbage": "{", "null": "null", "other": `[1]`, "negative": `{"m":-5}`} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "d.json")
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			d := openDimensions(file, "m", 0, slog.New(slog.DiscardHandler))
			if d.get() != 0 {
				t.Fatalf("%d dimensions", d.get())
			}
			d.learn([][]float32{{1, 2}})
			data, _ := os.ReadFile(file)
			var known dimensionsFile
			if err := json.Unmarshal(data, &known); err != nil || known.Models["m"] != 2 {
				t.Errorf("kept %s, %v", data, err)
			}
		})
	}
}

func TestDimensionsNotKept(t *testing.T) {
	log := &safeBuffer{}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := openDimensions(filepath.Join(blocked, "d.json"), "m", 0, slog.New(slog.NewTextHandler(log, nil)))
	for range 3 {
		d.learn([][]float32{{1, 2}})
	}
	if d.get() != 2 || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("%d dimensions, log:\n%s", d.get(), log)
	}
}

func FuzzDecodeReply(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":0,"embedding":[1,NaN]},{"index":1,"embedding":[-Infinity,"x\"NaN"]}]}`,
		`{"data":[{"embedding":[]},{"embedding":null}]}`, `{"error":"x"}`, `NaN`, `"\`, `[[[`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		valid := json.Valid(body)
		masked := append([]byte(nil), body...)
		maskNonNumbers(masked)
		if valid && string(masked) != string(body) {
			t.Fatalf("JSON %q became %q", body, masked)
		}
		vectors, err := decodeReply(body, 2)
		if err == nil && len(vectors) != 2 {
			t.Fatalf("%d vectors", len(vectors))
		}
	})
}

// The file has a version; one from before it had is read, and gets one.
func TestDimensionsFormat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dimensions.json")
	if err := os.WriteFile(file, []byte(`{"m":16}`), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if n := openDimensions(file, "m", 0, log).get(); n != 16 {
		t.Errorf("%d dimensions of a file without a version", n)
	}
	openDimensions(file, "other", 0, log).learn([][]float32{{1, 0}})
	if text, err := os.ReadFile(file); err != nil || string(text) != `{"format":1,"models":{"m":16,"other":2}}` {
		t.Errorf("%s, %v", text, err)
	}
	for model, want := range map[string]int{"m": 16, "other": 2, "format": 0} {
		if n := openDimensions(file, model, 0, log).get(); n != want {
			t.Errorf("%s: %d dimensions, want %d", model, n, want)
		}
	}
}
