package milvus

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"knowledged/document"
	"knowledged/embedding"
	"knowledged/l1"
	"knowledged/l1/l1test"
)

// documents is a daemon's own copy of the documents: texts by chunk id.
type documents struct {
	mu    sync.Mutex
	texts map[string]string
}

func documentsOf(texts ...string) *documents {
	d := &documents{texts: make(map[string]string)}
	d.add(texts...)
	return d
}

func (d *documents) add(texts ...string) (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, text := range texts {
		d.texts["id-"+text] = text
		ids = append(ids, "id-"+text)
	}
	return ids
}

func (d *documents) remove(texts ...string) (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, text := range texts {
		delete(d.texts, "id-"+text)
		ids = append(ids, "id-"+text)
	}
	return ids
}

func (d *documents) Chunk(id string) (document.Chunk, l1.RowMeta, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.texts[id]
	return document.Chunk{ID: id, Text: text, Breadcrumb: "Title"},
		l1.RowMeta{Path: "api/a.md", Source: "kb/api/a.md", FileName: "a.md", Category: "api", Title: "Title"}, ok
}

func (d *documents) ChunkIDs() iter.Seq[string] {
	d.mu.Lock()
	defer d.mu.Unlock()
	var ids []string
	for id := range d.texts {
		ids = append(ids, id)
	}
	return slices.Values(ids)
}

// counting counts what is embedded.
type counting struct {
	embedding.Hash
	mu       sync.Mutex
	passages int
}

func (c *counting) EmbedPassages(ctx context.Context, p []embedding.Passage) ([][]float32, error) {
	c.mu.Lock()
	c.passages += len(p)
	c.mu.Unlock()
	return c.Hash.EmbedPassages(ctx, p)
}

func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passages
}

// daemon is what of a daemon uses the store.
type daemon struct {
	*l1.Index
	t        testing.TB
	store    *Store
	docs     *documents
	provider *counting // behind a cache
	stop     func()
}

func start(t testing.TB, c Config, docs *documents) *daemon {
	d := &daemon{t: t, docs: docs, provider: &counting{}}
	c.Dimensions = fixed(d.provider.Dimensions())
	d.store = opened(t, c)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	cache, err := embedding.NewCache(d.provider, c.WriterFile+".cache", log)
	if err != nil {
		t.Fatal(err)
	}
	d.Index = l1.New(l1.Config{Store: d.store, Provider: cache, Source: docs, ReadOnly: c.ReadOnly, CompareEvery: 10 * time.Minute, Log: log})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	d.stop = sync.OnceFunc(func() { cancel(); <-done; d.store.Close(); cache.Close() })
	t.Cleanup(func() { d.stop() })
	return d
}

func (d *daemon) idle() {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	if err := d.Idle(ctx); err != nil {
		d.t.Fatalf("%v; status %+v", err, d.Status())
	}
}

func (d *daemon) finds(text string) bool {
	d.t.Helper()
	hits, err := d.Search(d.t.Context(), text, 1, "")
	if err != nil {
		d.t.Fatalf("search %q: %v", text, err)
	}
	return len(hits) == 1 && hits[0].ChunkID == "id-"+text
}

// another is the configuration of another daemon on the same collection.
func another(t testing.TB, c Config) Config {
	c.WriterFile = t.TempDir() + "/writer"
	return c
}

func (d *daemon) rows() []string {
	d.t.Helper()
	ids, err := d.store.IDs(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	slices.Sort(ids)
	return ids
}

func wantRows(t testing.TB, d *daemon, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := d.rows(); !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

// SPEC 3.6: a document removed on one machine only is not ripped from under another; rows that another daemon has put need
// no embedding; two that delete at once leave nothing behind.
func TestTwoDaemons_3_6(t *testing.T) {
	c := config(t)
	a := start(t, c, documentsOf("alpha", "beta", "gamma"))
	a.idle()
	b := start(t, another(t, c), documentsOf("alpha", "beta", "delta"))
	b.idle()
	if n := b.provider.count(); n != 1 {
		t.Errorf("the second daemon embeds %d passages, want the one that is new", n)
	}
	wantRows(t, a, "id-alpha", "id-beta", "id-gamma", "id-delta")

	a.Changed(nil, a.docs.remove("alpha", "gamma"))
	a.idle()
	wantRows(t, a, "id-alpha", "id-beta", "id-delta")
	if a.finds("alpha") || !b.finds("alpha") {
		t.Error("alpha was removed on one machine only: the other has to find it, and that one has not")
	}
	b.Changed(nil, b.docs.remove("alpha"))
	b.idle()
	wantRows(t, b, "id-beta", "id-delta")

	var both sync.WaitGroup
	for _, d := range []*daemon{a, b} {
		both.Go(func() {
			d.Changed(nil, d.docs.remove("beta"))
			d.idle()
		})
	}
	both.Wait()
	wantRows(t, b, "id-delta")
	for _, d := range []*daemon{a, b} {
		if diff, err := d.Reconcile(t.Context(), false); err != nil || diff != (l1.Difference{}) {
			t.Errorf("difference %+v, %v", diff, err)
		}
	}
	// Both get the same change, as by a git pull.
	for _, d := range []*daemon{a, b} {
		both.Go(func() {
			d.Changed(d.docs.add("epsilon"), nil)
			d.idle()
		})
	}
	both.Wait()
	wantRows(t, a, "id-delta", "id-epsilon")
	if !a.finds("epsilon") || !b.finds("epsilon") {
		t.Error("what both put is not found")
	}
}

// A deletion that a crash interrupted is taken up by the next start.
func TestHalfDoneDeletion(t *testing.T) {
	c := config(t)
	a := start(t, c, documentsOf("alpha", "beta"))
	a.idle()
	ses, err := a.store.need(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.store.putClaims(t.Context(), ses, a.docs.remove("beta"), false); err != nil { // and no more
		t.Fatal(err)
	}
	a.stop()
	a = start(t, c, a.docs)
	a.idle()
	wantRows(t, a, "id-alpha")
	// One that is wanted again after all stays.
	ses, err = a.store.need(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.store.putClaims(t.Context(), ses, []string{"id-alpha"}, false); err != nil {
		t.Fatal(err)
	}
	a.stop()
	a = start(t, c, a.docs)
	a.idle()
	wantRows(t, a, "id-alpha")
	if n := a.provider.count(); n != 0 {
		t.Errorf("%d passages embedded for a row that is there", n)
	}
}

// A daemon not seen for long does not hold rows for ever, and a row without any claim goes in the end.
func TestDeadDaemon(t *testing.T) {
	c := config(t)
	a := start(t, c, documentsOf("alpha", "beta"))
	a.idle()
	b := start(t, another(t, c), documentsOf("alpha"))
	b.idle()
	ses, err := a.store.need(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-claimLife - time.Hour).Unix()
	if err := a.store.putClaimRows(t.Context(), ses, []string{writerPrefix + a.store.writer}, []string{""}, []bool{true}, long, ses.rows); err != nil {
		t.Fatal(err)
	}
	a.stop()
	survey := func() l1.Survey {
		v, err := b.store.Survey(t.Context(), map[string]struct{}{"id-alpha": {}}, true)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	survey() // drops the claims
	if v := survey(); len(v.Left) != 0 || len(v.Rows) != 2 {
		t.Errorf("survey %+v: a row just found without a claim is not deleted yet", v)
	}
	b.store.mu.Lock()
	for id := range b.store.strays {
		b.store.strays[id] = time.Now().Add(-2 * strayLife)
	}
	b.store.mu.Unlock()
	if v := survey(); !slices.Equal(v.Left, []string{"id-beta"}) {
		t.Errorf("left over %q, want id-beta", v.Left)
	}
	if _, err := b.Reconcile(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	b.idle()
	wantRows(t, b, "id-alpha")
}

// SPEC 3.5: a reader finds what writers put and leaves no trace.
func TestReader_3_5(t *testing.T) {
	c := config(t)
	reading := c
	reading = another(t, reading)
	reading.ReadOnly = true
	lone := start(t, reading, documentsOf("alpha"))
	eventually(t, 30*time.Second, "a reader to say that there is nothing to read", func() bool {
		st := lone.Status()
		return st.State == l1.StateDown && st.LastError != ""
	})
	lone.stop()
	cl := dialed(t, c)
	for _, name := range []string{c.Collection, claimsName(c.Collection)} {
		if has, err := cl.HasCollection(t.Context(), name); err != nil || has {
			t.Errorf("a reader made %s (%v)", name, err)
		}
	}
	w := start(t, c, documentsOf("alpha", "beta"))
	w.idle()
	r := start(t, reading, documentsOf("alpha", "gamma"))
	r.idle()
	eventually(t, 15*time.Second, "the reader to find alpha", func() bool { return r.finds("alpha") })
	if r.finds("beta") {
		t.Error("a reader shows what is not among its documents")
	}
	if st := r.Status(); st.State != l1.StateReady || st.Chunks != 2 {
		t.Errorf("status %+v", st)
	}
	r.Changed(nil, r.docs.remove("alpha"))
	r.idle()
	if r.finds("alpha") {
		t.Error("a reader shows a removed document")
	}
	row := l1test.Row("x", 1, "")
	if _, err := r.store.Survey(t.Context(), nil, true); err == nil {
		t.Error("a reader surveys")
	}
	if err := r.store.Upsert(t.Context(), []l1.Row{row}); err == nil {
		t.Error("a reader writes")
	}
	if err := r.store.Delete(t.Context(), []string{"id-beta"}); err == nil {
		t.Error("a reader deletes")
	}
	if err := r.store.Retire(t.Context()); err != nil {
		t.Error(err)
	}
	wantRows(t, w, "id-alpha", "id-beta")
}

// More ids than Milvus gives at a time.
func TestPagesOfIDs(t *testing.T) {
	c := config(t)
	c.Dimensions = fixed(2)
	s := opened(t, c)
	const n = pageRows + 5000
	rows := make([]l1.Row, n)
	for i := range rows {
		rows[i] = l1.Row{ID: fmt.Sprintf("%032x", i*7919), Vector: []float32{1, float32(i)}}
	}
	if err := s.Upsert(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from claims and rows that another process wrote
		ids, err := s.IDs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(ids)
		if got := len(slices.Compact(ids)); len(ids) != n || got != n {
			t.Fatalf("%d ids, %d different, want %d", len(ids), got, n)
		}
		v, err := s.Survey(t.Context(), map[string]struct{}{rows[5].ID: {}}, false)
		if err != nil || len(v.Rows) != n || len(v.Left) != n-1 || s.Count() != n {
			t.Fatalf("survey of %d rows, %d left over, count %d, %v", len(v.Rows), len(v.Left), s.Count(), err)
		}
		if s.Bytes() < n {
			t.Errorf("Bytes %d", s.Bytes())
		}
		s.Close()
		s = opened(t, c)
		if err := s.Delete(t.Context(), nil); err != nil {
			t.Error(err)
		}
		ses, err := s.need(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.knowMine(t.Context(), ses); err != nil {
			t.Fatal(err)
		}
	}
}

// SPEC 3.3: what is stored beside a vector, whatever the text: too long, half a character, quotes.
func TestRowsAsStored_3_3(t *testing.T) {
	c := config(t)
	s := opened(t, c)
	long := l1test.Row("long", 1, "api")
	for len(long.Text) < 2*maxText {
		long.Text += "界 and more "
	}
	odd := l1test.Row("odd", 2, "a\"b\\c\n\u3000\u200b😀")
	odd.Source, odd.Text, odd.Title = "kb/支付\xff.md", "half \xe7\x95 of a character", "quote \" and {brace}"
	long.Breadcrumb = long.Text
	if err := s.Upsert(t.Context(), []l1.Row{long, odd}); err != nil {
		t.Fatal(err)
	}
	ses, _ := s.need(t.Context())
	p, err := ses.query(t.Context(), ses.rows, fieldID+` == "odd"`, []string{fieldSource, fieldCategory, fieldText}, entity.ClStrong)
	if err != nil || p.rows != 1 {
		t.Fatal(p, err)
	}
	if p.text(fieldSource, 0) != "kb/支付\uFFFD.md" || p.text(fieldCategory, 0) != odd.Category || p.text(fieldText, 0) != "half \uFFFD of a character" {
		t.Errorf("stored as %q, %q, %q", p.text(fieldSource, 0), p.text(fieldCategory, 0), p.text(fieldText, 0))
	}
	hits, err := s.Search(t.Context(), odd.Vector, 3, odd.Category)
	if err != nil || len(hits) != 1 || hits[0].ID != "odd" {
		t.Errorf("by its odd category: %v, %v", hits, err)
	}
	p, err = ses.query(t.Context(), ses.rows, `meta["chunkIndex"] == 1 and meta["_file_name"] == "payment-errors.md"`, []string{fieldID, fieldText}, entity.ClStrong)
	if err != nil || p.rows != 1 || p.text(fieldID, 0) != "long" || len(p.text(fieldText, 0)) > maxText {
		t.Errorf("by its metadata: %d rows, %v", p.rows, err)
	}
	for _, id := range []string{"", string(make([]byte, maxID+1)), "\xff"} {
		bad := l1test.Row(id, 3, "")
		if err := s.Upsert(t.Context(), []l1.Row{bad}); err == nil {
			t.Errorf("id %q is accepted", id)
		}
	}
}
