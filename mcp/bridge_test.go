package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// desk is a bridge with its client's ends in the test's hands. Its daemons come from dial.
type desk struct {
	t     testing.TB
	in    *io.PipeWriter
	lines *bufio.Scanner
	ended chan error
	stop  context.CancelFunc
}

func openDesk(t testing.TB, dial func(context.Context) (io.ReadWriteCloser, error)) *desk {
	return openPatientDesk(t, 0, dial)
}

func openPatientDesk(t testing.TB, patience time.Duration, dial func(context.Context) (io.ReadWriteCloser, error)) *desk {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	d := &desk{t: t, in: inWrite, lines: bufio.NewScanner(outRead), ended: make(chan error, 1), stop: stop}
	d.lines.Buffer(nil, 8<<20)
	b := &Bridge{Dial: dial, Patience: patience, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))}
	go func() {
		d.ended <- b.Run(ctx, inRead, outWrite)
		outWrite.Close()
	}()
	t.Cleanup(func() { stop(); inWrite.Close(); outRead.Close() })
	return d
}

func (d *desk) say(lines ...string) {
	d.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(d.in, l+"\n"); err != nil {
			d.t.Fatal(err)
		}
	}
}

// hear gives the next message.
func (d *desk) hear() map[string]any {
	d.t.Helper()
	if !d.lines.Scan() {
		d.t.Fatalf("no more lines: %v", d.lines.Err())
	}
	var m map[string]any
	if err := json.Unmarshal(d.lines.Bytes(), &m); err != nil {
		d.t.Fatalf("not a message: %s", d.lines.Text())
	}
	return m
}

// answerTo reads on to the answer to id.
func (d *desk) answerTo(id any) map[string]any {
	d.t.Helper()
	for {
		if m := d.hear(); fmt.Sprint(m["id"]) == fmt.Sprint(id) && m["method"] == nil {
			return m
		}
	}
}

// daemons hands out pipes to one Server and can hang up on all of them.
type daemons struct {
	h     *house
	mu    sync.Mutex
	conns []io.Closer
	dials int
}

func (d *daemons) dial(context.Context) (io.ReadWriteCloser, error) {
	ours, theirs := newPipe()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dials++
	d.conns = append(d.conns, ours)
	go func() { _ = d.h.ServePipe(context.Background(), theirs) }()
	return ours, nil
}

func (d *daemons) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.conns {
		_ = c.Close()
	}
	d.conns = nil
}

const (
	hello    = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"desk","version":"1"}}}`
	helloToo = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func lookupLine(id any, query string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":"lookup_knowledge","arguments":{"query":%q}}}`, id, query)
}

// SPEC 6.3: what was asked is answered before the end of input ends it.
func TestBridgeEndsWithItsInput_6_3(t *testing.T) {
	h := openHouse(t)
	ds := &daemons{h: h}
	d := openDesk(t, ds.dial)
	d.say(hello, helloToo, "", lookupLine(`"x"`, "ERR_A"), lookupLine(7, "nothing"))
	d.in.Close()
	if r := d.answerTo("x"); r["result"] == nil {
		t.Errorf("answer: %v", r)
	}
	for d.lines.Scan() {
	}
	if err := await(t, "end", d.ended); err != nil {
		t.Errorf("ended with %v", err)
	}
	if len(h.asked) != 2 {
		t.Errorf("asked: %+v", h.asked)
	}
}

// A client does not notice that its daemon is another: neither its handshake, nor its subscriptions, nor what it waits for.
func TestBridgeOutlivesItsDaemon(t *testing.T) {
	h := openHouse(t)
	ds := &daemons{h: h}
	d := openDesk(t, ds.dial)
	d.say(hello, helloToo)
	d.answerTo(0)
	d.say(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"kb://api/a.md"}}`)
	d.answerTo(1)
	h.mu.Lock()
	h.block = make(chan struct{})
	h.mu.Unlock()
	d.say(lookupLine(2, "ERR_A"))
	for asked := 0; asked == 0; {
		h.mu.Lock()
		asked = len(h.asked)
		h.mu.Unlock()
	}
	ds.hangUp()
	if m := d.hear(); m["method"] != "notifications/resources/list_changed" {
		t.Errorf("after the change: %v", m)
	}
	if m := d.hear(); m["method"] != "notifications/resources/updated" || fmt.Sprint(m["params"]) != "map[uri:kb://api/a.md]" {
		t.Errorf("what was subscribed to may have changed meanwhile: %v", m)
	}
	h.mu.Lock()
	close(h.block)
	h.block = nil
	h.mu.Unlock()
	if r := d.hear(); fmt.Sprint(r["id"]) != "2" || r["result"] == nil {
		t.Errorf("the answer to what was under way: %v", r)
	}
	h.write("api/a.md", "new")
	if m := d.hear(); m["method"] != "notifications/resources/updated" {
		t.Errorf("the subscription: %v", m)
	}
	last := h.asked[len(h.asked)-1]
	if !strings.HasSuffix(last.Caller, "mcp=desk/1") {
		t.Errorf("the new daemon does not know the client: %+v", last)
	}
	d.in.Close()
	if err := await(t, "end", d.ended); err != nil {
		t.Error(err)
	}
}

func TestBridgeAnswersWhatIsNoMessage(t *testing.T) {
	h := openHouse(t)
	ds := &daemons{h: h}
	d := openDesk(t, ds.dial)
	d.say(hello)
	d.answerTo(0)
	for line, code := range map[string]float64{
		`{nonsense`:                    -32700,
		`[]`:                           -32700,
		`{"a":1}`:                      -32600,
		`"text"`:                       -32600,
		`{"jsonrpc":"2.0","method":5}`: -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:       -32600,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:        -32600,
		`{"x":"` + strings.Repeat("x", maxMessage) + `"}`: -32600,
	} {
		d.say(line)
		m := d.hear()
		e, _ := m["error"].(map[string]any)
		if e["code"] != code || m["id"] != nil {
			t.Errorf("%.40s: %v", line, m)
		}
	}
	d.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	d.answerTo("p")
	if ds.dials != 1 {
		t.Errorf("%d daemons", ds.dials)
	}
}

// A request that ends every session is given up, and the next one is answered.
func TestBridgeGivesUpOnWhatKills(t *testing.T) {
	served := 0
	d := openDesk(t, func(context.Context) (io.ReadWriteCloser, error) {
		ours, theirs := newPipe()
		served++
		go func() {
			defer theirs.Close()
			r := bufio.NewReader(theirs)
			for {
				line, err := r.ReadString('\n')
				if err != nil || strings.Contains(line, "kill") {
					return
				}
				var m message
				_ = json.Unmarshal([]byte(line), &m)
				fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.ID)
			}
		}()
		return ours, nil
	})
	d.say(lookupLine(1, "kill"))
	if m := d.answerTo(1); m["error"] == nil {
		t.Errorf("%v", m)
	}
	d.say(lookupLine(2, "fine"))
	if m := d.answerTo(2); m["result"] == nil {
		t.Errorf("%v", m)
	}
	if served != 3 {
		t.Errorf("%d sessions", served)
	}
}

// A daemon that hangs holds its session: the client hears of it, and nothing more should the answer come after all.
func TestBridgeDoesNotWaitForADaemonThatHangs(t *testing.T) {
	ours, theirs := newPipe()
	d := openPatientDesk(t, time.Millisecond, func(context.Context) (io.ReadWriteCloser, error) { return ours, nil })
	d.say(lookupLine(1, "ERR_A"))
	if e, _ := d.answerTo(1)["error"].(map[string]any); e["code"] != -32603.0 || !strings.Contains(fmt.Sprint(e["message"]), "no answer within 1ms") {
		t.Errorf("%v", e)
	}
	if _, err := bufio.NewReader(theirs).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(theirs, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"+`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`+"\n")
	}()
	if m := d.hear(); m["method"] == nil {
		t.Errorf("a second answer: %v", m)
	}
	d.in.Close() // nothing is waited for
	if err := await(t, "end", d.ended); err != nil {
		t.Error(err)
	}
}

func TestBridgeWithoutADaemon(t *testing.T) {
	none := errors.New("none to be had")
	d := openDesk(t, func(context.Context) (io.ReadWriteCloser, error) { return nil, none })
	if err := await(t, "end", d.ended); !errors.Is(err, none) {
		t.Errorf("%v", err)
	}
	d = openDesk(t, func(context.Context) (io.ReadWriteCloser, error) {
		a, b := newPipe()
		return a, b.Close()
	})
	if err := await(t, "end", d.ended); err == nil || !strings.Contains(err.Error(), "keeps hanging up") {
		t.Errorf("%v", err)
	}
}

func TestBridgeStops(t *testing.T) {
	h := openHouse(t)
	d := openDesk(t, (&daemons{h: h}).dial)
	d.say(hello)
	d.answerTo(0)
	d.stop()
	if err := await(t, "end", d.ended); err != nil {
		t.Error(err)
	}
}

// The SDK's client over the bridge, in both eras, with a daemon that goes in between.
func TestClientOverTheBridge(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			h := openHouse(t)
			ds := &daemons{h: h}
			inRead, inWrite := io.Pipe()
			outRead, outWrite := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				b := &Bridge{Dial: ds.dial, Log: slog.New(slog.DiscardHandler)}
				ended <- b.Run(context.Background(), inRead, outWrite)
				outWrite.Close()
			}()
			n := newHeard()
			session := h.connect(&sdk.IOTransport{Reader: outRead, Writer: inWrite}, n, era)
			for range 3 {
				if _, err := call(session, map[string]any{"query": "ERR_A"}); err != nil {
					t.Fatal(err)
				}
				ds.hangUp()
			}
			if _, err := call(session, map[string]any{"query": "ERR_A"}); err != nil {
				t.Fatal(err)
			}
			h.write("ops/new.md", "")
			await(t, "the list has changed", n.listed)
			_ = session.Close()
			if err := await(t, "end", ended); err != nil && !errors.Is(err, io.ErrClosedPipe) {
				t.Error(err)
			}
		})
	}
}
