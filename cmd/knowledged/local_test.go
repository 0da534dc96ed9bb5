package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"knowledged/config"
	"knowledged/daemon"
	"knowledged/registry"
)

// A daemon that starts while a lookup without one has the state waits until it is done; another daemon is not waited for,
// nor one that was killed long ago.
func TestStateOfALookupIsWaitedFor(t *testing.T) {
	cfg := config.Default()
	cfg.Knowledge.BasePath, cfg.StateDir = t.TempDir(), t.TempDir()
	log := slog.New(slog.DiscardHandler)
	first, err := daemon.New(&cfg, "test", log)
	if err != nil {
		t.Fatal(err)
	}
	const patience = 100 * time.Millisecond
	old := filepath.Join(cfg.StateDir, lookupMark+"1")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-markAge)); err != nil {
		t.Fatal(err)
	}
	if _, err := openState(t.Context(), &cfg, "", patience, lookupMark, log); !errors.Is(err, registry.ErrLocked) {
		t.Fatalf("another daemon: %v", err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("what a killed lookup left is still there")
	}

	unmark := mark(cfg.StateDir, openingMark)
	if _, err := openState(t.Context(), &cfg, "", patience, havingMark, log); !errors.Is(err, registry.ErrLocked) {
		t.Fatalf("lookups wait for each other: %v", err)
	}
	second := make(chan error, 1)
	go func() {
		d, err := openState(t.Context(), &cfg, "", patience, lookupMark, log)
		if err == nil {
			err = d.Close()
		}
		second <- err
	}()
	select {
	case err := <-second:
		t.Errorf("not waited for: %v", err)
	case <-time.After(15 * patience): // more than the lock is tried for, and patience
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	unmark()
	if err := await(t, second); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(cfg.StateDir); err != nil || marked(cfg.StateDir, lookupMark) {
		t.Errorf("%v, %v", entries, err)
	}
}
