package milvus

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"knowledged/l1"
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

// Survey claims first and lists rows then: who deletes a row looks at the claims before. So a row that is listed stays, but
// for one that another daemon is deleting at this very moment; the next comparison puts that again.
func (s *Store) Survey(ctx context.Context, want map[string]struct{}, claim bool) (l1.Survey, error) {
	if s.c.ReadOnly {
		return l1.Survey{}, errReadOnly
	}
	ses, err := s.need(ctx)
	if err != nil {
		return l1.Survey{}, err
	}
	all, err := s.surveyClaims(ctx, ses, want, claim)
	if err != nil {
		return l1.Survey{}, s.lost(ctx, ses, err)
	}
	v := l1.Survey{Left: all.leaving}
	for id := range all.held {
		if _, ok := want[id]; !ok {
			v.Left = append(v.Left, id)
		}
	}
	if ses.freshRows.Load() {
		return v, nil
	}
	if v.Rows, err = s.IDs(ctx); err != nil {
		return l1.Survey{}, err
	}
	v.Left = append(v.Left, s.findStrays(v.Rows, all, want)...)
	return v, nil
}

func (s *Store) surveyClaims(ctx context.Context, ses *session, want map[string]struct{}, claim bool) (*claims, error) {
	if claim && time.Since(ses.announced) > announceEvery {
		if err := s.announce(ctx, ses); err != nil {
			return nil, err
		}
	}
	all := newClaims()
	if !ses.freshClaims.Load() {
		var err error
		if all, err = s.readClaims(ctx, ses, ""); err != nil {
			return nil, err
		}
	}
	all.leaving = slices.DeleteFunc(all.leaving, func(id string) bool { return in(want, id) })
	if !claim {
		return all, nil
	}
	s.mu.Lock()
	s.mine = maps.Clone(all.held)
	s.mu.Unlock()
	if err := s.claim(ctx, ses, slices.Collect(maps.Keys(want))); err != nil {
		return nil, fmt.Errorf("claim rows: %w", err)
	}
	return all, s.forgetDead(ctx, ses, all.dead)
}

// findStrays gives the rows that nobody has claimed for strayLife.
func (s *Store) findStrays(rows []string, all *claims, want map[string]struct{}) (left []string) {
	now := time.Now()
	unclaimed := make(map[string]time.Time)
	s.mu.Lock()
	defer s.mu.Unlock()
	leaving := make(map[string]struct{}, len(all.leaving))
	for _, id := range all.leaving {
		leaving[id] = struct{}{}
	}
	for _, id := range rows {
		if in(want, id) || in(all.held, id) || in(all.others, id) || in(leaving, id) {
			continue
		}
		since, known := s.strays[id]
		if !known {
			since = now
		} else if now.Sub(since) > strayLife {
			left = append(left, id)
		}
		unclaimed[id] = since
	}
	s.strays = unclaimed
	return left
}

func in(ids map[string]struct{}, id string) bool { _, ok := ids[id]; return ok }

// forgetDead takes back the claims of daemons that are gone for good; their rows are strays then.
func (s *Store) forgetDead(ctx context.Context, ses *session, claims []string) error {
	if len(claims) > 0 {
		s.log.Info("claims of daemons not seen for long are dropped", "claims", len(claims), "after", claimLife)
	}
	return s.remove(ctx, ses, claimsName(s.c.Collection), claims)
}

// Delete takes back this daemon's claims and deletes the rows that nobody else claims. Claims are marked first and removed
// last, so that what a crash interrupts is taken up again by the next comparison; and of two daemons that delete the same
// row at once, at least the later finds no claim.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return ctx.Err()
	}
	if s.c.ReadOnly {
		return errReadOnly
	}
	ses, err := s.need(ctx)
	if err != nil {
		return err
	}
	for len(ids) > 0 {
		part := ids[:min(len(ids), batchRows)]
		ids = ids[len(part):]
		if err := s.deletePart(ctx, ses, part); err != nil {
			return s.lost(ctx, ses, err)
		}
	}
	return nil
}

func (s *Store) deletePart(ctx context.Context, ses *session, ids []string) error {
	if err := s.knowMine(ctx, ses); err != nil {
		return err
	}
	var marked []string
	s.mu.Lock()
	for _, id := range ids {
		if _, ok := s.mine[id]; ok {
			marked = append(marked, id)
		}
	}
	s.mu.Unlock()
	if err := s.putClaims(ctx, ses, marked, false); err != nil {
		return fmt.Errorf("take back claims: %w", err)
	}
	s.mu.Lock()
	for _, id := range marked {
		delete(s.mine, id)
	}
	s.mu.Unlock()
	kept, err := s.wantedByOthers(ctx, ses, ids)
	if err != nil {
		return fmt.Errorf("look who else wants rows: %w", err)
	}
	free := make([]string, 0, len(ids))
	for _, id := range ids {
		if !kept[id] {
			free = append(free, id)
		}
	}
	if err := s.remove(ctx, ses, ses.rows, free); err != nil {
		return fmt.Errorf("delete %d rows: %w", len(free), err)
	}
	if err := s.remove(ctx, ses, claimsName(s.c.Collection), s.claimIDs(ids)); err != nil {
		return fmt.Errorf("take back claims: %w", err)
	}
	s.mu.Lock()
	for _, id := range ids {
		delete(s.strays, id)
	}
	s.mu.Unlock()
	return nil
}

func (s *Store) wantedByOthers(ctx context.Context, ses *session, ids []string) (map[string]bool, error) {
	p, err := ses.query(ctx, claimsName(s.c.Collection), fieldChunk+" in "+list(ids)+" and "+fieldHeld+" == true",
		[]string{fieldID, fieldChunk, fieldOwner}, entity.ClStrong)
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool)
	for i := range p.rows {
		if p.text(fieldOwner, i) != s.writer {
			wanted[strings.Clone(p.text(fieldChunk, i))] = true
		}
	}
	return wanted, nil
}

// remove deletes rows of a collection by their ids. The SDK's own way does not escape them.
func (s *Store) remove(ctx context.Context, ses *session, collection string, ids []string) error {
	for len(ids) > 0 {
		part := ids[:min(len(ids), batchRows)]
		ids = ids[len(part):]
		err := patiently(ctx, func() error {
			return ses.client.Delete(ctx, collection, "", fieldID+" in "+list(part))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
