package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"knowledged/config"
	"knowledged/synonyms"
)

// SPEC 7.3: a reload changes what it can and names what waits for a restart, each time until then.
func TestReload_7_3(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.save("b.md", doc("Beta", "kw-beta"))
	w.start()
	if n := len(w.ask("kw").Results); n != 2 {
		t.Fatalf("%d results before", n)
	}
	next := w.cfg
	next.Lookup.TopK = 1
	next.Log.Level = "debug"
	next.Watch.Mode = "poll"
	changed, waiting, err := w.Reload(&next)
	w.must(err)
	if !slices.Equal(changed, []string{"lookup.top_k", "log.level"}) || !slices.Equal(waiting, []string{"watch.mode"}) {
		t.Errorf("changed %q, waiting %q", changed, waiting)
	}
	if n := len(w.ask("kw").Results); n != 1 {
		t.Errorf("%d results after, want one", n)
	}
	changed, waiting, err = w.Reload(&next)
	w.must(err)
	if len(changed) > 0 || !slices.Equal(waiting, []string{"watch.mode"}) {
		t.Errorf("the second time: changed %q, waiting %q", changed, waiting)
	}
}

func TestReloadReadsTheFolderAgain(t *testing.T) {
	w := newWorld(t)
	w.cfg.Watch.Mode = "fsnotify"
	w.save("a.md", doc("Alpha", "发票"))
	w.start()
	w.save(synonyms.FileName, "- [发票, invoice]\n")
	_, _, err := w.Reload(&w.cfg)
	w.must(err)
	w.eventually("the synonym counts", func() bool { return len(w.log.lines("synonyms read")) > 0 })
}

// A fault keeps everything as it was.
func TestReloadThatFailsChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.cfg.IPC.HTTP = config.HTTPOff
	dir, err := os.MkdirTemp("", "kd")
	w.must(err)
	defer os.RemoveAll(dir)
	w.cfg.IPC.Socket = filepath.Join(dir, "s")
	w.open()
	_, err = w.Doors(nil)
	w.must(err)
	defer func() { w.must(w.Close()) }()
	next := w.cfg
	next.Lookup.TopK = 1
	next.IPC.TokenFile = filepath.Join(dir, "none")
	if changed, waiting, err := w.Reload(&next); err == nil || changed != nil || waiting != nil {
		t.Errorf("changed %q, waiting %q, %v", changed, waiting, err)
	}
	if w.live.Lookup.TopK != w.cfg.Lookup.TopK || w.live.IPC.TokenFile != "" {
		t.Errorf("half taken over: %+v", w.live)
	}
}
