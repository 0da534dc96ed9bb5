package main

import (
	"errors"
	"fmt"
	"os"

	"knowledged/service"
)

func needsRoot(user bool, verb string) error {
	if user || os.Geteuid() == 0 {
		return nil
	}
	return &exitError{code: exitFailed, err: errors.New("the machine's service is root's to change"), hint: fmt.Sprintf("sudo knowledged service %s; or, for yourself, knowledged service %s --user", verb, verb)}
}

func notInstalled(user bool) error {
	return &exitError{code: exitFailed, err: errors.New("the service is not installed"), hint: "knowledged service install" + userFlag(user)}
}

func userFlag(user bool) string {
	if user {
		return " --user"
	}
	return ""
}

// serviceError gives an error of the service its hint.
func serviceError(err error, user bool) error {
	var packaged *service.PackagedError
	var foreign *service.ForeignError
	var hidden *service.HiddenError
	var unreachable *service.UnreachableError
	logs := "journalctl" + userFlag(user) + " --unit knowledged --lines 20 --output cat tells why"
	switch {
	case err == nil:
		return nil
	case errors.As(err, &packaged):
		return &exitError{code: exitFailed, err: err, hint: "start it with `knowledged service start`; the package manager updates and removes it"}
	case errors.As(err, &foreign):
		return &exitError{code: exitFailed, err: err, hint: "remove it, or go on without `knowledged service`; `knowledged service install --print` shows ours"}
	case errors.As(err, &hidden):
		return &exitError{code: exitFailed, err: err, hint: fmt.Sprintf("sudo install -m 755 %s /usr/local/bin/knowledged && sudo /usr/local/bin/knowledged service install", hidden.Binary)}
	case errors.As(err, &unreachable):
		return &exitError{code: exitFailed, err: err, hint: "log in as this user, not by su or sudo; or let it run always: sudo loginctl enable-linger $USER"}
	case errors.Is(err, service.ErrNoManager):
		return &exitError{code: exitFailed, err: err, hint: "let yours run `knowledged run`; `knowledged service install --print` shows the unit for systemd"}
	}
	return &exitError{code: exitFailed, err: err, hint: logs}
}
