package config

import (
	"os"
	"syscall"
)

// WorkingDir is the working directory, also one that the caller may not look into: `sudo runuser -u knowledged` stays in the
// folder of whoever calls it.
func WorkingDir() (string, error) {
	dir, err := os.Getwd()
	if err == nil {
		return dir, nil
	}
	if named, kernelErr := syscall.Getwd(); kernelErr == nil {
		return named, nil
	}
	return "", err
}
