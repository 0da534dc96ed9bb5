//go:build !linux

package ipc

import "net"

// Inherited is for systemd: no other service manager passes sockets this way.
func Inherited() (net.Listener, error) { return nil, nil }
