package milvus

import (
	"context"
	"fmt"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

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
