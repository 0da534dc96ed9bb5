package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"

	"knowledged/ipc"
)

// static/htmx.min.js is the release 2.0.11 as npm has it; its licence is in static/licences.
//
//go:embed static
var staticFiles embed.FS

// asset is a file with the address that names its content: browsers may keep it for ever.
type asset struct {
	data        []byte
	contentType string
	version     string
}

func loadAssets() (map[string]asset, error) {
	assets := map[string]asset{}
	entries, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := fs.ReadFile(staticFiles, path.Join("static", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", e.Name(), err)
		}
		sum := sha256.Sum256(data)
		assets[e.Name()] = asset{data, contentTypeOf(e.Name()), hex.EncodeToString(sum[:6])}
	}
	return assets, nil
}

// contentTypeOf does not ask the system's tables, which differ.
func contentTypeOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

func (s *Server) static(w http.ResponseWriter, r *http.Request) error {
	a, ok := s.assets[r.PathValue("file")]
	if !ok {
		return ipc.ErrNotFound
	}
	w.Header().Set("Content-Type", a.contentType)
	if r.URL.Query().Get("v") == a.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(a.data) // fails only if the client is gone
	return nil
}
