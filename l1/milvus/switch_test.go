package milvus

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"knowledged/l1"
	"knowledged/l1/l1test"
)

func has(t testing.TB, cl client.Client, name string) bool {
	t.Helper()
	ok, err := cl.HasCollection(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func behind(t testing.TB, cl client.Client, alias string) string {
	t.Helper()
	coll, err := cl.DescribeCollection(t.Context(), alias)
	if err != nil {
		t.Fatal(err)
	}
	return coll.Schema.CollectionName
}

// SPEC 3.5: a change of model or dimension builds a collection beside the old, moves the alias and drops the old, which
// answers all the while.
func TestChangeOfModel_3_5(t *testing.T) {
	c := config(t)
	old := opened(t, c)
	row := l1test.Row("a", 1, "api")
	if err := old.Upsert(t.Context(), []l1.Row{row}); err != nil {
		t.Fatal(err)
	}
	if err := old.Retire(t.Context()); err != nil {
		t.Fatal(err)
	}
	cl := dialed(t, c)
	oldName := realName(c.Collection, c.Model, l1test.Dims)
	if got := behind(t, cl, c.Collection); got != oldName {
		t.Fatalf("alias names %s, want %s", got, oldName)
	}

	changed := c // the same daemon, with the same writer's name
	changed.Model, changed.Dimensions = "another", fixed(l1test.Dims/2)
	s := opened(t, changed)
	if ids, err := s.IDs(t.Context()); err != nil || len(ids) != 0 {
		t.Fatalf("the new model's rows: %v, %v", ids, err)
	}
	if got := behind(t, cl, c.Collection); got != oldName {
		t.Errorf("alias names %s before the new collection is complete", got)
	}
	row.Vector = row.Vector[:l1test.Dims/2]
	if err := s.Upsert(t.Context(), []l1.Row{row}); err != nil {
		t.Fatal(err)
	}
	if hits, err := old.Search(t.Context(), l1test.Vector(1), 1, ""); err != nil || len(hits) != 1 {
		t.Errorf("the old model while the new one fills: %v, %v", hits, err)
	}
	if err := s.Retire(t.Context()); err != nil {
		t.Fatal(err)
	}
	newName := realName(c.Collection, "another", l1test.Dims/2)
	if got := behind(t, cl, c.Collection); got != newName || has(t, cl, oldName) {
		t.Errorf("alias names %s, the old collection is there: %v", got, has(t, cl, oldName))
	}
	eventually(t, 15*time.Second, "the row in the new model", func() bool {
		hits, err := s.Search(t.Context(), row.Vector, 1, "api")
		return err == nil && len(hits) == 1
	})
	// By the alias, too: the schema that the SDK remembers is the new one.
	ses, err := s.need(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	params, _ := entity.NewIndexHNSWSearchParam(64)
	res, err := ses.client.Search(t.Context(), c.Collection, nil, "", []string{fieldText}, []entity.Vector{entity.FloatVector(row.Vector)}, fieldEmbedding, entity.COSINE, 1, params)
	if err != nil || len(res) != 1 || res[0].ResultCount != 1 {
		t.Errorf("by the alias: %v, %v", res, err)
	}
	if err := s.Retire(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
}

// The collection of another model stays for as long as another daemon writes it: no war of two settings.
func TestChangeOfModelWithAnotherDaemon(t *testing.T) {
	c := config(t)
	slow := opened(t, c)
	if err := slow.Upsert(t.Context(), []l1.Row{l1test.Row("a", 1, "")}); err != nil {
		t.Fatal(err)
	}
	changed := another(t, c)
	changed.Model = "another"
	s := opened(t, changed)
	if err := s.Upsert(t.Context(), []l1.Row{l1test.Row("a", 1, "")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Retire(t.Context()); err != nil {
		t.Fatal(err)
	}
	cl := dialed(t, c)
	if !has(t, cl, realName(c.Collection, c.Model, l1test.Dims)) {
		t.Fatal("dropped under another daemon")
	}
	if hits, err := slow.Search(t.Context(), l1test.Vector(1), 1, ""); err != nil || len(hits) != 1 {
		t.Errorf("the other daemon finds %v, %v", hits, err)
	}
	// It changes too: now nobody writes the old one any more.
	slow.Close()
	late := c
	late.Model = "another"
	last := opened(t, late)
	if _, err := last.IDs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := last.Retire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if has(t, cl, realName(c.Collection, c.Model, l1test.Dims)) {
		t.Error("the old collection is left over")
	}
}

// What someone else made is refused, not dropped.
func TestForeignCollections(t *testing.T) {
	c := config(t)
	cl := dialed(t, c)
	foreign := func(name, description string, dims int64, more ...*entity.Field) {
		t.Helper()
		schema := entity.NewSchema().WithName(name).WithDescription(description).
			WithField(varchar(fieldID, 64).WithIsPrimaryKey(true)).
			WithField(entity.NewField().WithName("vec").WithDataType(entity.FieldTypeFloatVector).WithDim(dims))
		for _, f := range more {
			schema.WithField(f)
		}
		if err := cl.CreateCollection(t.Context(), schema, 1); err != nil {
			t.Fatal(err)
		}
	}
	refusedFor := func(what string) {
		t.Helper()
		s := opened(t, c)
		_, err := s.IDs(t.Context())
		if err == nil || !strings.Contains(err.Error(), "was not made by knowledged") || !strings.Contains(err.Error(), "l1.milvus.collection") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := s.Search(t.Context(), l1test.Vector(1), 1, ""); err == nil {
			t.Errorf("%s: searched", what)
		}
	}
	foreign(c.Collection, "", 8)
	refusedFor("a collection of that name")
	if !has(t, cl, c.Collection) {
		t.Fatal("dropped")
	}
	if err := cl.DropCollection(t.Context(), c.Collection); err != nil {
		t.Fatal(err)
	}

	theirs := c.Collection + "_theirs"
	foreign(theirs, "vectors of our shop", 8)
	if err := cl.CreateAlias(t.Context(), theirs, c.Collection); err != nil {
		t.Fatal(err)
	}
	refusedFor("an alias of a foreign collection")
	if got := behind(t, cl, c.Collection); got != theirs {
		t.Fatalf("alias moved to %s", got)
	}
	if err := cl.DropAlias(t.Context(), c.Collection); err != nil {
		t.Fatal(err)
	}

	name := realName(c.Collection, c.Model, l1test.Dims)
	foreign(name, "", 8)
	refusedFor("a collection of the real name")
	if err := cl.DropCollection(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	foreign(name, mark+"of an unknown kind", 8)
	refusedFor("a collection of ours with other fields")
	if !has(t, cl, name) || !has(t, cl, theirs) {
		t.Error("dropped")
	}
}

func TestCheckSchema(t *testing.T) {
	ours := func() *entity.Schema { return rowSchema("c", "m", 8) }
	if err := checkSchema(ours(), ours()); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*entity.Schema){
		"description":  func(s *entity.Schema) { s.Description = "" },
		"dimensions":   func(s *entity.Schema) { s.Fields[5].WithDim(9) },
		"length":       func(s *entity.Schema) { s.Fields[3].WithMaxLength(100) },
		"kind":         func(s *entity.Schema) { s.Fields[2].DataType = entity.FieldTypeInt64 },
		"primary key":  func(s *entity.Schema) { s.Fields[0].PrimaryKey = false },
		"missing":      func(s *entity.Schema) { s.Fields = s.Fields[:5] },
		"other name":   func(s *entity.Schema) { s.Fields[2].Name = "categories" },
		"own ids":      func(s *entity.Schema) { s.Fields[0].AutoID = true },
		"one too many": func(s *entity.Schema) { s.WithField(varchar("more", 10)) },
	} {
		there := ours()
		spoil(there)
		if err := checkSchema(there, ours()); err == nil || !strings.Contains(err.Error(), "not made by knowledged") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a newer version made is left alone: an older one cannot read its claims, and would drop its rows.
func TestRefuseNewer(t *testing.T) {
	for name, refused := range map[string]bool{
		"kb_claims1": false, "kb_claims2": true, "kb_claims99999999999999999999": true,
		"kb_claims": false, "kb_claims2x": false, "other_claims2": false, "kb_claims-2": false, "kb_0123abcd": false,
	} {
		err := refuseNewer([]*entity.Collection{{Name: "kb_0123abcd"}, {Name: name}}, "kb")
		if (err != nil) != refused || refused && !errors.Is(err, errNewer) {
			t.Errorf("%s: %v", name, err)
		}
		if refused && (!strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "this one reads up to 1; install the newer version again")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// listing is a server that has these collections and no alias yet.
type listing struct {
	client.Client
	names []string
}

func (listing) DescribeCollection(context.Context, string) (*entity.Collection, error) {
	return nil, &refusal{code: codeCollectionNotFound}
}

func (l listing) ListCollections(context.Context, ...client.ListCollectionOption) (all []*entity.Collection, err error) {
	for _, name := range l.names {
		all = append(all, &entity.Collection{Name: name})
	}
	return all, nil
}

func TestGreet_RefusesNewer(t *testing.T) {
	s := &Store{c: Config{Collection: "kb"}}
	if err := s.greet(t.Context(), listing{names: []string{"kb_claims1", "kb_claims2"}}); !errors.Is(err, errNewer) {
		t.Error(err)
	}
	if err := s.greet(t.Context(), listing{names: []string{"kb_claims1"}}); err != nil {
		t.Error(err)
	}
}
