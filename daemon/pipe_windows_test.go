package daemon

import "errors"

func makePipe(string) error { return errors.New("there are no named pipes in a folder here") }
