package l1

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// sharedStore is a fakeStore that several indexes use: who wants which row.
type sharedStore struct {
	*fakeStore
	owner  string
	claims map[string]map[string]bool // id → owners; guarded by fakeStore.mu
	ailing error
}

func newShared(owner string, beside *sharedStore) *sharedStore {
	if beside == nil {
		return &sharedStore{fakeStore: newFakeStore(), owner: owner, claims: map[string]map[string]bool{}}
	}
	return &sharedStore{fakeStore: beside.fakeStore, owner: owner, claims: beside.claims}
}

func (s *sharedStore) claim(id string) {
	if s.claims[id] == nil {
		s.claims[id] = map[string]bool{}
	}
	s.claims[id][s.owner] = true
}

func (s *sharedStore) Survey(ctx context.Context, want map[string]struct{}, claim bool) (v Survey, err error) {
	if v.Rows, err = s.IDs(ctx); err != nil {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range want {
		if claim {
			s.claim(id)
		}
	}
	for id, owners := range s.claims {
		if _, wanted := want[id]; owners[s.owner] && !wanted {
			v.Left = append(v.Left, id)
		}
	}
	return v, nil
}

func (s *sharedStore) Upsert(ctx context.Context, rows []Row) error {
	s.mu.Lock()
	for _, r := range rows {
		s.claim(r.ID)
	}
	s.mu.Unlock()
	return s.fakeStore.Upsert(ctx, rows)
}

func (s *sharedStore) Delete(ctx context.Context, ids []string) error {
	s.mu.Lock()
	var free []string
	for _, id := range ids {
		delete(s.claims[id], s.owner)
		if len(s.claims[id]) == 0 {
			free = append(free, id)
		}
	}
	s.mu.Unlock()
	return s.fakeStore.Delete(ctx, free)
}

func (s *sharedStore) Ailment() error { return s.ailing }

func (s *fakeStore) stored() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.rows))
}

// started runs an index in the bubble until stop.
func started(t *testing.T, c Config) (x *Index, log *bytes.Buffer, stop func()) {
	log = &bytes.Buffer{}
	c.Log = slog.New(slog.NewTextHandler(log, nil))
	x = New(c)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- x.Run(ctx) }()
	synctest.Wait()
	return x, log, func() { cancel(); <-done }
}

func filesOf(texts ...string) *fakeSource {
	s := &fakeSource{chunks: map[string]fakeChunk{}}
	s.put("api/a.md", texts...)
	return s
}

// SPEC 3.6, 3.4: a document removed on one machine only stays for the other, and the second daemon embeds nothing anew.
func TestSharedRows_3_6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newShared("a", nil)
		ours, theirs := filesOf("one", "two"), filesOf("two", "three")
		a, _, stopA := started(t, Config{Store: store, Provider: &fakeProvider{}, Source: ours})
		defer stopA()
		provider := &fakeProvider{}
		b, _, stopB := started(t, Config{Store: newShared("b", store), Provider: provider, Source: theirs})
		defer stopB()
		if n := provider.asked(""); n != 1 {
			t.Errorf("the second daemon embeds %d passages, want the one that is new", n)
		}
		if got, want := store.stored(), []string{"api/a.md#one", "api/a.md#three", "api/a.md#two"}; !slices.Equal(got, want) {
			t.Fatalf("rows %q, want %q", got, want)
		}
		a.Changed(nil, ours.remove("api/a.md#one", "api/a.md#two"))
		synctest.Wait()
		if got, want := store.stored(), []string{"api/a.md#three", "api/a.md#two"}; !slices.Equal(got, want) {
			t.Errorf("after one daemon removed its documents: rows %q, want %q", got, want)
		}
		if hits, err := b.Search(t.Context(), "two", 3, ""); err != nil || len(hits) != 2 {
			t.Errorf("the other daemon finds %v, %v", hits, err)
		}
		if hits, err := a.Search(t.Context(), "two", 3, ""); err != nil || len(hits) != 0 {
			t.Errorf("the first daemon finds what it removed: %v, %v", hits, err)
		}
		b.Changed(nil, theirs.remove("api/a.md#two"))
		synctest.Wait()
		if got := store.stored(); len(got) != 1 {
			t.Errorf("rows %q after both removed it", got)
		}
		if d, err := b.Reconcile(t.Context(), false); err != nil || d != (Difference{}) {
			t.Errorf("difference %+v, %v", d, err)
		}
	})
}

// A dry run claims nothing.
func TestSharedDryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newShared("a", nil)
		files := filesOf("one")
		x := New(Config{Store: store, Provider: &fakeProvider{}, Source: files, Log: slog.New(slog.DiscardHandler)})
		d, err := x.Reconcile(t.Context(), false)
		if err != nil || d != (Difference{Missing: 1}) || len(store.claims) != 0 {
			t.Errorf("difference %+v, %v; claims %v", d, err, store.claims)
		}
	})
}

// Somebody else's hand in the store is found out by the comparison that comes now and then.
func TestComparesNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		_, _, stop := started(t, Config{Store: store, Provider: &fakeProvider{}, Source: filesOf("one"), CompareEvery: 10 * time.Minute})
		defer stop()
		store.mu.Lock()
		clear(store.rows)
		store.mu.Unlock()
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if len(store.stored()) != 0 {
			t.Fatal("compared too early")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := store.stored(); !slices.Equal(got, []string{"api/a.md#one"}) {
			t.Errorf("rows %q after the comparison", got)
		}
		lists := store.listed()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := store.listed() - lists; n != 6 {
			t.Errorf("%d comparisons in an hour, want 6", n)
		}
	})
}

// SPEC 3.5: a reader finds what writers have put, and never writes.
func TestReader_3_5(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newShared("writer", nil)
		files := filesOf("one", "two", "three")
		mine := filesOf("one", "two", "not yet written")
		_, _, stopWriter := started(t, Config{Store: store, Provider: &fakeProvider{}, Source: files})
		defer stopWriter()
		upserts, claims := len(store.upserts), len(store.claims)
		x, log, stop := started(t, Config{Store: newShared("reader", store), Provider: &fakeProvider{}, Source: mine, ReadOnly: true, CompareEvery: 10 * time.Minute})
		defer stop()
		found := func() (ids []string) {
			hits, err := x.Search(t.Context(), "one", 9, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				ids = append(ids, h.ChunkID)
			}
			slices.Sort(ids)
			return ids
		}
		if got, want := found(), []string{"api/a.md#one", "api/a.md#two"}; !slices.Equal(got, want) {
			t.Errorf("finds %q, want %q", got, want)
		}
		if st := x.Status(); st.State != StateReady || st.Pending != 0 {
			t.Errorf("status %+v: what it lacks is not its work", st)
		}
		x.Changed(nil, mine.remove("api/a.md#two"))
		if got := found(); !slices.Equal(got, []string{"api/a.md#one"}) {
			t.Errorf("finds %q after a removal", got)
		}
		x.Changed(mine.put("api/a.md", "three"), nil)
		if err := x.WaitFor(t.Context(), []string{"api/a.md#three"}); err != nil {
			t.Error(err)
		}
		time.Sleep(readerRecheck)
		synctest.Wait()
		if got, want := found(), []string{"api/a.md#one", "api/a.md#three"}; !slices.Equal(got, want) {
			t.Errorf("finds %q, want %q", got, want)
		}
		if !x.Has("api/a.md#three") || x.Has("api/a.md#not yet written") {
			t.Error("does not know what there is")
		}
		d, err := x.Reconcile(t.Context(), true)
		if err != nil || d != (Difference{Missing: 1}) || x.Pending() != 0 {
			t.Errorf("reconcile: %+v, %v, %d pending", d, err, x.Pending())
		}
		if len(store.upserts) != upserts || len(store.deletes) != 0 || len(store.claims) != claims {
			t.Errorf("a reader wrote: %v, %v, %v", store.upserts, store.deletes, store.claims)
		}
		if bytes.Contains(log.Bytes(), []byte("WARN")) {
			t.Errorf("log: %s", log)
		}
	})
}

// A provider that says it does not answer queries is down as well.
func TestAilingProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &ailingProvider{err: errors.New("no answer in 400 ms")}
		x, _, stop := started(t, Config{Store: newShared("a", nil), Provider: p, Source: filesOf("one")})
		defer stop()
		if st := x.Status(); st.State != StateDown || st.LastError != "no answer in 400 ms" {
			t.Errorf("status %+v", st)
		}
		p.err = nil
		if st := x.Status(); st.State != StateReady || st.LastError != "" {
			t.Errorf("status %+v", st)
		}
	})
}

type ailingProvider struct {
	fakeProvider
	err error
}

func (p *ailingProvider) Ailment() error { return p.err }

// A store that says it does not serve searches is down, and its refusals make no comparison each.
func TestAilingStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newShared("a", nil)
		x, _, stop := started(t, Config{Store: store, Provider: &fakeProvider{}, Source: filesOf("one")})
		defer stop()
		store.ailing = errors.New("takes 3 s for a search")
		if st := x.Status(); st.State != StateDown || st.LastError != "takes 3 s for a search" {
			t.Errorf("status %+v", st)
		}
		lists := store.listed()
		store.fail(fmt.Errorf("%w: breaker open", ErrAway))
		for range 5 {
			if _, err := x.Search(t.Context(), "one", 1, ""); !errors.Is(err, ErrAway) {
				t.Errorf("Search: %v", err)
			}
		}
		synctest.Wait()
		if n := store.listed() - lists; n != 0 {
			t.Errorf("%d comparisons", n)
		}
		store.fail(nil)
		time.Sleep(awayPause)
		synctest.Wait()
		if n := store.listed() - lists; n != 1 {
			t.Errorf("%d comparisons after a while, want 1", n)
		}
	})
}
