package ipc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// getEvents sends events until the client goes or the daemon stops. The comment at each heartbeat keeps proxies from
// closing a quiet stream and finds clients that went without a word.
func (h *handler) getEvents(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	ctx := r.Context()
	events := h.cfg.Backend.Subscribe(ctx)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w).Flush
	if r.Method == http.MethodHead {
		return nil
	}
	if _, err := fmt.Fprint(w, "retry: 1000\n\n"); err != nil || flush() != nil {
		return nil
	}
	heartbeat := time.NewTicker(h.cfg.Heartbeat)
	defer heartbeat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-h.stopping:
			return nil
		case <-heartbeat.C:
			_, err = fmt.Fprint(w, ": heartbeat\n\n")
		case e, ok := <-events:
			if !ok {
				return nil
			}
			err = writeEvent(w, e)
		}
		if err != nil || flush() != nil {
			return nil // the client is gone
		}
	}
}

func writeEvent(w http.ResponseWriter, e Event) error {
	data, err := json.Marshal(e) // one line: JSON holds no raw line breaks
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Type, data)
	return err
}
