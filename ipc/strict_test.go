package ipc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"knowledged/lookup"
)

func TestStrictJSON(t *testing.T) {
	var zero lookup.Request
	for _, c := range []struct {
		body  string
		want  lookup.Request // where no fault is expected
		fault string         // the field of the first fault, or part of the detail
	}{
		{`{"query":"q"}`, lookup.Request{Query: "q"}, ""},
		{" {\"query\" : \"超时\", \"topK\": 7, \"alwaysSemantic\": true}\n", lookup.Request{Query: "超时", TopK: 7, AlwaysSemantic: true}, ""},
		{`{"query":"\ud83d\ude80"}`, lookup.Request{Query: "🚀"}, ""},
		{`{}`, zero, ""}, // the engine says that the query is missing

		{`{"query":null}`, zero, "query"},
		{`{"query":5}`, zero, "query"},
		{`{"query":["q"]}`, zero, "query"},
		{`{"query":"q","topK":37.0}`, lookup.Request{Query: "q", TopK: 37}, ""}, // JSON Schema's integer
		{`{"query":"q","topK":1e1}`, lookup.Request{Query: "q", TopK: 10}, ""},
		{`{"query":"q","topK":37.5}`, zero, "topK"},
		{`{"query":"q","topK":1e400}`, zero, "topK"},
		{`{"query":"q","topK":"5"}`, zero, "topK"},
		{`{"query":"q","topK":null}`, zero, "topK"},
		{`{"query":"q","topK":99999999999999999999}`, zero, "topK"},
		{`{"query":"q","alwaysSemantic":1}`, zero, "alwaysSemantic"},
		{`{"query":"q","explain":"true"}`, zero, "explain"},
		{`{"query":"q","nope":1}`, zero, "nope"},
		{`{"Query":"q"}`, zero, "Query"},
		{`{"query":"q","RequestID":"x"}`, zero, "RequestID"},
		{`{"query":"q","query":"r"}`, zero, "query"},

		{``, zero, "must be a JSON object"},
		{`[]`, zero, "must be a JSON object"},
		{`"q"`, zero, "must be a JSON object"},
		{`null`, zero, "must be a JSON object"},
		{`{"query":"q"`, zero, "ends too early"},
		{`{"query":"q",}`, zero, "not valid JSON"},
		{`{"query" "q"}`, zero, "not valid JSON"},
		{`{"query":"q"} x`, zero, "text after"},
		{`{"query":"q"}{"query":"r"}`, zero, "text after"},
		{"{\"query\":\"\xff\"}", zero, "UTF-8"},
		{"\ufeff{}", zero, "must be a JSON object"},
	} {
		var got lookup.Request
		err := decodeStrict([]byte(c.body), &got)
		if c.fault == "" {
			if err != nil || got != c.want {
				t.Errorf("%s: %+v, %v", c.body, got, err)
			}
			continue
		}
		var p *Problem
		if !errors.As(err, &p) || p.Status != 400 {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if len(p.Errors) > 0 && p.Errors[0].Field != c.fault || len(p.Errors) == 0 && !strings.Contains(p.Detail, c.fault) {
			t.Errorf("%s: %+v, want %s", c.body, p, c.fault)
		}
	}
}

func TestStrictJSONNamesEveryFault(t *testing.T) {
	var p *Problem
	err := decodeStrict([]byte(`{"query":null,"topK":1.5,"x":{}}`), &lookup.Request{})
	if !errors.As(err, &p) || len(p.Errors) != 3 {
		t.Fatalf("%v", err)
	}
}

// What is taken is what encoding/json would take too, and never panics.
func FuzzStrictJSON(f *testing.F) {
	f.Add([]byte(`{"query":"q","topK":3}`))
	f.Add([]byte(`{"query":{"a":[1,2,{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, b lookup.Request
		if decodeStrict(data, &a) != nil {
			return
		}
		if err := json.Unmarshal(data, &b); err != nil || a != b {
			t.Errorf("%q: %+v, encoding/json %+v %v", data, a, b, err)
		}
	})
}
