package daemon

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"knowledged/chunker"
	"knowledged/config"
	"knowledged/document"
	"knowledged/registry"
	"knowledged/watcher"
)

var (
	randomSequences = flag.Int("random.sequences", 0, "how many random sequences TestRandom runs; 0: a few")
	randomSeed      = flag.Uint64("random.seed", 0, "the one sequence that TestRandom is to replay; 0: new ones")
)

// few is how many sequences a run of all tests makes: one for each way of noticing.
const few = 8

// SPEC 4.1, 4.2: whatever several writers do to a folder at once, once nothing is pending the registry, L0 and L1 equal
// the folder, and documents that only moved keep their docId. A sequence is replayed with -random.seed; how its writers
// interleave is up to the machine.
func TestRandom_4_1_4_2(t *testing.T) {
	seeds := make([]uint64, max(*randomSequences, few))
	base := rand.Uint64() >> 16 << 8 // short to copy; the low bits choose the way of noticing
	for i := range seeds {
		seeds[i] = base + uint64(i)
	}
	if *randomSeed != 0 {
		seeds = []uint64{*randomSeed}
	} else if *randomSequences == 0 && testing.Short() {
		seeds = seeds[:4]
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("replay: go test ./daemon -run TestRandom -random.seed=%d", seed)
				}
			}()
			newSequence(t, seed).run()
		})
	}
}

// sequence is one run of the test.
type sequence struct {
	*world
	seed    uint64
	how     string                      // the changes are noticed
	outside string                      // a folder beside the base folder
	shift   int                         // of the writers, counted from 1
	said    map[string]*registry.Record // file hash → document before the moves
	places  map[string]*registry.Record // path → document before the moves
}

// ways of noticing changes, by the seed's low bits.
var ways = []string{"events", "polling", "events and comparison", "events lost"}

func newSequence(t *testing.T, seed uint64) *sequence {
	s := &sequence{world: newWorld(t), seed: seed, how: ways[seed%uint64(len(ways))], outside: t.TempDir()}
	s.cfg.Watch.Settle = config.Duration(5 * time.Millisecond)
	s.cfg.Watch.MaxSettle = config.Duration(60 * time.Millisecond)
	s.cfg.Watch.PollInterval = config.Duration(40 * time.Millisecond)
	switch s.how {
	case "events":
		s.cfg.Watch.Mode = watcher.ModeFsnotify
	case "polling":
		s.cfg.Watch.Mode = watcher.ModePoll
	}
	return s
}

func (s *sequence) begin() {
	s.open()
	if s.how == "events lost" {
		r := rand.New(rand.NewPCG(s.seed, 99)) // the watcher's loop asks, one event at a time
		s.watcher.LoseEvents(func() bool { return r.IntN(3) == 0 })
	}
	s.world.run()
	s.idle()
}

func (s *sequence) run() {
	s.writers(4, 15, false) // what a first scan finds
	s.begin()
	s.compare("the first scan")
	for round := range 2 {
		s.writers(3, 40, false)
		s.compare("changes")
		s.remember()
		offline := s.seed>>2%2 == uint64(round)
		if offline {
			s.halt()
		}
		s.writers(1, 12, true)
		if offline {
			s.begin()
		}
		s.compare("moves")
		s.keptIDs()
	}
}

// writers lets n of them work on the folder at once, and waits for them.
func (s *sequence) writers(n, steps int, moves bool) {
	var g sync.WaitGroup
	s.shift++
	for i := range n {
		g.Go(func() {
			w := &writer{
				r: rand.New(rand.NewPCG(s.seed, uint64(s.shift*100+i))), base: s.base, outside: s.outside,
				events: s.how == "events", serial: serialOf(s.shift, i),
			}
			for range steps {
				if moves {
					w.move()
				} else {
					w.step()
				}
			}
		})
	}
	g.Wait()
}

// quiet waits until everything that happened is applied. Where events tell of all, nothing pending is enough, at once.
func (s *sequence) quiet() {
	s.t.Helper()
	if s.how != "events" {
		// The comparison under way may have passed a place before it changed; the next may find a file too fresh for its
		// times to be believed.
		for range 3 {
			last := s.watcher.Status().LastWalk
			s.eventually("compared", func() bool { return s.watcher.Status().LastWalk.After(last) })
		}
	}
	s.idle()
}

// compare holds registry, L0 and L1 against the folder.
func (s *sequence) compare(after string) {
	s.t.Helper()
	s.quiet()
	want := folderOf(s.t, s.base)
	want.addLinks(s.t, s.base, s.paths())
	if got := s.paths(); !slices.Equal(got, want.paths) {
		for _, path := range slices.Concat(got, want.paths) {
			if slices.Contains(got, path) != slices.Contains(want.paths, path) {
				_, err := s.watcher.Stat(path)
				real, _ := filepath.EvalSymlinks(s.abs(path))
				s.t.Logf("%s, which is %s: the watcher says %v, document %t", path, real, err, want.files[path] != nil)
			}
		}
		s.t.Fatalf("%s, %s: the registry has\n%q\nthe folder\n%q", s.how, after, got, want.paths)
	}
	chunks := map[string]bool{}
	matches := map[string][]string{}
	owners := map[string]string{}
	for _, path := range want.paths {
		data := want.files[path]
		rec, _ := s.registry.Get(path)
		d, err := document.Parse(path, data, s.docOpt)
		if rec.FileHash != hashOf(data, true) || rec.Failed() != (err != nil) {
			s.t.Fatalf("%s, %s: the record of %s is of other bytes than\n%q: %q", s.how, after, path, data, rec.Error)
		}
		if other := owners[rec.DocID]; other != "" {
			s.t.Errorf("%s, %s: %s and %s share a docId", s.how, after, other, path)
		}
		owners[rec.DocID] = path
		if rec.Failed() {
			continue // two wrote at once, and left no text
		}
		if rec.Title != d.Title || rec.InL0 != d.InL0 {
			s.t.Errorf("%s, %s: %s has the title %q, want %q", s.how, after, path, rec.Title, d.Title)
		}
		var ids []string
		for _, c := range chunker.Split(d, chunker.Options{}) {
			ids = append(ids, c.ID)
			chunks[c.ID] = true
		}
		if !slices.Equal(rec.ChunkIDs(), ids) {
			s.t.Errorf("%s, %s: the chunks of %s are others", s.how, after, path)
		}
		if d.InL0 && len(d.Keywords) > 0 {
			matches[d.Keywords[0]] = append(matches[d.Keywords[0]], path)
		}
	}
	for _, keyword := range s.everWritten() {
		var got []string
		for _, m := range s.l0.Match(keyword) {
			got = append(got, m.Path)
		}
		if !slices.Equal(got, matches[keyword]) {
			s.t.Errorf("%s, %s: %s leads to %q, want %q", s.how, after, keyword, got, matches[keyword])
		}
	}
	ids, err := s.l0.IDs()
	if err != nil {
		s.t.Fatal(err)
	}
	if len(ids) != len(chunks) || s.l1.Status().Chunks != len(chunks) {
		s.t.Errorf("%s, %s: %d chunks in L0, %d in L1, want %d", s.how, after, len(ids), s.l1.Status().Chunks, len(chunks))
	}
	for id := range chunks {
		if _, ok := ids[id]; !ok || !s.l1.Has(id) {
			s.t.Fatalf("%s, %s: chunk %s of %s is missing: in L0 %t, in L1 %t", s.how, after, id, s.owner(id), ok, s.l1.Has(id))
		}
	}
}

// everWritten are the keywords of all documents that the writers may have made.
func (s *sequence) everWritten() (all []string) {
	for shift := 1; shift <= s.shift; shift++ {
		for i := range 4 {
			for n := range 60 {
				all = append(all, keywordOf(serialOf(shift, i)+n+1))
			}
		}
	}
	return all
}

// remember notes the docIds of documents whose bytes no other file has.
func (s *sequence) remember() {
	s.said, s.places = map[string]*registry.Record{}, map[string]*registry.Record{}
	for _, rec := range s.registry.All() {
		s.places[rec.Path] = rec
		if len(s.registry.ByHash(rec.FileHash)) == 1 {
			s.said[rec.FileHash] = rec
		}
	}
}

// keptIDs holds documents that only moved against what remember noted.
func (s *sequence) keptIDs() {
	s.t.Helper()
	for _, rec := range s.registry.All() {
		was, ok := s.said[rec.FileHash]
		if here := s.places[rec.Path]; here != nil && here.DocID == rec.DocID && (s.said[here.FileHash] == nil || len(s.registry.ByHash(here.FileHash)) == 0) {
			continue // what was here is no document any more, or had a twin: to anyone else this was a save
		}
		if ok && len(s.registry.ByHash(rec.FileHash)) == 1 && rec.DocID != was.DocID {
			s.t.Errorf("%s: %s moved to %s and has the docId %s, not %s; what the log says of it:", s.how, was.Path, rec.Path, rec.DocID, was.DocID)
			if here := s.places[rec.Path]; here != nil {
				for _, other := range s.registry.ByHash(here.FileHash) {
					s.t.Logf("where it is was %s, which is at %s as %s", here.DocID, other.Path, other.DocID)
				}
			}
			for line := range strings.Lines(s.log.text()) {
				if strings.Contains(line, rec.DocID) || strings.Contains(line, was.DocID) {
					s.t.Log(line)
				}
			}
		}
	}
}
