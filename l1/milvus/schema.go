package milvus

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// layout is the version of the fields below. Collections of another one have other names, and are built beside.
const layout = 1

// The longest values, in bytes: Milvus counts so.
const (
	maxID       = 128
	maxSource   = 8192
	maxCategory = 1024
	maxText     = 65535
	maxHeading  = 8192 // of title and breadcrumb, so that meta stays below the limit of a JSON field
)

// Fields of the rows.
const (
	fieldID        = "id"
	fieldSource    = "source"
	fieldCategory  = "category"
	fieldText      = "text"
	fieldMeta      = "meta"
	fieldEmbedding = "embedding"
)

// Fields of the claims, whose key is fieldID too.
const (
	fieldChunk = "chunk" // "" in a writer's own row
	fieldOwner = "owner"
	fieldHeld  = "held" // false while its deletion is under way
	fieldSeen  = "seen" // of a writer's own row: Unix seconds
	fieldUses  = "uses" // of a writer's own row: the collection that it writes
	fieldPad   = "pad"  // Milvus has no collection without a vector
)

const padDims = 2

// mark begins the description of every collection of ours: what does not have it was made by someone else.
const mark = "knowledged: "

// realName is the collection of a model. Names hold letters, digits and _ only, so the model is a hash.
func realName(collection, model string, dims int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%d\x00%s", layout, dims, model))
	return fmt.Sprintf("%s_%x", collection, sum[:4])
}

// claimsName has its layout in the name: claims are cheap to make anew.
func claimsName(collection string) string { return collection + "_claims" + strconv.Itoa(layout) }

// refuseNewer refuses a collection that a later layout was made of: its claims could not be read, so its rows would be dropped
// as nobody's.
func refuseNewer(collections []*entity.Collection, collection string) error {
	for _, c := range collections {
		version, ours := strings.CutPrefix(c.Name, collection+"_claims")
		if !ours || strings.Trim(version, "0123456789") != "" || version == "" {
			continue
		}
		if n, err := strconv.Atoi(version); err != nil || n > layout {
			return fmt.Errorf("open collection %s: %w: format %s, this one reads up to %d; install the newer version again, or set l1.milvus.collection to another name", c.Name, errNewer, version, layout)
		}
	}
	return nil
}

var errNewer = errors.New("written by a newer version of knowledged")

func varchar(name string, bytes int64) *entity.Field {
	return entity.NewField().WithName(name).WithDataType(entity.FieldTypeVarChar).WithMaxLength(bytes)
}

func rowSchema(name, model string, dims int) *entity.Schema {
	return entity.NewSchema().WithName(name).
		WithDescription(fmt.Sprintf("%schunks by model %s, %d dimensions", mark, model, dims)).
		WithField(varchar(fieldID, maxID).WithIsPrimaryKey(true)).
		WithField(varchar(fieldSource, maxSource)).
		WithField(varchar(fieldCategory, maxCategory)).
		WithField(varchar(fieldText, maxText)).
		WithField(entity.NewField().WithName(fieldMeta).WithDataType(entity.FieldTypeJSON)).
		WithField(entity.NewField().WithName(fieldEmbedding).WithDataType(entity.FieldTypeFloatVector).WithDim(int64(dims)))
}

func claimSchema(name string) *entity.Schema {
	return entity.NewSchema().WithName(name).WithDescription(mark + "which daemon wants which row").
		WithField(varchar(fieldID, maxID+64).WithIsPrimaryKey(true)).
		WithField(varchar(fieldChunk, maxID)).
		WithField(varchar(fieldOwner, 64)).
		WithField(entity.NewField().WithName(fieldHeld).WithDataType(entity.FieldTypeBool)).
		WithField(entity.NewField().WithName(fieldSeen).WithDataType(entity.FieldTypeInt64)).
		WithField(varchar(fieldUses, 512)).
		WithField(entity.NewField().WithName(fieldPad).WithDataType(entity.FieldTypeFloatVector).WithDim(padDims))
}

// errForeign is that a collection has our name and is not ours. It is left alone.
type errForeign struct{ name, why, remedy string }

func (e *errForeign) Error() string {
	return fmt.Sprintf("collection %s was not made by knowledged (%s) and is left alone; %s", e.name, e.why, e.remedy)
}

const chooseAnother = "set l1.milvus.collection to another name, or rename that one"

// checkSchema compares a collection that there is with ours.
func checkSchema(there, ours *entity.Schema) error {
	foreign := func(format string, args ...any) error {
		return &errForeign{there.CollectionName, fmt.Sprintf(format, args...), chooseAnother}
	}
	if !strings.HasPrefix(there.Description, mark) {
		return foreign("its description is %q", there.Description)
	}
	fields := make(map[string]*entity.Field)
	for _, f := range there.Fields {
		fields[f.Name] = f
	}
	if len(fields) != len(ours.Fields) {
		return foreign("it has %d fields instead of %d", len(fields), len(ours.Fields))
	}
	for _, f := range ours.Fields {
		got := fields[f.Name]
		switch {
		case got == nil:
			return foreign("it has no field %s", f.Name)
		case got.DataType != f.DataType || got.PrimaryKey != f.PrimaryKey || got.AutoID:
			return foreign("its field %s is of another kind", f.Name)
		}
		for _, param := range []string{entity.TypeParamDim, entity.TypeParamMaxLength} {
			if want := f.TypeParams[param]; got.TypeParams[param] != want {
				return foreign("its field %s has %s %s instead of %s", f.Name, param, got.TypeParams[param], want)
			}
		}
	}
	return nil
}
