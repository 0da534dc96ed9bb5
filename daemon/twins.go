package daemon

// newFirst puts paths without a record before known ones. A file that moved is looked at in its new place, which leads to
// the old one (vanishedTwins), so that a move is one write however many files move at once. byInode are the known ones.
func (p *pipeline) newFirst(paths []string) (all []string, byInode map[uint64]string) {
	all = make([]string, 0, len(paths))
	var known []string
	for _, path := range paths {
		if _, ok := p.registry.Get(path); ok {
			known = append(known, path)
		} else {
			all = append(all, path)
		}
	}
	byInode = map[uint64]string{}
	if len(all) > 0 {
		for _, path := range known {
			if rec, ok := p.registry.Get(path); ok && rec.Inode != 0 {
				byInode[rec.Inode] = path
			}
		}
	}
	return append(all, known...), byInode
}

// vanishedTwins finds, for new files, documents with the same bytes whose own file is gone though no event said so yet.
// Each is looked at once a slice, however many files of the same bytes there are. A file edited after its rename has
// other bytes: byInode leads to where it may come from.
func (p *pipeline) vanishedTwins(found []finding, byInode map[uint64]string) []finding {
	var out []finding
	looked := make(map[string]bool, len(found))
	for _, f := range found {
		looked[f.path] = true
	}
	for _, f := range found {
		if f.record == nil || f.old != nil || f.record.FileHash == "" {
			continue
		}
		from := []string{byInode[f.record.Inode]}
		for _, twin := range p.registry.ByHash(f.record.FileHash) {
			from = append(from, twin.Path)
		}
		for _, path := range from {
			if path == "" || looked[path] {
				continue
			}
			looked[path] = true
			if g := p.look(path, true); g.gone && g.old != nil {
				out = append(out, g)
			}
		}
	}
	return out
}
