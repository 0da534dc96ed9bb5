package daemon

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"knowledged/registry"
)

// step is a file that came from the place of another document: the same bytes in the same inode.
type step struct {
	to   int              // index of the finding
	from *registry.Record // the document it is
}

// replaced sees to places whose document moved on while another was put there, so that they seem edited, or are not even
// to be looked at yet: a file renamed and another saved under its name, two files that change places, chains of such
// renames. The file that moved keeps the identity; a place left behind gets what came to it, or becomes a new document.
// A file that merely replaced another, which is nowhere now, does not bring its identity along: that is how editors save.
// It returns found, with such places added.
func (p *pipeline) replaced(found []finding) []finding {
	found, known := p.lateMoves(found)
	steps := map[string]step{} // by docId
	for i := 0; i < len(found); i++ {
		f := found[i]
		if f.record == nil || f.same || f.movedFrom != "" || f.record.Inode == 0 || f.record.Failed() || f.old != nil && f.old.Inode == f.record.Inode {
			continue
		}
		for _, twin := range p.registry.ByHash(f.record.FileHash) {
			if rec := known[twin.Path]; rec != nil {
				twin = rec
			}
			if _, taken := steps[twin.DocID]; taken || twin.Inode != f.record.Inode || twin.Path == f.path {
				continue
			}
			at := slices.IndexFunc(found, func(f finding) bool { return f.path == twin.Path })
			if at < 0 {
				at, found = len(found), append(found, p.lookAtPlace(twin))
			}
			if place := found[at]; place.gone && f.old == nil || !place.left(twin.Inode) {
				continue // a plain move, which settleMoves sees to; or a hard link
			}
			steps[twin.DocID] = step{to: i, from: twin}
			break
		}
	}
	// Where another document still is, none moves in.
	for again := true; again; {
		again = false
		for id, s := range steps {
			if old := found[s.to].old; old != nil {
				if _, moved := steps[old.DocID]; !moved {
					delete(steps, id)
					p.moved.displace(displaced{was: old, came: s.from, at: time.Now()})
					again = true
				}
			}
		}
	}
	for i := range found {
		f := &found[i]
		if f.old == nil {
			continue
		}
		if _, f.movedOn = steps[f.old.DocID]; f.movedOn && f.record != nil {
			f.record.DocID, f.record.CreatedAt = uuid.NewString(), time.Now()
		}
	}
	for _, s := range steps {
		f := &found[s.to]
		f.record.DocID, f.record.CreatedAt, f.movedFrom = s.from.DocID, s.from.CreatedAt, s.from.Path
	}
	return slices.DeleteFunc(found, func(f finding) bool { return f.same && f.record == nil })
}

// displaced is a document in whose place another was moved, and which may yet turn up elsewhere: renames that follow each
// other closely may be told in two parts, the later first.
type displaced struct {
	was  *registry.Record // as it was in its place
	came *registry.Record // the document that is there now, as it was in its own place
	at   time.Time
}

func (g *graves) displace(d displaced) {
	g.displaced = slices.DeleteFunc(g.displaced, func(old displaced) bool { return d.at.Sub(old.at) > graveTime })
	if len(g.displaced) < 1000 {
		g.displaced = append(g.displaced, d)
	}
}

// lateMoves finds new files that are displaced documents: each gets its identity back from its old place, which takes on
// that of the document that moved there. known are such places' records as they are to be from now on.
func (p *pipeline) lateMoves(found []finding) (all []finding, known map[string]*registry.Record) {
	known = map[string]*registry.Record{}
	for i := 0; i < len(found) && len(p.moved.displaced) > 0; i++ {
		f := &found[i]
		if f.record == nil || f.old != nil || f.record.Inode == 0 {
			continue
		}
		k := slices.IndexFunc(p.moved.displaced, func(d displaced) bool {
			return d.was.Inode == f.record.Inode && d.was.FileHash == f.record.FileHash && time.Since(d.at) <= graveTime
		})
		if k < 0 {
			continue
		}
		d := p.moved.displaced[k]
		p.moved.displaced = slices.Delete(p.moved.displaced, k, k+1)
		here, ok := p.registry.Get(d.was.Path)
		_, taken := p.registry.ByID(d.came.DocID)
		if known[d.was.Path] != nil || !ok || here.DocID != d.was.DocID || here.Inode == d.was.Inode || taken {
			continue
		}
		f.record.DocID, f.record.CreatedAt, f.movedFrom = d.was.DocID, d.was.CreatedAt, d.was.Path
		at := slices.IndexFunc(found, func(f finding) bool { return f.path == here.Path })
		if at < 0 || found[at].record == nil && !found[at].gone {
			place := *here
			at, found = len(found), append(found, finding{path: here.Path, old: here, same: true, record: &place})
		}
		now := *here
		now.DocID, now.CreatedAt = d.came.DocID, d.came.CreatedAt
		place := &found[at]
		place.old, known[here.Path] = &now, &now
		if place.record != nil {
			place.record.DocID, place.record.CreatedAt = now.DocID, now.CreatedAt
		}
		p.moved.forget(now.DocID) // it is alive
	}
	return found, known
}

// lookAtPlace looks at the place of a document whose bytes turned up elsewhere, ahead of its turn.
func (p *pipeline) lookAtPlace(rec *registry.Record) finding {
	f := p.look(rec.Path, true)
	if f.held { // what is being written there, its own turn tells
		if info, err := p.folder.Stat(rec.Path); err == nil && statOf(info).inode != rec.Inode {
			place := *rec
			place.Inode = 0
			return finding{path: rec.Path, old: rec, same: true, record: &place}
		}
		return finding{path: rec.Path, old: rec, same: true}
	}
	return f
}

// left tells whether a place no longer holds the file it had.
func (f *finding) left(inode uint64) bool {
	return f.gone || f.record != nil && f.record.Inode != inode
}
