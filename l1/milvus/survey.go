package milvus

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"knowledged/l1"
)

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
