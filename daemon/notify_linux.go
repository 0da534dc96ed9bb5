package daemon

import (
	"log/slog"
	"os"
	"strings"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

const (
	notifyReady    = systemd.SdNotifyReady
	notifyStopping = systemd.SdNotifyStopping
	notifyWatchdog = systemd.SdNotifyWatchdog
)

// supervised reports whether a service manager listens (sd_notify(3)).
func supervised() bool { return os.Getenv("NOTIFY_SOCKET") != "" }

// notify sends one message of these lines.
func notify(log *slog.Logger, lines ...string) {
	if _, err := systemd.SdNotify(false, strings.Join(lines, "\n")); err != nil {
		log.Warn("the service manager cannot be told", "what", lines[0], "err", err)
	}
}

// notifyReloading announces a reload; the kernel's clock tells systemd to which request it belongs.
func notifyReloading(log *slog.Logger) {
	notify(log, systemd.SdNotifyReloading, strings.TrimSpace(systemd.SdNotifyMonotonicUsec()))
}

// watchdogInterval is how long the service manager waits for a sign of life; 0: it does not.
func watchdogInterval(log *slog.Logger) time.Duration {
	interval, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the service manager's watchdog cannot be used", "err", err)
	}
	return interval
}
