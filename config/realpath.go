package config

import "path/filepath"

// RealPath is a folder's path without symbolic links, by which two names of it are seen to be one. Of a folder that is not there,
// or that the caller may not look at, those above it are resolved as far as may be: who asks a daemon by its socket need not be
// allowed into its folder.
func RealPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	above := filepath.Dir(dir)
	if above == dir {
		return dir
	}
	return filepath.Join(RealPath(above), filepath.Base(dir))
}
