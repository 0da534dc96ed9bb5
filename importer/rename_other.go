//go:build !linux && !darwin

package importer

import (
	"errors"
	"os"
)

// renameExclusive: there is none that is known here.
func renameExclusive(*os.File, string, string) error { return errors.ErrUnsupported }
