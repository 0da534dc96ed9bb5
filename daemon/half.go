package daemon

import (
	"bytes"
	"time"

	"knowledged/document"
	"knowledged/registry"
)

// hold keeps what is known of a file that looks half-written and looks again once it had time to settle.
func (p *pipeline) hold(f finding) {
	if _, ok := p.held[f.path]; !ok {
		p.held[f.path] = time.Now()
	}
	p.folder.Touch(f.path)
}

// halfWritten reports whether a change looks like a save still under way, of a file that was touched a moment ago. It is
// believed once it has stayed so for watch.max_settle. doc is nil where the file is no text.
func (p *pipeline) halfWritten(path string, old *registry.Record, doc *document.Document, data []byte, modified time.Time) bool {
	if !p.recent(modified) {
		return false
	}
	if since, ok := p.held[path]; ok && time.Since(since) > p.settle {
		return false
	}
	if len(data) == 0 || old != nil && !old.Failed() && cutShort(old, doc, data) {
		return true
	}
	// A new file of which only a part is there. Not in the first scan: its warnings are summed up at its end.
	return !p.brief && (doc == nil ||
		!doc.HasFrontmatter && (bytes.HasPrefix(data, []byte("---\n")) || bytes.HasPrefix(data, []byte("+++\n"))))
}

// recent reports whether a save that touched the file then may still be under way.
func (p *pipeline) recent(modified time.Time) bool { return time.Since(modified) <= p.settle }

// cutShort reports whether a file has less than its record tells of: it was emptied, its front matter ends in the middle,
// or it is no text, since it ends within a character or has room for what is still to come.
func cutShort(old *registry.Record, doc *document.Document, data []byte) bool {
	return len(data) == 0 || doc == nil || old.InL0 && !doc.InL0
}
