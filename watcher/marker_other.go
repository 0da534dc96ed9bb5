//go:build !linux

package watcher

import "errors"

// marker is for systems whose queue of events is in order and can be written to; see marker_linux.go.
type marker struct{ name string }

func newMarker() (*marker, error) { return nil, errors.ErrUnsupported }
func (m *marker) set() error      { return errors.ErrUnsupported }
func (m *marker) close()          {}
