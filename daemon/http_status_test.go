package daemon

import (
	"strings"
	"testing"

	"knowledged/config"
)

// SPEC 6.2: the status tells a port that was taken from one that nobody wanted.
func TestHTTPStatusTellsWhyItIsOff_6_2(t *testing.T) {
	for _, c := range []struct{ configured, open, address, reason string }{
		{"127.0.0.1:0", "127.0.0.1:4711", "127.0.0.1:4711", ""},
		{config.HTTPOff, config.HTTPOff, "", "ipc.http is off"},
		{"127.0.0.1:7420", config.HTTPOff, "127.0.0.1:7420", "127.0.0.1:7420 could not be had"},
	} {
		d := &Daemon{cfg: &config.Config{IPC: config.IPC{HTTP: c.configured}}, httpAddr: c.open}
		got := d.httpStatus()
		if got.On != (c.reason == "") || got.Address != c.address || !strings.HasPrefix(got.Reason, c.reason) || (got.Reason == "") != got.On {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
