// Package ipc is every door into the daemon on one HTTP handler, and the client that knocks.
package ipc
