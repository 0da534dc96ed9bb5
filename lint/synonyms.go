package lint

import "knowledged/synonyms"

// checkSynonyms passes on what reading the folder's synonyms has found.
func (c *check) checkSynonyms() {
	if c.folder.Synonyms == nil {
		return
	}
	_, problems, _ := synonyms.Parse(c.folder.Synonyms)
	for _, p := range problems {
		rule := SynonymPointless
		if p.Lost {
			rule = SynonymsBroken
		}
		c.report(rule, Location{Path: synonyms.FileName, Line: p.Line}, p.Message)
	}
}
