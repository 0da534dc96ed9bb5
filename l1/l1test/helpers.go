package l1test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"knowledged/l1"
)

// Vector is the seed's vector of length 1; those of different seeds are far apart.
func Vector(seed int) []float32 {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	v := make([]float32, Dims)
	var sum float64
	for i := range v {
		x := r.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// Row is a whole row with the seed's vector.
func Row(id string, seed int, category string) l1.Row {
	return l1.Row{
		ID: id, Vector: Vector(seed), Category: category,
		Source: "knowledge_base/api/payment-errors.md", FileName: "payment-errors.md",
		Title: "支付网关错误码定义", Breadcrumb: "支付网关错误码定义 > 超时类错误", Text: fmt.Sprintf("第 %d 段", seed),
		ChunkIndex: seed, TotalChunks: seed + 1,
	}
}

func opened(t *testing.T, open func(t *testing.T) l1.Store) l1.Store {
	t.Helper()
	s := open(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func upsert(t *testing.T, s l1.Store, rows ...l1.Row) {
	t.Helper()
	if err := s.Upsert(t.Context(), rows); err != nil {
		t.Fatalf("upsert: %v", err)
	}
}

func search(t *testing.T, s l1.Store, seed, k int, category string) []l1.Hit {
	t.Helper()
	hits, err := s.Search(t.Context(), Vector(seed), k, category)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	return hits
}

func idsOf(rows []l1.Row) []string {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids
}

func sortedIDs(t *testing.T, s l1.Store) []string {
	t.Helper()
	ids, err := s.IDs(t.Context())
	if err != nil {
		t.Fatalf("list ids: %v", err)
	}
	slices.Sort(ids)
	return ids
}

// awaitIDs waits until the store lists want and a search finds as many.
func awaitIDs(t *testing.T, s l1.Store, want []string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	await(t, fmt.Sprintf("the ids %q", want), func() bool {
		return slices.Equal(sortedIDs(t, s), want) && len(search(t, s, 0, len(want)+10, "")) == len(want)
	})
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
