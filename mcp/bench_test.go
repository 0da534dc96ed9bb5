package mcp

import "testing"

// BenchmarkCall is what the protocol adds to a lookup, for each way in and each era.
func BenchmarkCall(b *testing.B) {
	for _, way := range []string{"pipe", "http"} {
		for _, era := range eras {
			b.Run(way+"/"+era, func(b *testing.B) {
				h := openHouse(b)
				session := h.connect(h.transports()[way](), newHeard(), era)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := call(session, map[string]any{"query": "ERR_A"}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
