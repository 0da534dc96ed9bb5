package folder

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"knowledged/lint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func put(t testing.TB, base, path, text string) {
	t.Helper()
	file := filepath.Join(base, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func check(t testing.TB, cfg Config) lint.Report {
	t.Helper()
	f, err := Read(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return lint.Check(f)
}

func rules(r lint.Report) []string {
	out := []string{}
	for _, f := range r.Findings {
		out = append(out, f.Path+" "+f.Rule)
	}
	return out
}

func good(title, keyword, body string) string {
	return "---\ntitle: " + title + "\nkeywords: [" + keyword + "]\nsummary: What it says\n---\n" + body + "\n"
}

// SPEC 4.1: what the daemon takes for a document is what is looked at, and nothing else.
func TestRead_4_1_FollowsTheDaemonsRules(t *testing.T) {
	base := t.TempDir()
	put(t, base, ".gitignore", "drafts/\n")
	put(t, base, "api/.knowledgeignore", "old.md\n")
	put(t, base, "api/a.md", good("Refunds", "chargeback", "[b](b.markdown) [p](../img/p.png) [d](../drafts/d.md) [x](gone.md)"))
	put(t, base, "api/b.markdown", good("Limits", "quota", "Text"))
	put(t, base, "api/old.md", "---\nbroken\n---\n")
	put(t, base, "drafts/d.md", "no front matter")
	put(t, base, "drafts/d.sync-conflict-20260301-101010-ABCDEFG.md", "ignored")
	put(t, base, "img/p.png", "")
	put(t, base, ".obsidian/x.md", "hidden")
	put(t, base, "api/~$a.md", "lock")
	put(t, base, "api/a.md~", "backup")
	put(t, base, "api/a.sync-conflict-20260301-101010-ABCDEFG.md", good("Refunds", "chargeback", "Text"))
	put(t, base, "api/a (Ann's conflicted copy 2026-03-01).md", good("Refunds", "chargeback", "Text"))
	put(t, base, ".synonyms.yaml", "- [k8s, kubernetes]\n- [refund, Refund]\n- single\n")
	r := check(t, Config{Base: base, MaxFileSize: 1 << 20, Fallback: true})
	want := []string{
		".synonyms.yaml synonym-pointless",
		".synonyms.yaml synonyms-broken",
		"api/a (Ann's conflicted copy 2026-03-01).md conflict-copy",
		"api/a.md dead-link",
		"api/a.sync-conflict-20260301-101010-ABCDEFG.md conflict-copy",
	}
	if got := rules(r); !slices.Equal(got, want) || r.Documents != 2 {
		t.Errorf("%d documents, findings %q, want %q", r.Documents, got, want)
	}
}

// SPEC 1.4: what cannot be read as text, or is too large, is named and holds nothing else up.
func TestRead_1_4_NamesWhatCannotBeRead(t *testing.T) {
	base := t.TempDir()
	put(t, base, "binary.md", "a\x00b")
	put(t, base, "large.md", strings.Repeat("x", 2000))
	put(t, base, "good.md", good("Refunds", "chargeback", "Text"))
	put(t, base, "empty.md", "")
	want := []string{"binary.md not-text", "empty.md empty-document", "empty.md title-unfindable", "empty.md no-front-matter", "large.md too-large"}
	if runtime.GOOS != "windows" {
		if err := os.Symlink(t.TempDir(), filepath.Join(base, "out")); err != nil {
			t.Fatal(err)
		}
		want = append(want, "out not-read")
	}
	if os.Getuid() > 0 {
		put(t, base, "secret.md", "x")
		if err := os.Chmod(filepath.Join(base, "secret.md"), 0); err != nil {
			t.Fatal(err)
		}
		want = append(want, "secret.md not-read")
	}
	r := check(t, Config{Base: base, MaxFileSize: 1000, Fallback: true})
	if got := rules(r); !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

// SPEC 2.2: names are compared as lookups compare them: at word boundaries, blind to case and width.
func TestNames_2_2_AreComparedAsLookupsDo(t *testing.T) {
	base := t.TempDir()
	put(t, base, "a.md", good("One thing", "api", "Text"))
	put(t, base, "b.md", good("The capital", "ＲＡＴＥ", "Text")) // "api" is not in it
	put(t, base, "c.md", good("Generate", "rate limit", "Text"))
	got := []string{}
	for _, f := range check(t, Config{Base: base, MaxFileSize: 1000, Fallback: true}).Findings {
		got = append(got, fmt.Sprintf("%s %s %d", f.Path, f.Rule, len(f.Related)))
	}
	if want := []string{"a.md weak-keyword 0", "b.md contained-name 1"}; !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	base := t.TempDir()
	put(t, base, "a.md", "Text")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, Config{Base: base, MaxFileSize: 1000}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no error")
	}
	if _, err := Read(t.Context(), Config{}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no base folder, and no error")
	}
}

func BenchmarkRead(b *testing.B) {
	base := b.TempDir()
	for i := range 10_000 {
		put(b, base, fmt.Sprintf("c%d/%d.md", i%50, i), good(fmt.Sprintf("Title of document %d", i), fmt.Sprintf("word%d, topic%d, gateway", i, i%300),
			strings.Repeat("## Heading\n\nSome words of a document, and a [link](other.md).\n\n", 10)))
	}
	b.ResetTimer()
	for b.Loop() {
		check(b, Config{Base: base, MaxFileSize: 1 << 20, Fallback: true})
	}
}
