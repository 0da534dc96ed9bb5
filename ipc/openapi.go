package ipc

import (
	_ "embed"
	"encoding/json"
	"net/http"
)

// openAPIDocument is handwritten: it is the contract, and a test holds the handlers to it.
//
//go:embed openapi.json
var openAPIDocument []byte

func (h *handler) openAPI(w http.ResponseWriter, r *http.Request) error {
	var doc map[string]any
	if err := json.Unmarshal(openAPIDocument, &doc); err != nil {
		return err
	}
	doc["info"].(map[string]any)["version"] = h.cfg.Version
	return writeJSON(w, http.StatusOK, doc)
}
