package daemon

import (
	"context"
	"os"
	"testing"
	"time"

	"knowledged/ipc"
	"knowledged/registry"
)

// SPEC 1.5: what comes back to its place with its bytes, a mount or a branch, is the same document hours later too.
func TestDocIDOfWhatComesBack_1_5(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.save("b.md", doc("Beta", "kw-beta"))
	w.save("c.md", doc("Gamma", "kw-gamma"))
	w.start()
	a, b, c := w.record("a.md"), w.record("b.md"), w.record("c.md")
	w.delete("a.md")
	w.delete("b.md")
	if done, err := w.Delete(context.Background(), c.DocID, ipc.Match{}); err != nil || !done {
		t.Fatal(done, err)
	}
	w.eventually("gone", func() bool { return len(w.paths()) == 0 })
	w.pipeline.do(context.Background(), func() { w.pipeline.moved.expire(time.Now().Add(time.Hour)) })
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.save("b.md", doc("Other", "kw-beta"))
	w.save("c.md", doc("Gamma", "kw-gamma"))
	w.eventually("back", func() bool { return len(w.paths()) == 3 })
	if got := w.record("a.md"); got.DocID != a.DocID || !got.CreatedAt.Equal(a.CreatedAt) {
		t.Errorf("docId %s, want %s", got.DocID, a.DocID)
	}
	if w.record("b.md").DocID == b.DocID {
		t.Error("other bytes are the same document")
	}
	if w.record("c.md").DocID == c.DocID {
		t.Error("what was deleted on purpose came back as the same document")
	}
}

func TestGravesForget(t *testing.T) {
	now := time.Now()
	rec := &registry.Record{DocID: "1", Path: "a.md", FileHash: "h"}
	g := graves{}
	g.bury(rec, now)
	g.expire(now.Add(2 * graveTime))
	if _, ok := g.recall(rec, now.Add(2*memoryTime)); ok {
		t.Error("remembered for ever")
	}
	g.bury(rec, now)
	g.expire(now.Add(2 * graveTime))
	if m, ok := g.recall(rec, now.Add(memoryTime)); !ok || m.docID != "1" {
		t.Error("forgotten")
	}
	if _, ok := g.recall(rec, now); ok {
		t.Error("one document came back twice")
	}
}

// SPEC 4.2: at a start, a base folder without its disk wipes nothing at once; when the disk is there, all is as before.
func TestBareBaseAtStart_4_2(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	id := w.record("a.md").DocID
	w.halt()
	w.must(os.Rename(w.base, w.base+".away"))
	w.open().run() // makes an empty base folder
	w.eventually("a WARN", func() bool { return len(w.log.lines("is its disk mounted")) == 1 })
	if !w.has("a.md") || w.status().Ready || w.status().Pending.L0 == 0 {
		t.Errorf("status %+v", w.status())
	}
	if a := w.ask("kw-alpha"); a.Found {
		t.Error("an answer from a file that is not there")
	}
	w.must(os.Remove(w.base))
	w.must(os.Rename(w.base+".away", w.base))
	w.idle()
	if w.record("a.md").DocID != id || !w.answers("kw-alpha", "a.md") || w.status().Updates != 0 {
		t.Errorf("record %+v, status %+v", w.record("a.md"), w.status())
	}
}
