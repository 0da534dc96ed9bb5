package ipc

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (h *house) subscribers() int {
	h.Hub.mu.Lock()
	defer h.Hub.mu.Unlock()
	return len(h.subs)
}

func TestEventStream(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.Heartbeat = 20 * time.Millisecond })
	resp, err := h.client.Get("http://sock/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	h.Publish(Event{Type: EventDocument, Action: ActionUpdated, DocID: "d", Source: "kb/a\nb.md", Time: time.Unix(0, 0).UTC()})
	var got []string
	beats := 0
	lines := bufio.NewScanner(resp.Body)
	for (len(got) < 2 || beats < 2) && lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, ": "):
			beats++
		case strings.HasPrefix(line, "event:"), strings.HasPrefix(line, "data:"):
			got = append(got, line)
		}
	}
	want := `data: {"type":"document","time":"1970-01-01T00:00:00Z","action":"updated","docId":"d","source":"kb/a\nb.md"}`
	if len(got) != 2 || got[0] != "event: document" || got[1] != want {
		t.Errorf("%q", got)
	}
}

// The stream ends with the client, and with the daemon: an endless stream must not hold up the stop.
func TestEventStreamEnds(t *testing.T) {
	h := openHouse(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://sock/v1/events", nil)
	resp, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	resp.Body.Close()
	eventually(t, "unsubscribed", func() bool { return h.subscribers() == 0 })

	if resp, err = h.client.Get("http://sock/v1/events"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := h.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("stopped after %v", took)
	}
	resp.Body.Close()
}

func TestEventStreamHead(t *testing.T) {
	h := openHouse(t, nil)
	if r := h.ask("HEAD", "/v1/events", ""); r.status != 200 {
		t.Errorf("%+v", r)
	}
}

// A slow subscriber loses events, is told how many, and holds up nobody.
func TestHubDropsForTheSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hub Hub
		ctx, cancel := context.WithCancel(t.Context())
		slow, quick := hub.Subscribe(ctx), hub.Subscribe(ctx)
		const lost = 10
		for i := range eventBuffer + lost {
			hub.Publish(Event{Type: EventIndex, Updates: uint64(i + 1)})
			if e := <-quick; e.Updates != uint64(i+1) || e.Time.IsZero() {
				t.Fatalf("quick: %+v", e)
			}
		}
		<-slow // one slot is not enough for the note and the event
		hub.Publish(Event{Type: EventL1})
		<-quick
		<-slow
		hub.Publish(Event{Type: EventL1, State: L1Ready})
		<-quick
		var last, before Event
		for range eventBuffer {
			before, last = last, <-slow
		}
		if before.Type != EventLagged || before.Dropped != lost+1 || last.State != L1Ready {
			t.Errorf("%+v, %+v", before, last)
		}
		cancel()
		synctest.Wait()
		if _, open := <-slow; open {
			t.Error("the channel is open after its context ended")
		}
		hub.Publish(Event{Type: EventL1}) // to nobody
	})
}
