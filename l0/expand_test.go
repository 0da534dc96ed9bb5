package l0

import (
	"context"
	"math"
	"slices"
	"testing"

	"knowledged/document"
)

func result(t *testing.T, x *Index, query string, k int) Result {
	t.Helper()
	r, err := x.Search(context.Background(), query, SearchOptions{K: k, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tx-trad-simp, SPEC 2.3: text in either script is found by queries in either, and Taiwan's words by the mainland's.
func TestSearch_EitherScript(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{
		passage("tw", "資料庫連線逾時的處理"), passage("hk", "數據庫連接超時的處理"), passage("cn", "数据库连接超时的处理"), passage("other", "参考资料整理"),
	}})
	for query, want := range map[string][]string{
		"資料庫": {"tw", "cn", "hk"},
		"数据库": {"cn", "hk", "tw"},
		"數據庫": {"cn", "hk", "tw"},
		"处理":  {"cn", "hk", "tw"},
	} {
		got := search(t, x, query)
		got = slices.DeleteFunc(got, func(id string) bool { return id == "other" })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if got := search(t, x, "数据库"); slices.Contains(got, "other") {
		t.Errorf("数据库: %v: 资料 alone is not 资料库", got)
	}
}

func TestSearch_Synonyms(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{
		passage("typed", "restart k8s pods"), passage("synonym", "restart kubernetes pods"), passage("both", "restart k8s kubernetes pods"),
		passage("neither", "restart nginx"), passage("pay", "支付失败的原因"),
	}})
	before := result(t, x, "k8s restart", 10)
	x.SetSynonyms([]Synonym{{"k8s", "kubernetes"}, {"kubernetes", "k8s"}, {"付款", "支付"}, {"缴费", "支付网关"}})
	after := result(t, x, "k8s restart", 10)

	scores := map[string]float64{}
	for _, h := range after.Hits {
		scores[h.ChunkID] = h.Score
		sum := 0.0
		for _, c := range h.Why {
			sum += c.Score
		}
		if math.Abs(sum-h.Score) > 1e-4 || !slices.IsSortedFunc(h.Why, byScore) {
			t.Errorf("%s: the parts of %v make %v: %v", h.ChunkID, h.Score, sum, h.Why)
		}
	}
	if !(scores["typed"] > scores["synonym"] && scores["synonym"] > scores["neither"]) {
		t.Errorf("%v: the word as typed goes before its synonym, that before neither", scores)
	}
	for _, h := range before.Hits {
		if id := h.ChunkID; id != "synonym" && scores[id] != h.Score {
			t.Errorf("%s: %v became %v: what has the word itself gains nothing", id, h.Score, scores[id])
		}
	}
	if after.Ideal != before.Ideal || after.Coverage != before.Coverage {
		t.Errorf("I(q) and coverage %v %v became %v %v though the word is known", before.Ideal, before.Coverage, after.Ideal, after.Coverage)
	}

	// A word that no document has: its synonym speaks for it.
	if r := result(t, x, "付款失败", 10); len(r.Hits) != 1 || r.Coverage < 0.5 { // 款失 is nowhere
		t.Errorf("%+v", r)
	}
	if r := result(t, x, "付款", 0); r.Coverage < 0.99 || r.Ideal <= 0 {
		t.Errorf("known %v, I(q) %v", r.Coverage, r.Ideal)
	}
	if r := result(t, x, "缴费", 10); len(r.Hits) != 0 || r.Coverage != 0 {
		t.Errorf("%+v: 支付 alone is not 支付网关", r)
	}
	x.SetSynonyms(nil)
	if got := search(t, x, "付款"); len(got) != 0 {
		t.Errorf("%v: the synonyms are gone", got)
	}
}

// A score must not exceed I(q) by synonyms: fusion takes it for a share.
func TestSearch_SynonymsStayBelowIdeal(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{
		{Path: "a", Chunks: []document.Chunk{{ID: "a", Breadcrumb: "kubernetes k8s", Text: "k8s kubernetes k8s kubernetes k8s kubernetes"}}},
		passage("b", "other"), passage("c", "words"),
	}})
	x.SetSynonyms([]Synonym{{"k8s", "kubernetes"}, {"k8s", "kube"}})
	for _, q := range []string{"k8s", "k8s kubernetes", "kubernetes", "k8s other"} {
		if r := result(t, x, q, 1); r.Hits[0].Score > r.Ideal*1.0001 || r.Coverage > 1 {
			t.Errorf("%s: score %v, I(q) %v, coverage %v", q, r.Hits[0].Score, r.Ideal, r.Coverage)
		}
	}
}
