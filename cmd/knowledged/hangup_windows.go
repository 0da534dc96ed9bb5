package main

import "syscall"

// hangup is never sent to a process on Windows.
const hangup = syscall.SIGHUP

// outliveLog has nothing to do: writing to a closed pipe is an error there, no signal.
func outliveLog() {}
