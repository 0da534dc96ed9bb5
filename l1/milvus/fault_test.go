package milvus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"knowledged/breaker"
	"knowledged/l1"
	"knowledged/l1/l1test"
)

// lookupTime is what a lookup gives to the semantic index by default.
const lookupTime = 400 * time.Millisecond

// lookups searches n times as lookups do, and gives how long each took and the errors.
func lookups(t testing.TB, s *Store, n int) (times []time.Duration, errs []error) {
	for range n {
		ctx, cancel := context.WithTimeout(t.Context(), lookupTime)
		start := time.Now()
		_, err := s.Search(ctx, l1test.Vector(1), 10, "")
		times, errs = append(times, time.Since(start)), append(errs, err)
		cancel()
	}
	return times, errs
}

// SPEC 2.10, 3.6: a server that does not answer costs a lookup its time limit a few times, then next to nothing; when it
// answers again, searches do.
func TestBlackHole_2_10(t *testing.T) {
	c := config(t)
	p := newProxy(t, c.Address)
	c.Address = p.address()
	s := opened(t, c)
	if err := s.Upsert(t.Context(), []l1.Row{l1test.Row("a", 1, "")}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 15*time.Second, "the row", func() bool {
		hits, err := s.Search(t.Context(), l1test.Vector(1), 1, "")
		return err == nil && len(hits) == 1
	})
	p.hole.Store(true)
	times, errs := lookups(t, s, breaker.TripAfter)
	for i, took := range times {
		if took > lookupTime+20*time.Millisecond || errs[i] == nil {
			t.Errorf("lookup %d took %s: %v", i, took, errs[i])
		}
	}
	times, errs = lookups(t, s, 200)
	slices.Sort(times)
	if p99 := times[197]; p99 > 5*time.Millisecond {
		t.Errorf("with the breaker open p99 is %s", p99)
	}
	if !errors.Is(errs[0], l1.ErrAway) || !strings.Contains(errs[0].Error(), "does not answer in time") {
		t.Errorf("error %v", errs[0])
	}
	if err := s.Ailment(); err == nil {
		t.Error("the store says that it is well")
	}
	p.hole.Store(false)
	p.setDown(true) // what was swallowed is lost, so is the connection
	p.setDown(false)
	eventually(t, 45*time.Second, "searches to work again", func() bool {
		_, errs := lookups(t, s, 1)
		return errs[0] == nil
	})
	if err := s.Ailment(); err != nil {
		t.Errorf("ailment %v", err)
	}
}

// A server that is slow, though it answers, is left alone as well.
func TestSlowServer(t *testing.T) {
	c := config(t)
	p := newProxy(t, c.Address)
	c.Address = p.address()
	s := opened(t, c)
	if _, err := s.IDs(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.delay.Store(int64(400 * time.Millisecond))
	lookups(t, s, breaker.TripAfter)
	eventually(t, 15*time.Second, "a probe to say that it is slow", func() bool {
		times, errs := lookups(t, s, 1)
		return times[0] < 100*time.Millisecond && errs[0] != nil && strings.Contains(errs[0].Error(), "for a search")
	})
	p.delay.Store(0)
	eventually(t, breaker.LongHold+5*time.Second, "searches to work again", func() bool {
		_, errs := lookups(t, s, 1)
		return errs[0] == nil
	})
}

// SPEC 3.6: down at the start, going away, coming back empty: the daemon's part converges by itself, and nothing is embedded
// twice.
func TestGoesAwayAndComesBack_3_6(t *testing.T) {
	c := config(t)
	p := newProxy(t, c.Address)
	p.setDown(true)
	through := c
	through.Address = p.address()
	d := start(t, through, documentsOf("alpha", "beta"))
	eventually(t, 10*time.Second, "the state to say so", func() bool {
		st := d.Status()
		return st.State == l1.StateDown && strings.Contains(st.LastError, p.address())
	})
	if _, errs := lookups(t, d.store, 1); !errors.Is(errs[0], l1.ErrAway) {
		t.Errorf("search: %v", errs[0])
	}
	p.setDown(false)
	d.idle()
	wantRows(t, d, "id-alpha", "id-beta")

	p.setDown(true)
	d.Changed(d.docs.add("gamma"), d.docs.remove("alpha"))
	eventually(t, 30*time.Second, "the state to say so", func() bool { return d.Status().State == l1.StateDown })
	p.setDown(false)
	d.idle()
	wantRows(t, d, "id-beta", "id-gamma")
	if d.finds("alpha") || !d.finds("gamma") {
		t.Error("finds what was deleted, or not what was put")
	}
	if n := d.provider.count(); n != 3 {
		t.Errorf("%d passages embedded, want 3", n)
	}

	// As a server that was set up anew.
	dropAll(t, c)
	eventually(t, time.Minute, "the collection to be filled again", func() bool {
		hits, err := d.Search(t.Context(), "beta", 1, "")
		return err == nil && len(hits) == 1 && hits[0].ChunkID == "id-beta" && d.Status().State == l1.StateReady
	})
	wantRows(t, d, "id-beta", "id-gamma")
	if n := d.provider.count(); n != 3 {
		t.Errorf("%d passages embedded, want no more than 3", n)
	}
}

// Released by somebody, the collection is loaded again.
func TestReleased(t *testing.T) {
	c := config(t)
	d := start(t, c, documentsOf("alpha"))
	d.idle()
	cl := dialed(t, c)
	if err := cl.ReleaseCollection(t.Context(), realName(c.Collection, c.Model, d.provider.Dimensions())); err != nil {
		t.Fatal(err)
	}
	_, err := d.Search(t.Context(), "alpha", 1, "")
	if err == nil || !strings.Contains(err.Error(), "has not loaded the collection yet") {
		t.Errorf("search of a released collection: %v", err)
	}
	eventually(t, 30*time.Second, "alpha to be found", func() bool {
		hits, err := d.Search(t.Context(), "alpha", 1, "")
		return err == nil && len(hits) == 1
	})
	d.stop()
	if err := cl.ReleaseCollection(t.Context(), realName(c.Collection, c.Model, d.provider.Dimensions())); err != nil {
		t.Fatal(err)
	}
	d = start(t, c, d.docs)
	d.idle()
	eventually(t, 5*time.Second, "alpha to be found after the start", func() bool { return d.finds("alpha") })
}

// SPEC 3.6: dropped by somebody, while the daemon runs or while it does not, the collections are made and filled again. The
// server keeps the alias of a collection that was dropped, and it stands for nothing then.
func TestDropped_3_6(t *testing.T) {
	c := config(t)
	d := start(t, c, documentsOf("alpha"))
	d.idle()
	cl := dialed(t, c)
	drop := func() {
		t.Helper()
		for _, name := range []string{realName(c.Collection, c.Model, d.provider.Dimensions()), claimsName(c.Collection)} {
			if err := cl.DropCollection(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	both := func() bool { // errors are what there is meanwhile
		for _, text := range []string{"alpha", "beta"} {
			hits, err := d.Search(t.Context(), text, 1, "")
			if err != nil || len(hits) != 1 || hits[0].ChunkID != "id-"+text {
				return false
			}
		}
		return true
	}
	drop()
	d.Changed(d.docs.add("beta"), nil)
	eventually(t, 90*time.Second, "both to be found", both)
	d.stop()
	drop()
	d = start(t, c, d.docs)
	eventually(t, 90*time.Second, "both to be found after the start", both)
}

// SPEC 3.5: a database of one's own is made by the writer.
func TestDatabase(t *testing.T) {
	c := config(t)
	cl := dialed(t, c)
	c.Database = c.Collection
	reading := c
	reading.ReadOnly = true
	r := opened(t, reading)
	if _, err := r.IDs(t.Context()); err == nil || !strings.Contains(err.Error(), "l1.milvus.database") {
		t.Errorf("a reader in a database that is not there: %v", err)
	}
	if err := Check(t.Context(), reading); err == nil || !strings.Contains(err.Error(), "l1.milvus.database") {
		t.Errorf("Check of a reader: %v", err)
	}
	if err := Check(t.Context(), c); err != nil {
		t.Errorf("Check of a writer, who will make it: %v", err)
	}
	s := opened(t, c)
	if err := s.Upsert(t.Context(), []l1.Row{l1test.Row("a", 1, "")}); err != nil {
		t.Fatal(err)
	}
	if has(t, cl, realName(c.Collection, c.Model, l1test.Dims)) {
		t.Error("the collection is in the default database")
	}
	s.Close()
	dropAll(t, c)
	if err := cl.DropDatabase(t.Context(), c.Database); err != nil {
		t.Error(err)
	}
}

// Faults that need no server say what to do.
func TestUnreachable(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	for _, tc := range []struct {
		name, address, want string
		max                 time.Duration
	}{
		{"nobody listens", closed.Addr().String(), "is Milvus running (l1.milvus.address)?", time.Second},
		{"unknown host", "no-such-host.invalid:19530", "is not known (l1.milvus.address)", dialTimeout + 2*time.Second},
		{"mute", mute.Addr().String(), "does not answer in time", dialTimeout + 2*time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := opened(t, Config{Address: tc.address, Database: "default", Collection: "c", Model: "m", Dimensions: fixed(4), WriterFile: t.TempDir() + "/w"})
			start := time.Now()
			_, err := s.IDs(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v", err)
			}
			if took := time.Since(start); took > tc.max {
				t.Errorf("took %s", took)
			}
			if _, err := s.Search(t.Context(), make([]float32, 4), 1, ""); !errors.Is(err, l1.ErrAway) {
				t.Errorf("search: %v", err)
			}
			if err := s.Ailment(); err != nil {
				t.Errorf("ailment %v, though it is Run that knows", err)
			}
			s.Close()
			if _, err := s.IDs(t.Context()); err == nil {
				t.Error("works after Close")
			}
		})
	}
	failing := opened(t, Config{
		Address: closed.Addr().String(), Model: "m", WriterFile: t.TempDir() + "/w",
		Dimensions: func(context.Context) (int, error) { return 0, errors.New("the embedding server is down") },
	})
	if _, err := failing.IDs(t.Context()); err == nil || !strings.Contains(err.Error(), "embedding server is down") {
		t.Errorf("without dimensions: %v", err)
	}
}

func BenchmarkSearch(b *testing.B) {
	c := config(b)
	s := opened(b, c)
	var rows []l1.Row
	for i := range 5000 {
		rows = append(rows, l1test.Row(fmt.Sprint(i), i, "api"))
	}
	if err := s.Upsert(b.Context(), rows); err != nil {
		b.Fatal(err)
	}
	if _, err := s.IDs(b.Context()); err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := s.Search(b.Context(), l1test.Vector(7), 121, ""); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}
