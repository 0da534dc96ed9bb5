// Package watcher turns a folder into batches of paths that may have changed. A batch is a hint, never an operation: its
// reader looks at the disk and decides.
//
// One goroutine, the loop, owns everything: it reads events, lists folders piece by piece, keeps a snapshot of what it
// saw, and hands batches over. Whatever makes it look at a path, it compares the path with the snapshot, so that the four
// sources of hints need not know of each other:
//
//   - events. Their kinds and order are not believed; they choose what is looked at. A folder that appears is watched
//     first and listed then, so that nothing falls in between; one that goes takes its watches along, which would
//     otherwise report its old names.
//   - comparisons of all folders with the snapshot, once an interval, which find what made no event.
//   - stat(2) of what the links that are read lead to, twice a second: mostly, no folder with a watch holds it.
//   - walks, which end in a listing of the whole folder: at the start, after lost events, changed ignore rules or a
//     base folder that came back.
//
// The debouncer holds each path until it is quiet. What is gone waits for what is not settled yet, so that both ends of a
// move are in one batch.
//
// Status.Pending counts a change from the moment it was made (on Linux) until the reader calls Done.
package watcher
