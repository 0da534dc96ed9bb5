package web_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"
)

// What a keystroke costs, beside the lookup that it is.
func BenchmarkKeystroke(b *testing.B) {
	h := newHouse(b, documents(), nil)
	for _, c := range []struct{ name, query string }{{"name", "ERR_TIMEOUT"}, {"question", "how long until the customer has the money"}} {
		for _, door := range []struct{ name, path string }{{"page", "/?typing=1&q="}, {"api", "/v1/lookup?query="}} {
			b.Run(c.name+"/"+door.name, func(b *testing.B) {
				for b.Loop() {
					req, err := http.NewRequest(http.MethodGet, h.url+door.path+url.QueryEscape(c.query), nil)
					if err != nil {
						b.Fatal(err)
					}
					req.Header.Set("HX-Request", "true")
					res, err := http.DefaultClient.Do(req)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
						b.Fatal(res.Status, err)
					}
					res.Body.Close()
				}
			})
		}
	}
}
