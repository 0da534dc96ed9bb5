package milvus

import (
	"context"
	"fmt"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

const (
	// claimLife is how long a daemon counts that is not seen any more. One that comes back later claims anew what it wants.
	claimLife = 30 * 24 * time.Hour
	// announceEvery is how often a daemon says that it is there.
	announceEvery = time.Hour
	// strayLife is how long a row has to be without any claim until it is deleted: its daemon may be about to say that it
	// wants it, after somebody dropped the claims.
	strayLife = 30 * time.Minute

	claimRows    = 5000      // at a time; they are small
	writerPrefix = "writer/" // of the ids of the writers' own rows
)

// claimID is the key of a claim. Only its daemon writes it, so that no two writes meet.
func (s *Store) claimID(chunk string) string { return s.writer + "/" + chunk }

func (s *Store) claimIDs(chunks []string) []string {
	ids := make([]string, len(chunks))
	for i, c := range chunks {
		ids[i] = s.claimID(c)
	}
	return ids
}

// putClaims writes claims on these chunks.
func (s *Store) putClaims(ctx context.Context, ses *session, chunks []string, held bool) error {
	ses.freshClaims.Store(false)
	for len(chunks) > 0 {
		part := chunks[:min(len(chunks), claimRows)]
		chunks = chunks[len(part):]
		helds := make([]bool, len(part))
		for i := range helds {
			helds[i] = held
		}
		if err := s.putClaimRows(ctx, ses, s.claimIDs(part), part, helds, 0, ""); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) putClaimRows(ctx context.Context, ses *session, ids, chunks []string, held []bool, seen int64, uses string) error {
	owners, useds := make([]string, len(ids)), make([]string, len(ids))
	seens, pads := make([]int64, len(ids)), make([][]float32, len(ids))
	for i := range ids {
		owners[i], seens[i], useds[i], pads[i] = s.writer, seen, uses, []float32{0, 1}
	}
	return patiently(ctx, func() error {
		_, err := ses.client.Upsert(ctx, claimsName(s.c.Collection), "",
			entity.NewColumnVarChar(fieldID, ids), entity.NewColumnVarChar(fieldChunk, chunks),
			entity.NewColumnVarChar(fieldOwner, owners), entity.NewColumnBool(fieldHeld, held),
			entity.NewColumnInt64(fieldSeen, seens), entity.NewColumnVarChar(fieldUses, useds),
			entity.NewColumnFloatVector(fieldPad, padDims, pads))
		return err
	})
}

// announce says that this daemon is there, and which collection it writes.
func (s *Store) announce(ctx context.Context, ses *session) error {
	err := s.putClaimRows(ctx, ses, []string{writerPrefix + s.writer}, []string{""}, []bool{true}, time.Now().Unix(), ses.rows)
	if err != nil {
		return fmt.Errorf("say that this daemon is there: %w", err)
	}
	ses.announced = time.Now()
	return nil
}

// claim claims the chunks that are not claimed yet.
func (s *Store) claim(ctx context.Context, ses *session, chunks []string) error {
	if err := s.knowMine(ctx, ses); err != nil {
		return err
	}
	var fresh []string
	s.mu.Lock()
	for _, c := range chunks {
		if _, ok := s.mine[c]; !ok {
			fresh = append(fresh, c)
		}
	}
	s.mu.Unlock()
	if err := s.putClaims(ctx, ses, fresh, true); err != nil {
		return err
	}
	s.mu.Lock()
	for _, c := range fresh {
		s.mine[c] = struct{}{}
	}
	s.mu.Unlock()
	return nil
}

// knowMine reads what this daemon has claimed, unless a Survey has done so already.
func (s *Store) knowMine(ctx context.Context, ses *session) error {
	s.mu.Lock()
	known := s.mine != nil
	s.mu.Unlock()
	if known {
		return nil
	}
	all, err := s.readClaims(ctx, ses, fieldOwner+" == "+quote(s.writer))
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.mine == nil {
		s.mine = all.held
	}
	s.mu.Unlock()
	return nil
}

// claims is what the collection of claims says.
type claims struct {
	held    map[string]struct{} // chunks that this daemon wants
	leaving []string            // chunks whose deletion this daemon has not finished
	others  map[string]struct{} // chunks that other daemons want
	writers map[string]writer   // other daemons
	dead    []string            // ids of claims of daemons that are not seen any more
}

func newClaims() *claims {
	return &claims{held: make(map[string]struct{}), others: make(map[string]struct{}), writers: make(map[string]writer)}
}

type writer struct {
	seen time.Time
	uses string // real name of a collection
}

func (w writer) dead() bool { return time.Since(w.seen) > claimLife }

func (s *Store) readClaims(ctx context.Context, ses *session, expr string) (*claims, error) {
	all := newClaims()
	byOwner := make(map[string][]claim) // of other daemons: whether one counts is known only when all is read
	fields := []string{fieldID, fieldChunk, fieldOwner, fieldHeld, fieldSeen, fieldUses}
	err := ses.scan(ctx, claimsName(s.c.Collection), expr, fields, entity.ClStrong, func(p page) error {
		for i := range p.rows {
			chunk, owner, held := p.text(fieldChunk, i), p.text(fieldOwner, i), p.yes(fieldHeld, i)
			switch {
			case chunk == "" && owner != s.writer:
				all.writers[owner] = writer{time.Unix(p.number(fieldSeen, i), 0), p.text(fieldUses, i)}
			case chunk == "":
			case owner != s.writer:
				byOwner[owner] = append(byOwner[owner], claim{p.text(fieldID, i), chunk, held})
			case held:
				all.held[chunk] = struct{}{}
			default:
				all.leaving = append(all.leaving, chunk)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	for owner, theirs := range byOwner {
		w, known := all.writers[owner] // one who has just come may not be listed
		for _, c := range theirs {
			if known && w.dead() {
				all.dead = append(all.dead, c.id)
			} else if c.held {
				all.others[c.chunk] = struct{}{}
			}
		}
	}
	return all, nil
}

type claim struct {
	id, chunk string
	held      bool
}
