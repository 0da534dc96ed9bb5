package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"knowledged/config"
	"knowledged/ipc"
)

func (x *examination) socket(ctx context.Context) {
	const name = "socket"
	path := x.cfg.IPC.Socket
	err := ipc.CheckSocket(ctx, path)
	var (
		bad   *ipc.ConfigError
		inUse *ipc.InUseError
	)
	switch {
	case errors.As(err, &bad):
		x.fail(name, bad.Message, "choose another path: ipc.socket or --socket")
	case errors.As(err, &inUse) && x.status == nil:
		x.fail(name, fmt.Sprintf("pid %d has %s and does not answer", inUse.PID, path), "stop that process, or choose another path: ipc.socket or --socket")
	case errors.As(err, &inUse):
		x.ok(name, "%s answers", path)
	case err != nil:
		x.fail(name, err.Error(), "check the rights of the socket and its folder")
	case !writable(existing(filepath.Dir(path))):
		x.fail(name, "the folder of "+path+" cannot be written", "choose another path: ipc.socket or --socket")
	default:
		x.ok(name, "%s is free", path)
	}
}

// port tells who has the loopback port.
func (x *examination) port(ctx context.Context) {
	const name = "port"
	address := x.cfg.IPC.HTTP
	if address == config.HTTPOff || address == "" {
		x.ok(name, "off: ipc.http is off")
		return
	}
	if x.here && x.status.HTTP.Reason != "" && x.status.HTTP.Address == "" {
		x.warn(name, "the daemon runs and has no port: its "+x.status.HTTP.Reason, "it was started with another setting than this one, "+address+": restart it if it is to have a port")
		return
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		listener.Close()
		if x.here {
			x.warn(name, "the daemon runs and does not listen on "+address+x.whyNoHTTP(), "it was started with another --http, or the port was taken then: restart it")
		} else {
			x.ok(name, "%s is free", address)
		}
		return
	}
	switch ours := isOurs(ctx, address); {
	case ours && x.status != nil && x.isAnother(ctx, address):
		x.warn(name, "another knowledged answers on "+address+", and the daemon of this folder has no port"+x.whyNoHTTP(), "give one of them another address, ipc.http or --http, and restart it")
	case ours && x.status != nil:
		x.ok(name, "%s answers", address)
	case ours:
		x.warn(name, "another knowledged answers on "+address, "give one of them another address: ipc.http or --http")
	default:
		x.warn(name, fmt.Sprintf("%s cannot be had: %v", address, err), "stop the program that has it, or choose another address: ipc.http or --http; the socket works on without")
	}
}

// whyNoHTTP is what the daemon says about its port.
func (x *examination) whyNoHTTP() string {
	if !x.here || x.status.HTTP.Reason == "" {
		return ""
	}
	return ": " + x.status.HTTP.Reason
}

// isAnother reports whether the daemon at the address is not that of the socket. One that wants a token does not tell, and is
// given the benefit of the doubt.
func (x *examination) isAnother(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	client := &ipc.Client{URL: "http://" + address}
	defer client.Close()
	s, err := client.Status(ctx)
	return err == nil && s.PID != x.status.PID
}

// isOurs reports whether a knowledged answers at the address.
func isOurs(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK && resp.Header.Get("X-Request-Id") != ""
}
