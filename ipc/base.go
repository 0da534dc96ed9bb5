package ipc

import (
	"fmt"
	"net/http"
	"net/url"
)

// baseHeader names the base folder that a client means, percent-encoded. A client that was told a folder may have found the
// socket of another one's daemon, and would read, or write, the wrong documents.
const baseHeader = "Knowledged-Base"

// misdirected refuses a request that means another folder. That name is compared, never looked at: who asks may not learn here
// which folders there are.
func (h *handler) misdirected(r *http.Request) error {
	named := r.Header.Get(baseHeader)
	if named == "" || h.cfg.Base == nil {
		return nil
	}
	base := h.cfg.Base()
	if meant, err := url.PathUnescape(named); err != nil || meant != base {
		return problem(http.StatusMisdirectedRequest, fmt.Sprintf("This daemon serves %s, not the folder that is meant.", base))
	}
	return nil
}
