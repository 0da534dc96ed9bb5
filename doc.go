// Package knowledged is the tour of the code; the programs are below cmd.
//
// # What happens on a save
//
// watcher.Watcher sees an event, waits until the file is quiet, and hands over a batch of paths. A batch is a hint: it
// carries no operations. daemon's pipeline, the only writer, looks at the disk (daemon/look.go), parses the file
// (document.Parse), cuts it into chunks (chunker.Split) and compares their ids with those it has: a chunk's id is a hash
// of its content, so equal ids mean nothing to do. What changed goes into l0.Index, visible at once, then into
// registry.Registry on disk, and l1.Index is told which chunks came and went. l1.Index.Run embeds and stores them in its
// own time: keyword answers never wait for vectors.
//
// # What happens on a lookup
//
// ipc has one HTTP handler behind all doors. It calls lookup.Engine, which asks l0 for exact names. One match answers by
// itself. None or several: full text (l0) and meaning (l1) run side by side under a deadline, lookup fuses the two
// rankings and reads the file as it is now for the answer's text.
//
// # What happens on a start
//
// The registry opens and the exact table is filled from it: lookups are answered from here on. The pipeline compares the
// full-text index with the registry and mends it, the watcher adds its watches and then walks, and files whose size and
// times equal their record are not read.
//
// # Where to read on
//
//	document   the words all packages share; front matter and Markdown
//	hanzi      traditional and simplified Chinese made comparable
//	synonyms   .synonyms.yaml → which words mean the same; pure
//	chunker    document → chunks with breadcrumbs; pure
//	watcher    folder → settled batches of paths
//	registry   what is indexed, on disk; the lookup history
//	l0         exact table of names and full text (bleve)
//	breaker    keeps lookups from waiting for a server that does not answer
//	l1         semantic index; l1/embedded is the store in the binary, l1/milvus that of a team, l1/l1test what each must do
//	embedding  text → vector
//	lookup     the policy of an answer
//	ipc        doors, wire format, client
//	mcp        the door for agents: the Model Context Protocol, over HTTP and over standard streams
//	web        the door for people: pages to search, read, edit and see the state
//	daemon     wires all of it and owns every goroutine
//	config     one struct, strict loading
//	state      the state folder as a whole: formats, backup
//	service    the daemon as a service: systemd, launchd
//	packaging  the texts that an installation consists of; packages are made from them
//	lint       what keeps documents from being found; pure, lint/folder reads for it
//	client     what a Go program needs to ask a daemon; ipc's client and types under one roof
//	doctor     examines folders, doors, limits, indexes and servers, and names the remedy; changes nothing
//	importer   copies a folder of Markdown into the base folder; writes nothing else
//	eval       judged queries over knowledge_base and a corpus of its own; what a change to ranking is measured by
//
// layers_test.go keeps the arrows between them one-way.
package knowledged
