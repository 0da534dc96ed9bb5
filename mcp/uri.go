package mcp

import (
	"net/url"
	"strings"
)

const scheme = "kb://"

// uriOf is a document's address: kb://category/file.md, each part escaped. A document in the base folder itself has no
// category: kb:///file.md. So has one whose first folder cannot be the host of a URL (blanks, say), which some clients
// refuse and with it the whole list: kb:///my%20notes/file.md.
func uriOf(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	uri := scheme + strings.Join(parts, "/")
	if u, err := url.Parse(uri); len(parts) > 1 && err == nil && u.Port() == "" && u.User == nil {
		return uri
	}
	return scheme + "/" + strings.Join(parts, "/")
}

// pathOf reads an address, escaped or not. What a browser would take for a query or a fragment is part of the name.
func pathOf(uri string) (string, bool) {
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return "", false
	}
	path := strings.TrimPrefix(uri[len(scheme):], "/")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return path, path != ""
}
