package daemon

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"knowledged/registry"
)

// alike is a document whose path is the same as target where file systems make nothing of case, or of how letters are
// composed: a folder copied there would hold only one of the two.
func (p *pipeline) alike(target string) *registry.Record {
	composed := norm.NFC.String(target)
	for _, rec := range p.registry.All() {
		if rec.Path != target && strings.EqualFold(norm.NFC.String(rec.Path), composed) && !p.look(rec.Path, true).gone {
			return rec
		}
	}
	return nil
}
