package ipc

import "net/http/pprof"

// route is one line of the API. Documented ones are in openapi.json, which a test compares with this table.
type route struct {
	method, path string
	access       access
	handle       handlerFunc
}

// shadowed are paths that a route with wildcards would take for its own: PUT …/chunks is no upload of a file called chunks.
// They are answered as what they are, a wrong method.
var shadowed = []string{
	"PUT /v1/documents/{docId}/content", "PUT /v1/documents/{docId}/chunks", "PUT /v1/documents/{docId}/reindex",
	"DELETE /v1/documents/by-source",
}

func (h *handler) routes() []route {
	return []route{
		{"POST", "/v1/lookup", read, h.postLookup},
		{"GET", "/v1/lookup", read, h.getLookup},

		{"GET", "/v1/documents", read, h.listDocuments},
		{"GET", "/v1/documents/by-source", read, h.getBySource},
		{"GET", "/v1/documents/{docId}", read, h.getDocument},
		{"GET", "/v1/documents/{docId}/content", read, h.getContent},
		{"GET", "/v1/documents/{docId}/chunks", read, h.getChunks},

		{"PUT", "/v1/documents/{category}/{fileName}", write, h.putDocument},
		{"POST", "/v1/documents", write, h.postDocument},
		{"DELETE", "/v1/documents/{docId}", write, h.deleteDocument},
		{"POST", "/v1/documents/{docId}/reindex", write, h.reindex},
		{"POST", "/v1/reconcile", write, h.reconcile},

		{"GET", "/v1/status", read, h.getStatus},
		{"GET", "/v1/events", read, h.getEvents},
		{"GET", "/v1/lookups", history, h.getLookups},
		{"GET", "/v1/stats", history, h.getStats},

		{"GET", "/healthz", open, h.healthz},
		{"GET", "/readyz", open, h.readyz},
		{"GET", "/openapi.json", read, h.openAPI},
		{"GET", "/metrics", read, h.metrics},

		{"POST", "/mcp", read, h.mcp}, // no tool of it changes anything
		{"GET", "/mcp", read, h.mcp},
		{"DELETE", "/mcp", read, h.mcp}, // ends the client's own session
		{"GET", "/mcp/pipe", socketOnly, h.mcpPipe},

		{"GET", "/debug/pprof/", socketOnly, plain(pprof.Index)},
		{"GET", "/debug/pprof/cmdline", socketOnly, plain(pprof.Cmdline)},
		{"GET", "/debug/pprof/profile", socketOnly, plain(pprof.Profile)},
		{"GET", "/debug/pprof/symbol", socketOnly, plain(pprof.Symbol)},
		{"GET", "/debug/pprof/trace", socketOnly, plain(pprof.Trace)},
	}
}
