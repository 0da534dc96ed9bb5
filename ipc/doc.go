// Package ipc is every door into the daemon on one HTTP handler, and the client that knocks.
//
// The Unix socket and the loopback port serve the same routes (routes.go). What differs is who may come in (guard.go): the
// socket's mode is its guard; the port checks Host, Origin and a token. The daemon is seen through the interface `backend`
// (backend.go), whose answers are the wire types (wire.go) and whose errors map to statuses (errors.go).
package ipc
