// Package client is what a Go program needs to ask a knowledged daemon: lookups, documents, uploads, status, events.
//
//	c := &client.Client{Socket: "/run/user/1000/knowledged/knowledged.sock"} // or client.Local()
//	defer c.Close()
//	answer, err := c.Lookup(ctx, client.Request{Query: "ERR_TIMEOUT"})
//
// A Client is safe for concurrent use. It reaches the daemon through its Unix socket, where the socket's rights are the
// guard, or through the loopback port with URL and, for what writes, Token. Error answers are *Problem; ErrNoDaemon says
// that nobody answers. The command line uses the same client.
//
// The names here are those of the daemon's own packages, so that there is one set of types. Neither index nor embedding
// model comes with them.
package client

import (
	"fmt"
	"os"

	"knowledged/config"
	"knowledged/document"
	"knowledged/ipc"
	"knowledged/lookup"
)

// Client talks to a daemon. Set Socket, or URL and perhaps Token; Wait, if the daemon may still be about to start.
type Client = ipc.Client

type (
	// Request is a question.
	Request = lookup.Request
	// Answer is what it gets: Primary, Supplement, both or neither.
	Answer = lookup.Answer
	// Primary is the document that matched by name.
	Primary = lookup.Primary
	// Supplement is the passage that answers by meaning.
	Supplement = lookup.Supplement
	// Result is one document of the fused list.
	Result = lookup.Result
)

type (
	// Record is one document as the daemon knows it.
	Record = ipc.Record
	// Warning is something its author should mend.
	Warning = document.Warning
	// DocumentsQuery filters and pages documents.
	DocumentsQuery = ipc.DocumentsQuery
	// DocumentList is a page of them.
	DocumentList = ipc.DocumentList
	// ContentQuery says how much of a document to read.
	ContentQuery = ipc.ContentQuery
	// Content is a document's text.
	Content = ipc.Content
	// Chunk is a passage of a document, as the indexes hold it.
	Chunk = ipc.Chunk
	// PutRequest is an upload.
	PutRequest = ipc.PutRequest
	// Match is the value of If-Match or If-None-Match of an upload or deletion.
	Match = ipc.Match
	// Job is what a reindex or reconcile did.
	Job = ipc.Job
)

type (
	// Status is the daemon's state.
	Status = ipc.Status
	// Event is something that happened in it.
	Event = ipc.Event
	// HistoryEntry is one lookup that was answered.
	HistoryEntry = ipc.HistoryEntry
	// Stats sums lookups up.
	Stats = ipc.Stats
)

// Kinds of events, and what happened to a document.
const (
	EventDocument = ipc.EventDocument
	EventIndex    = ipc.EventIndex
	EventL1       = ipc.EventL1
	EventLagged   = ipc.EventLagged // events are missing: ask for everything again

	ActionCreated = ipc.ActionCreated
	ActionUpdated = ipc.ActionUpdated
	ActionDeleted = ipc.ActionDeleted
	ActionFailed  = ipc.ActionFailed
)

// Problem is an error answer of the daemon (RFC 9457). Its Status tells the kinds apart: 404 no such document, 409 the same
// text is there already, 412 changed since it was read.
type Problem = ipc.Problem

// ErrNoDaemon says that nobody answers.
var ErrNoDaemon = ipc.ErrNoDaemon

// ErrNoAnswer says that a daemon has the socket and keeps silent for longer than Client.Patience.
var ErrNoAnswer = ipc.ErrNoAnswer

// Local is a client of this user's daemon: its socket is found as the command line finds it, by environment and
// configuration file.
func Local() (*Client, error) {
	cwd, err := config.WorkingDir()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	loaded, err := config.Load(config.Options{Env: os.Environ(), Cwd: cwd})
	if err != nil {
		return nil, fmt.Errorf("find the daemon's socket: %w", err)
	}
	return &Client{Socket: loaded.Config.IPC.Socket}, nil
}
