package milvus

import (
	"context"
	"fmt"
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

	writerPrefix = "writer/" // of the ids of the writers' own rows
)

// stray is a row that nobody claims.
type stray struct{ since time.Time }

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
	for len(chunks) > 0 {
		part := chunks[:min(len(chunks), batchRows)]
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

type writer struct {
	seen time.Time
	uses string // real name of a collection
}

func (w writer) dead() bool { return time.Since(w.seen) > claimLife }

func (s *Store) readClaims(ctx context.Context, ses *session, expr string) (*claims, error) {
	all := &claims{held: make(map[string]struct{}), others: make(map[string]struct{}), writers: make(map[string]writer)}
	// Writers first: a claim of one that is not listed is that of one who has just come.
	own := fmt.Sprintf("%s == %s", fieldChunk, quote(""))
	err := ses.scan(ctx, claimsName(s.c.Collection), own, []string{fieldID, fieldOwner, fieldSeen, fieldUses}, entity.ClStrong, func(p page) error {
		for i := range p.rows {
			if owner := p.text(fieldOwner, i); owner != s.writer {
				all.writers[owner] = writer{time.Unix(p.number(fieldSeen, i), 0), p.text(fieldUses, i)}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list writers: %w", err)
	}
	err = ses.scan(ctx, claimsName(s.c.Collection), expr, []string{fieldID, fieldChunk, fieldOwner, fieldHeld}, entity.ClStrong, func(p page) error {
		for i := range p.rows {
			chunk, owner, held := p.text(fieldChunk, i), p.text(fieldOwner, i), p.yes(fieldHeld, i)
			w, known := all.writers[owner]
			switch {
			case chunk == "":
			case owner == s.writer && held:
				all.held[chunk] = struct{}{}
			case owner == s.writer:
				all.leaving = append(all.leaving, chunk)
			case known && w.dead():
				all.dead = append(all.dead, p.text(fieldID, i))
			case held:
				all.others[chunk] = struct{}{}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	return all, nil
}

// Survey lists rows, then claims: in this order every row that somebody has put has its claim.
func (s *Store) Survey(ctx context.Context) (l1.Survey, error) {
	ids, err := s.IDs(ctx)
	if err != nil {
		return l1.Survey{}, err
	}
	ses, err := s.need(ctx)
	if err != nil {
		return l1.Survey{}, err
	}
	if time.Since(ses.announced) > announceEvery {
		if err := s.announce(ctx, ses); err != nil {
			return l1.Survey{}, s.lost(ctx, ses, err)
		}
	}
	all, err := s.readClaims(ctx, ses, "")
	if err == nil {
		err = s.forgetDead(ctx, ses, all.dead)
	}
	if err != nil {
		return l1.Survey{}, s.lost(ctx, ses, err)
	}
	v := l1.Survey{Left: all.leaving}
	rows := make(map[string]struct{}, len(ids))
	unclaimed := make(map[string]stray)
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		rows[id] = struct{}{}
		if _, ok := all.held[id]; ok {
			v.Mine = append(v.Mine, id)
			continue
		}
		v.Others = append(v.Others, id)
		if _, ok := all.others[id]; ok {
			continue
		}
		known, ok := s.strays[id]
		if !ok {
			known = stray{since: now}
		} else if now.Sub(known.since) > strayLife {
			v.Left = append(v.Left, id)
		}
		unclaimed[id] = known
	}
	for id := range all.held {
		if _, ok := rows[id]; !ok {
			v.Left = append(v.Left, id) // a claim without a row
		}
	}
	s.mine, s.strays = all.held, unclaimed
	return v, nil
}

// forgetDead takes back the claims of daemons that are gone for good; their rows are strays then.
func (s *Store) forgetDead(ctx context.Context, ses *session, claims []string) error {
	if len(claims) > 0 {
		s.log.Info("claims of daemons not seen for long are dropped", "claims", len(claims), "after", claimLife)
	}
	return s.remove(ctx, ses, claimsName(s.c.Collection), claims)
}

// Claim claims rows, then looks whether they are there: who deletes a row looks at the claims first.
func (s *Store) Claim(ctx context.Context, ids []string) (absent []string, err error) {
	if s.c.ReadOnly {
		return nil, errReadOnly
	}
	ses, err := s.need(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.claim(ctx, ses, ids); err != nil {
		return nil, fmt.Errorf("claim rows: %w", s.lost(ctx, ses, err))
	}
	there := make(map[string]bool, len(ids))
	for rest := ids; len(rest) > 0; {
		part := rest[:min(len(rest), batchRows)]
		rest = rest[len(part):]
		p, err := ses.query(ctx, ses.rows, fieldID+" in "+list(part), []string{fieldID}, entity.ClStrong)
		if err != nil {
			return nil, fmt.Errorf("look for rows: %w", s.lost(ctx, ses, err))
		}
		for i := range p.rows {
			there[p.text(fieldID, i)] = true
		}
	}
	for _, id := range ids {
		if !there[id] {
			absent = append(absent, id)
		}
	}
	return absent, nil
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
