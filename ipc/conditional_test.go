package ipc

import "testing"

// A GET or HEAD that names the version it has is answered 304 (RFC 9110, 13.1.2).
func TestNotModified(t *testing.T) {
	h := openHouse(t, nil)
	for _, target := range []string{
		"/v1/documents/ops-a.md", "/v1/documents/by-source?source=kb/ops/a.md", "/v1/documents/ops-a.md/content",
		"/v1/documents/ops-a.md/content?maxChars=3", "/v1/documents/ops-a.md/content?section=A",
	} {
		tag := h.ask("GET", target, "").header.Get("ETag")
		for match, status := range map[string]int{
			tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, `"a,b",,W/"y" ,W/` + tag + ` , "z"`: 304, "*": 304,
			`"x"`: 200, "": 200, tag[:9] + `"`: 200, tag + " x": 200, tag + `, "x`: 200, tag[1 : len(tag)-1]: 200, "W/": 200,
		} {
			for _, method := range []string{"GET", "HEAD"} {
				r := h.ask(method, target, "", "If-None-Match", match)
				if r.status != status || r.header.Get("ETag") != tag || (r.body == "") != (status == 304 || method == "HEAD") {
					t.Errorf("%s %s with %s: %d %v %q", method, target, match, r.status, r.header, r.body)
				}
			}
		}
	}
	if r := h.ask("GET", "/v1/documents/none/content", "", "If-None-Match", "*"); r.status != 404 {
		t.Errorf("what is not there: %d", r.status)
	}
}

// A part of the text has a tag of its own, with which nothing can be overwritten.
func TestPartsHaveTheirOwnTags(t *testing.T) {
	h := openHouse(t, nil)
	tags := map[string]string{}
	for _, query := range []string{"", "?maxChars=3", "?maxChars=4", "?section=A", "?section=B", "?section=A&maxChars=3"} {
		tag := h.ask("GET", "/v1/documents/ops-a.md/content"+query, "").header.Get("ETag")
		if other, taken := tags[tag]; taken {
			t.Errorf("%q and %q have the tag %s", query, other, tag)
		}
		tags[tag] = query
	}
	whole := h.ask("GET", "/v1/documents/ops-a.md/content?maxChars=100", "").header.Get("ETag")
	if query, known := tags[whole]; !known || query != "" {
		t.Errorf("the whole text has the tag %s of %q", whole, query)
	}
	for tag, query := range tags {
		want := 412
		if query == "" {
			want = 204
		}
		if r := h.ask("DELETE", "/v1/documents/ops-a.md", "", "If-Match", tag); r.status != want {
			t.Errorf("delete with the tag of %q: %d, want %d", query, r.status, want)
		}
	}
}
