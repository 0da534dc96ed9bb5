package daemon

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"knowledged/registry"
)

// graveTime is how long a removed document's identity is kept for a file that turns up elsewhere. A rename is two events
// and may fall into two batches; a sync client may take a moment longer.
const graveTime = 3 * time.Second

// memoryTime is how long the identity is kept for a document that comes back to its own path with its own bytes: a disk
// was unmounted, a branch checked out and left again.
const memoryTime = 24 * time.Hour

// graves holds records of documents removed lately, by content and by inode. A new file that is one of them is a move:
// it keeps the docId.
type graves struct {
	dead []grave
	most int
	old  map[string]memory // by path: those dead for longer than graveTime

	displaced []displaced
}

// memory is what is kept of a record for memoryTime.
type memory struct {
	docID, hash   string
	created, died time.Time
}

type grave struct {
	rec  *registry.Record
	died time.Time
}

// expect makes room for a listing of n documents: a whole folder may have moved while the daemon was away.
func (g *graves) expect(n int) { g.most = max(g.most, n, 10_000) }

func (g *graves) bury(rec *registry.Record, now time.Time) {
	g.expire(now)
	if len(g.dead) < max(g.most, 10_000) {
		g.dead = append(g.dead, grave{rec, now})
	}
}

func (g *graves) expire(now time.Time) {
	i := 0
	for ; i < len(g.dead) && now.Sub(g.dead[i].died) > graveTime; i++ {
		g.remember(g.dead[i], now)
	}
	g.dead = g.dead[i:]
}

func (g *graves) remember(d grave, now time.Time) {
	if g.old == nil {
		g.old = map[string]memory{}
	}
	if len(g.old) >= max(g.most, 10_000) {
		maps.DeleteFunc(g.old, func(_ string, m memory) bool { return now.Sub(m.died) > memoryTime })
	}
	if len(g.old) < max(g.most, 10_000) && d.rec.FileHash != "" {
		g.old[d.rec.Path] = memory{d.rec.DocID, d.rec.FileHash, d.rec.CreatedAt, d.died}
	}
}

// recall finds a document that died longer ago at this path with these bytes.
func (g *graves) recall(rec *registry.Record, now time.Time) (m memory, ok bool) {
	m, ok = g.old[rec.Path]
	delete(g.old, rec.Path)
	return m, ok && m.hash == rec.FileHash && now.Sub(m.died) <= memoryTime
}

// forget drops a document deleted on purpose: a later upload of the same bytes is a new document.
func (g *graves) forget(docID string) {
	g.dead = slices.DeleteFunc(g.dead, func(d grave) bool { return d.rec.DocID == docID })
}

// claims is an index over graves for one slice of findings.
type claims struct {
	byHash, byInode, byPath map[string]*registry.Record
	taken                   map[string]bool
}

func inodeKey(r *registry.Record) string {
	if r.Inode == 0 {
		return ""
	}
	return strconv.FormatUint(r.Inode, 36)
}

func (g *graves) claims() claims {
	c := claims{
		byHash: map[string]*registry.Record{}, byInode: map[string]*registry.Record{}, byPath: map[string]*registry.Record{},
		taken: map[string]bool{},
	}
	for _, d := range g.dead {
		c.byPath[d.rec.Path] = d.rec
		if d.rec.FileHash != "" {
			c.byHash[d.rec.FileHash] = d.rec
		}
		if k := inodeKey(d.rec); k != "" {
			c.byInode[k] = d.rec
		}
	}
	return c
}

// moved finds the removed document that a new file continues: the same inode (renamed, perhaps edited on the way) or the
// same bytes (copied and deleted).
func (c claims) moved(rec *registry.Record) *registry.Record {
	if old := c.byInode[inodeKey(rec)]; old != nil && !c.taken[old.DocID] && akin(old, rec) {
		return old
	}
	if old := c.byHash[rec.FileHash]; old != nil && !c.taken[old.DocID] {
		return old
	}
	return nil
}

// akin tells a file edited after its rename from an unrelated one that got a freed inode, which some file systems hand out
// at once: the same number alone proves nothing, and neither does the same length.
func akin(old, rec *registry.Record) bool {
	return old.FileHash == rec.FileHash || old.Title != "" && old.Title == rec.Title
}

// back finds the removed document that is there again at its own place: editors put the old file aside before they write
// the new one.
func (c claims) back(rec *registry.Record) *registry.Record {
	if old := c.byPath[rec.Path]; old != nil && !c.taken[old.DocID] {
		return old
	}
	return nil
}

// newcomer tells whether a finding is of a file that may continue a document of another place: there was none here, or
// it moved on.
func (f *finding) newcomer() bool { return f.record != nil && (f.old == nil || f.movedOn) }

// settleMoves gives new documents the identity of those that vanished, and buries what vanished.
func (p *pipeline) settleMoves(found []finding) {
	now := time.Now()
	fresh := false
	for i := range found {
		if f := &found[i]; f.gone && f.old != nil && !f.movedOn {
			p.moved.bury(f.old, now)
		}
		fresh = fresh || found[i].newcomer()
	}
	p.moved.expire(now)
	if !fresh {
		return
	}
	if len(p.moved.dead) > 0 {
		p.claimDead(found)
	}
	for i := range found {
		f := &found[i]
		if !f.newcomer() || f.movedFrom != "" || len(p.moved.old) == 0 {
			continue
		}
		if m, ok := p.moved.recall(f.record, now); ok {
			if _, taken := p.registry.ByID(m.docID); !taken {
				f.record.DocID, f.record.CreatedAt = m.docID, m.created
			}
		}
	}
}

// claimDead lets new documents continue those that vanished a moment ago.
func (p *pipeline) claimDead(found []finding) {
	c := p.moved.claims()
	// What moved is settled before what came back: of a file moved away and another made in its place, the former keeps
	// the identity.
	for _, claim := range []func(*registry.Record) *registry.Record{c.moved, c.back} {
		for i := range found {
			f := &found[i]
			if !f.newcomer() || f.movedFrom != "" {
				continue
			}
			if old := claim(f.record); old != nil {
				c.taken[old.DocID] = true
				f.record.DocID, f.record.CreatedAt = old.DocID, old.CreatedAt
				f.movedFrom = old.Path
			}
		}
	}
	for i := range found {
		f := &found[i]
		f.movedOn = f.movedOn || f.gone && f.old != nil && c.taken[f.old.DocID]
	}
	if len(c.taken) > 0 {
		p.moved.dead = slices.DeleteFunc(p.moved.dead, func(d grave) bool { return c.taken[d.rec.DocID] })
	}
}
