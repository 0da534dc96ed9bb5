package lookup

import (
	"context"
	"fmt"
	"time"
)

// Corrector spells a query that names nothing as one that does; ok is false if there is none near enough. Only words that no
// text has are taken for typos.
type Corrector interface {
	Correct(ctx context.Context, query string) (corrected string, ok bool)
}

// Corrected says that an answer is one to another spelling of the query.
type Corrected struct {
	From string `json:"from"` // the query as it was asked
	To   string `json:"to"`   // what was looked up instead
}

// correct looks up another spelling where nothing matches as typed. What it finds is never more than `low`, and the decision
// stays that of the query as it was asked: no match.
func (s *state) correct(ctx context.Context) {
	if len(s.matches) > 0 || s.textErr != nil || s.e.deps.Corrector == nil {
		return
	}
	start := time.Now()
	asked := s.req.Query
	corrected, ok := s.e.deps.Corrector.Correct(ctx, asked)
	s.log.Debug("spelling looked at", "corrected", corrected, "took", time.Since(start))
	if !ok {
		return
	}
	s.req.Query = corrected
	if s.match(ctx); len(s.matches) == 0 {
		s.req.Query = asked
		return
	}
	s.corrected = &Corrected{asked, corrected}
}

// hint says what was looked up in place of what.
func (c *Corrected) hint() string {
	from, to := clip(oneLine(c.From), 80), clip(oneLine(c.To), 80)
	if hasHan(c.From) {
		return fmt.Sprintf("没有匹配“%s”的文档；改为查询“%s”。", from, to)
	}
	return fmt.Sprintf("No match for %q; looked up %q instead.", from, to)
}
