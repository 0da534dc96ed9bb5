package lookup

import (
	"errors"
	"strings"
	"testing"
)

// SPEC 2.1: a blank query is the client's mistake, whatever it is blank with.
func TestBadRequests_2_1(t *testing.T) {
	for name, tt := range map[string]struct {
		req   Request
		field string
	}{
		"empty":             {Request{}, "query"},
		"blanks":            {Request{Query: " \t\n "}, "query"},
		"ideographic space": {Request{Query: "\u3000"}, "query"},
		"zero width":        {Request{Query: "\u200b\ufeff"}, "query"},
		"NUL":               {Request{Query: "\x00"}, "query"},
		"not UTF-8":         {Request{Query: "a\xff"}, "query"},
		"too long":          {Request{Query: strings.Repeat("缓", MaxQuery+1)}, "query"},
		"topK":              {Request{Query: "a", TopK: 51}, "topK"},
		"negative topK":     {Request{Query: "a", TopK: -1}, "topK"},
		"content":           {Request{Query: "a", Content: "all"}, "content"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.engine().Lookup(t.Context(), tt.req)
			var input *InputError
			if !errors.As(err, &input) || input.Field != tt.field || !strings.Contains(input.Error(), tt.field) {
				t.Errorf("got %v, want an InputError on %s", err, tt.field)
			}
		})
	}
}

func TestGoodRequests_2_1(t *testing.T) {
	w := newWorld(t)
	for _, q := range []string{"/", "*", "\x00x", "🚀", "，", "\u200bredis\u200b", strings.Repeat("缓", MaxQuery), "a && b", "[1 TO"} {
		if a := w.lookup(Request{Query: q, Explain: true}); a.Found || a.Explain == nil {
			t.Errorf("query %.20q: %+v", q, a)
		} else {
			noNullLists(t, a)
		}
	}
	r, err := Request{Query: " \u200bKafka\x00备份 ", Category: " /ops/ "}.validate(5)
	if err != nil || r.Query != "Kafka 备份" || r.TopK != 5 || r.Content != ContentAuto || r.Category != "ops" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRequestID_7_1(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "A-z_9": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "a b": false, "a\nb": false, "é": false, "a.b": false,
	} {
		if ValidRequestID(id) != want {
			t.Errorf("ValidRequestID(%q) = %v", id, !want)
		}
	}
	if a, b := NewRequestID(), NewRequestID(); len(a) != 8 || a == b || !ValidRequestID(a) {
		t.Errorf("%q %q", a, b)
	}
}
