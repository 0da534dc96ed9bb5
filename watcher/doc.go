// Package watcher turns a folder into batches of paths that may have changed. A batch is a hint, never an operation: its
// reader looks at the disk and decides.
package watcher
