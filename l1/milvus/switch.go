package milvus

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// pointAlias has the configured name stand for this model's collection. A name that stands for another one already is moved
// only once this one is complete, for whoever else reads by it.
func (s *Store) pointAlias(ctx context.Context, ses *session, move bool) error {
	there, err := ses.client.DescribeCollection(ctx, s.c.Collection)
	switch {
	case noCollection(err):
		err = s.makeAlias(ctx, ses)
	case err != nil:
	case there.Schema.CollectionName == ses.rows || !move:
		return nil
	default:
		err = ses.client.AlterAlias(ctx, ses.rows, s.c.Collection)
	}
	if err != nil {
		return fmt.Errorf("point alias %s to %s: %w", s.c.Collection, ses.rows, err)
	}
	// Otherwise the SDK would go on with the schema that it remembers of the alias.
	if _, err := ses.client.DescribeCollection(ctx, s.c.Collection); err != nil {
		return fmt.Errorf("look up alias %s: %w", s.c.Collection, err)
	}
	return nil
}

// makeAlias makes the name that cannot be looked up. It may be there all the same: somebody dropped the collection that it
// stood for, and the server kept it.
func (s *Store) makeAlias(ctx context.Context, ses *session) error {
	err := ses.client.CreateAlias(ctx, ses.rows, s.c.Collection)
	if err == nil {
		return nil
	}
	if _, there := ses.client.DescribeCollection(ctx, s.c.Collection); there == nil {
		return nil // another daemon was faster
	}
	if ses.client.AlterAlias(ctx, ses.rows, s.c.Collection) == nil {
		return nil
	}
	if ses.client.DropAlias(ctx, s.c.Collection) == nil {
		return ses.client.CreateAlias(ctx, ses.rows, s.c.Collection)
	}
	return err
}

// Retire moves the alias to this model's collection, now that it is complete, and drops those of earlier models, except where
// another daemon still writes one.
func (s *Store) Retire(ctx context.Context) error {
	if s.c.ReadOnly {
		return nil
	}
	ses, err := s.need(ctx)
	if err != nil {
		return err
	}
	return s.lost(ctx, ses, s.retire(ctx, ses))
}

func (s *Store) retire(ctx context.Context, ses *session) error {
	if err := s.pointAlias(ctx, ses, true); err != nil {
		return err
	}
	all, err := ses.client.ListCollections(ctx)
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	ours := regexp.MustCompile(`^` + regexp.QuoteMeta(s.c.Collection) + `_[0-9a-f]{8}$`)
	var old []string
	for _, c := range all {
		if c.Name == ses.rows || !ours.MatchString(c.Name) {
			continue
		}
		there, err := ses.client.DescribeCollection(ctx, c.Name)
		if noCollection(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at collection %s: %w", c.Name, err)
		}
		if strings.HasPrefix(there.Schema.Description, mark) {
			old = append(old, c.Name)
		}
	}
	if len(old) == 0 {
		return nil
	}
	all2, err := s.readClaims(ctx, ses, fieldChunk+` == ""`)
	if err != nil {
		return err
	}
	used := make(map[string]bool)
	for _, w := range all2.writers {
		used[w.uses] = used[w.uses] || !w.dead()
	}
	for _, name := range old {
		if used[name] {
			s.log.Info("another daemon still writes the collection of an earlier model; it stays", "collection", name)
			continue
		}
		if err := ses.client.DropCollection(ctx, name); err != nil {
			return fmt.Errorf("drop collection %s: %w", name, err)
		}
		s.log.Info("dropped the collection of an earlier model", "collection", name)
	}
	return nil
}
