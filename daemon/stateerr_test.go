package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

func TestStateErrors(t *testing.T) {
	for _, of := range []error{
		syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.ENOSPC, syscall.EDQUOT,
		errors.New("persist: " + syscall.EROFS.Error()), // as a text only
	} {
		err := ofState(fmt.Errorf("open: %w", of))
		state, ok := errors.AsType[*StateError](err)
		if full := errors.Is(of, syscall.ENOSPC) || errors.Is(of, syscall.EDQUOT); !ok || state.NoSpace() != full || !errors.Is(err, of) {
			t.Errorf("%v: %v", of, err)
		}
	}
	for _, of := range []error{nil, fs.ErrNotExist, syscall.EIO} {
		if err := ofState(of); !errors.Is(err, of) || of != nil && errors.As(err, new(*StateError)) {
			t.Errorf("%v: %v", of, err)
		}
	}
}
