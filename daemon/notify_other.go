//go:build !linux

package daemon

import (
	"log/slog"
	"time"
)

// launchd and Windows' service manager ask for no messages.
const (
	notifyReady    = ""
	notifyStopping = ""
	notifyWatchdog = ""
)

func supervised() bool { return false }

func notify(*slog.Logger, ...string) {}

func notifyReloading(*slog.Logger) {}

func watchdogInterval(*slog.Logger) time.Duration { return 0 }
