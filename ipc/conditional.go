package ipc

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

func etag(hash string) string { return `"` + hash + `"` }

// recordTag is "" for what has no hash: a file that could not be read.
func recordTag(rec Record) string {
	if rec.FileHash == "" {
		return ""
	}
	return etag(rec.FileHash)
}

// contentTag is the whole text's fileHash. A part of the text is another representation and has a tag of its own, which no
// If-Match takes for the document's: who has read a part has not read what would be written over.
func contentTag(c Content, q ContentQuery) string {
	if q.Section == "" && !c.Truncated {
		return etag(c.FileHash)
	}
	sum := sha256.Sum256([]byte(strconv.Itoa(q.MaxChars) + "/" + q.Section))
	return etag(c.FileHash + "-" + hex.EncodeToString(sum[:8]))
}

// notModified sends the tag, if there is one, and answers 304 to a GET or HEAD whose If-None-Match names it.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	if tag != "" {
		w.Header().Set("ETag", tag)
	}
	if !namesTag(strings.Join(r.Header["If-None-Match"], ","), tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// namesTag compares weakly (RFC 9110, 13.1.2). A list that can't be read asks for nothing: the answer is then sent whole,
// which is never wrong.
func namesTag(list, tag string) bool {
	found := false
	for {
		list = strings.TrimLeft(list, " \t,")
		switch {
		case list == "":
			return found
		case list[0] == '*':
			list, found = list[1:], true
		default:
			list = strings.TrimPrefix(list, "W/")
			end := strings.IndexByte(strings.TrimPrefix(list, `"`), '"')
			if list == "" || list[0] != '"' || end < 0 {
				return false
			}
			found = found || list[:end+2] == tag
			list = list[end+2:]
		}
		if rest := strings.TrimLeft(list, " \t"); rest != "" && rest[0] != ',' {
			return false
		}
	}
}
