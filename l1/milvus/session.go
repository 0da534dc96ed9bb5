package milvus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

const (
	dialTimeout  = 5 * time.Second
	loadPoll     = 200 * time.Millisecond
	loadPatience = 30 * time.Second // a server that was restarted loads for about 20 s, and says meanwhile that it is well
)

// session is a connection with the collections made, indexed and loaded.
type session struct {
	client client.Client
	rows   string // real name of the model's collection
	dims   int

	announced time.Time // written by who makes the session, then by Survey alone, of which there is one at a time
	// Which collections this daemon has just made and not written: they hold nothing, and a first sync need not wait until
	// the server can say so for sure.
	freshRows, freshClaims atomic.Bool
}

// need gives the session, made if there is none. Only one caller makes it.
func (s *Store) need(ctx context.Context) (*session, error) {
	if ses := s.session.Load(); ses != nil {
		return ses, nil
	}
	select {
	case s.connecting <- struct{}{}:
		defer func() { <-s.connecting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if ses := s.session.Load(); ses != nil { // by who was first
		return ses, nil
	}
	if s.closed.Load() {
		return nil, errClosed
	}
	dims, err := s.c.Dimensions(ctx)
	if err != nil {
		return nil, fmt.Errorf("learn the length of %s's vectors: %w", s.c.Model, err)
	}
	ses, err := s.connect(ctx, dims)
	if err != nil {
		return nil, s.c.explain(err)
	}
	s.session.Store(ses)
	s.probe(ctx, ses)
	s.log.Debug("connected to Milvus", "address", s.c.Address, "collection", ses.rows)
	return ses, nil
}

func (s *Store) connect(ctx context.Context, dims int) (_ *session, err error) {
	cl, err := s.c.dial()
	if err != nil {
		return nil, err
	}
	ses := &session{client: cl, rows: realName(s.c.Collection, s.c.Model, dims), dims: dims}
	defer func() {
		if err != nil {
			cl.Close()
		}
	}()
	if err := s.greet(ctx, cl); err != nil {
		return nil, err
	}
	made, err := s.open(ctx, cl, rowSchema(ses.rows, s.c.Model, dims), rowIndex())
	if err != nil {
		return nil, fmt.Errorf("open collection %s: %w", ses.rows, err)
	}
	ses.freshRows.Store(made)
	if s.c.ReadOnly {
		return ses, nil
	}
	claims := claimsName(s.c.Collection)
	if made, err = s.open(ctx, cl, claimSchema(claims), claimIndex()); err != nil {
		return nil, fmt.Errorf("open collection %s: %w", claims, err)
	}
	ses.freshClaims.Store(made)
	if err := s.pointAlias(ctx, ses, false); err != nil {
		return nil, err
	}
	return ses, s.announce(ctx, ses)
}

// greet is the first call: it tells whether the server is there, knows us, has the database, which a writer makes, and
// holds nothing of a newer version.
func (s *Store) greet(ctx context.Context, cl client.Client) error {
	short, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := s.greetName(short, cl); err != nil {
		return err
	}
	all, err := cl.ListCollections(short)
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	return refuseNewer(all, s.c.Collection)
}

// greetName asks for the configured name.
func (s *Store) greetName(ctx context.Context, cl client.Client) error {
	there, err := cl.DescribeCollection(ctx, s.c.Collection)
	if noCollection(err) {
		return s.needDatabase(ctx, cl)
	}
	if s.c.wantsTLS(ctx, err) {
		return &explained{fmt.Sprintf("Milvus at %s wants TLS (l1.milvus.tls)", s.c.Address), err}
	}
	if err != nil {
		return err
	}
	switch {
	case there.Schema.CollectionName == s.c.Collection:
		return &errForeign{s.c.Collection, "the name has to be free for an alias", chooseAnother}
	case !strings.HasPrefix(there.Schema.Description, mark):
		return &errForeign{there.Schema.CollectionName, "alias " + s.c.Collection + " names it", chooseAnother}
	}
	return nil
}

// Check reports what is wrong with the server or the way to it, if anything. It makes nothing.
func Check(ctx context.Context, c Config) error {
	writes := !c.ReadOnly
	c.ReadOnly = true
	s, err := Open(c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	cl, err := c.dial()
	if err != nil {
		return err
	}
	defer cl.Close()
	err = s.greet(ctx, cl)
	if noDatabase(err) && writes { // the daemon will make it
		return nil
	}
	if err == nil {
		err = tryRead(ctx, cl, c.Collection)
	}
	return c.explain(err)
}

// tryRead finds out whether rows may be read: the server lets everybody ask what collections there are. One that is not there
// yet, or not loaded, is none of its concern.
func tryRead(ctx context.Context, cl client.Client, collection string) error {
	_, err := cl.Query(ctx, collection, nil, fieldID+` == ""`, []string{fieldID})
	if noCollection(err) || refused(err, codeNotLoaded) || refused(err, codeNotFullyLoaded) {
		return nil
	}
	return err
}

// needDatabase makes the database if there is none. Only a list of collections tells.
func (s *Store) needDatabase(ctx context.Context, cl client.Client) error {
	if s.c.Database == "" || s.c.Database == defaultDatabase {
		return nil
	}
	_, err := cl.ListCollections(ctx)
	if !noDatabase(err) || s.c.ReadOnly {
		return err
	}
	if err := cl.CreateDatabase(ctx, s.c.Database); err != nil {
		if _, err := cl.ListCollections(ctx); err == nil {
			return nil // another daemon was faster
		}
		return fmt.Errorf("make database %s: %w", s.c.Database, err)
	}
	s.log.Info("made the Milvus database", "database", s.c.Database)
	return nil
}

const defaultDatabase = "default" // every server has it

// open sees to it that a collection is there, ours, indexed and loaded. It reports whether it made it.
func (s *Store) open(ctx context.Context, cl client.Client, schema *entity.Schema, index indexOf) (made bool, err error) {
	name := schema.CollectionName
	there, err := cl.DescribeCollection(ctx, name)
	if noCollection(err) {
		made, err = s.create(ctx, cl, schema)
		if err != nil {
			return false, err
		}
		there, err = cl.DescribeCollection(ctx, name)
	}
	if err != nil {
		return false, err
	}
	if err := checkSchema(there.Schema, schema); err != nil {
		return false, err
	}
	if !s.c.ReadOnly {
		if err := index.ensure(ctx, cl, name); err != nil {
			return false, fmt.Errorf("index: %w", err)
		}
	}
	return made, s.load(ctx, cl, name)
}

func (s *Store) create(ctx context.Context, cl client.Client, schema *entity.Schema) (made bool, err error) {
	if s.c.ReadOnly {
		return false, fmt.Errorf("there is none for model %s yet: a daemon with l1.milvus.role writer and the same embedding settings has to fill it", s.c.Model)
	}
	err = cl.CreateCollection(ctx, schema, 1, client.WithConsistencyLevel(entity.ClBounded))
	if err == nil {
		s.log.Info("made a Milvus collection", "collection", schema.CollectionName)
		return true, nil
	}
	if _, there := cl.DescribeCollection(ctx, schema.CollectionName); there == nil {
		return false, nil // another daemon was faster
	}
	return false, fmt.Errorf("create: %w", err)
}

var errLoading = errors.New("the server is still loading the collection")

// load waits until the collection is loaded, which takes as long as ten seconds after a restart of the server.
func (s *Store) load(ctx context.Context, cl client.Client, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loadPatience, errLoading)
	defer cancel()
	asked := false
	tick := time.NewTicker(loadPoll)
	defer tick.Stop()
	for {
		state, err := cl.GetLoadState(ctx, name, nil)
		switch {
		case err != nil && errors.Is(context.Cause(ctx), errLoading):
			return errLoading
		case err != nil:
			return fmt.Errorf("load: %w", err)
		case state == entity.LoadStateLoaded:
			return nil
		case state == entity.LoadStateNotExist:
			return errors.New("load: it is gone")
		case state == entity.LoadStateNotLoad && !asked:
			if err := cl.LoadCollection(ctx, name, true); err != nil {
				return fmt.Errorf("load: %w", err)
			}
			asked = true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// indexOf is a vector field's index.
type indexOf struct {
	field string
	index entity.Index
	err   error
}

func rowIndex() indexOf {
	index, err := entity.NewIndexHNSW(entity.COSINE, 16, 200) // M, efConstruction
	return indexOf{fieldEmbedding, index, err}
}

func claimIndex() indexOf {
	index, err := entity.NewIndexFlat(entity.L2)
	return indexOf{fieldPad, index, err}
}

func (x indexOf) ensure(ctx context.Context, cl client.Client, name string) error {
	if x.err != nil {
		return x.err
	}
	there, err := cl.DescribeIndex(ctx, name, x.field)
	if err != nil && !noIndex(err) {
		return err
	}
	if len(there) > 0 {
		return nil
	}
	return cl.CreateIndex(ctx, name, x.field, x.index, true)
}

// lost drops a session that failed, so that the next caller makes a new one: the SDK's own reconnecting takes up to a minute.
// A refusal for want of room says nothing against the connection.
func (s *Store) lost(ctx context.Context, ses *session, err error) error {
	if err == nil || ended(ctx, err) || full(err) || rateLimited(err) {
		return s.c.explain(err)
	}
	if s.session.CompareAndSwap(ses, nil) {
		ses.client.Close()
	}
	return s.c.explain(err)
}
