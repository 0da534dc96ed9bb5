//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// hangup asks a daemon to read its configuration again.
const hangup = syscall.SIGHUP

// outliveLog keeps a daemon alive whose log nobody reads any more (`knowledged run 2>&1 | head`): the runtime ends a process
// that writes to a closed standard error, unless it ignores the signal.
func outliveLog() { signal.Ignore(syscall.SIGPIPE) }
