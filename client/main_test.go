package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"knowledged/client"
	"knowledged/config"
	"knowledged/daemon"
)

// A real daemon on a folder of its own, for all examples.
var socket, url string

const token = "s3cret"

func TestMain(m *testing.M) {
	code, err := withDaemon(m.Run)
	if err == nil && code == 0 {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withDaemon(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "kd") // a socket's path must be short
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg := config.Default()
	cfg.Knowledge.BasePath, cfg.StateDir = filepath.Join(dir, "notes"), filepath.Join(dir, "state")
	socket = filepath.Join(dir, "s")
	cfg.IPC.Socket, cfg.IPC.HTTP, cfg.IPC.TokenFile = socket, "127.0.0.1:0", filepath.Join(dir, "token")
	document := "---\ntitle: Gift cards\nkeywords: [gift card, GC-7]\nsummary: How gift cards are sold and blocked\n---\n\n## GC-7\n\nFive wrong PINs lock a card for an hour.\n"
	err = errors.Join(
		os.MkdirAll(filepath.Join(cfg.Knowledge.BasePath, "domain"), 0o755),
		os.WriteFile(filepath.Join(cfg.Knowledge.BasePath, "domain", "gift-cards.md"), []byte(document), 0o600),
		os.WriteFile(cfg.IPC.TokenFile, []byte(token), 0o600))
	if err != nil {
		return 1, err
	}
	d, err := daemon.New(&cfg, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	doors, err := d.Doors(nil)
	if err != nil {
		return 1, err
	}
	url = "http://" + d.HTTPAddr()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, doors) }()
	defer func() { cancel(); err = errors.Join(err, <-ended) }()
	if err := d.WaitIndexed(ctx, time.Minute); err != nil {
		return 1, err
	}
	return run(), nil
}

// somebodySaves edits a document again and again until stop is called, which takes it away.
func somebodySaves(name string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- save(ctx, name) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			log.Fatal(err)
		}
	}
}

func save(ctx context.Context, name string) error {
	c := &client.Client{Socket: socket}
	defer c.Close()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		rec, _, err := c.Put(context.WithoutCancel(ctx), client.PutRequest{Category: "domain", FileName: name, Body: fmt.Appendf(nil, "# Late\n\nnews %d\n", n)})
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			_, err := c.Delete(context.WithoutCancel(ctx), rec.DocID, client.Match{})
			return err
		}
	}
}
