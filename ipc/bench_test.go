package ipc

import (
	"context"
	"testing"

	"knowledged/lookup"
)

// The doors' share of a lookup: the engine behind it answers at once.
func BenchmarkLookupOverSocket(b *testing.B) {
	h := openHouse(b, nil)
	answer := lookup.Answer{
		RequestID: "a1b2c3d4", Found: true, Degraded: []string{},
		Primary: &lookup.Primary{DocID: "d", Title: "支付网关错误码定义", Content: "文档: 支付网关错误码定义", AvailableSections: []string{"超时类错误"}},
		Results: make([]lookup.Result, 5),
	}
	h.answer = func(context.Context, lookup.Request) (*lookup.Answer, error) { return &answer, nil }
	c := newClient(b, h)
	for b.Loop() {
		if _, err := c.Lookup(b.Context(), lookup.Request{Query: "ERR_TIMEOUT"}); err != nil {
			b.Fatal(err)
		}
		h.asked = h.asked[:0]
	}
}
