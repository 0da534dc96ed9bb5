package daemon

import (
	"cmp"
	"context"
	"slices"
	"time"

	"knowledged/ipc"
	"knowledged/lookup"
	"knowledged/registry"
)

// Lookup answers one question and writes it into the history, unless it is still being typed.
func (d *Daemon) Lookup(ctx context.Context, req lookup.Request) (*lookup.Answer, error) {
	answer, err := d.engine.Load().Lookup(ctx, req)
	if err != nil {
		return nil, err
	}
	if d.watcher.BaseMissing() {
		missing := "the documents folder is missing: put " + d.base + " back"
		if answer.Hint != "" {
			missing += "; " + answer.Hint
		}
		answer.Hint = missing
	}
	if req.Preview {
		return answer, nil
	}
	h := registry.Lookup{
		RequestID: answer.RequestID, Query: req.Query, Section: req.SectionTitle, Reason: answer.Decision.Reason,
		Found: answer.Found, L0Matches: answer.Decision.L0Matches, Degraded: answer.Degraded,
		TotalMs: answer.Timings.TotalMs, L0Ms: answer.Timings.L0Ms, L1Ms: answer.Timings.L1Ms,
		Caller: req.Caller, Tool: req.Tool, Time: time.Now(),
	}
	switch {
	case answer.Primary != nil:
		h.Confidence, h.Source = answer.Primary.Confidence, answer.Primary.Source
	case answer.Supplement != nil:
		h.Source = answer.Supplement.Source
	}
	d.history.Add(h)
	return answer, nil
}

// Lookups is the history, newest first.
func (d *Daemon) Lookups(_ context.Context, since time.Time, limit int) ([]ipc.HistoryEntry, error) {
	return historyEntries(d.history.List(since, limit)), nil
}

// announceL1 tells subscribers when the semantic index changes its state, until ctx ends.
func (d *Daemon) announceL1(ctx context.Context) {
	said := ""
	for {
		progress := d.l1.Progress() // before the look, so that no change falls between
		if s := d.l1.Status(); s.State != said {
			said = s.State
			d.events.Publish(ipc.Event{Type: ipc.EventL1, State: s.State, Error: s.LastError})
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return
		}
	}
}

// Subscribe gives events from now on, until ctx ends.
func (d *Daemon) Subscribe(ctx context.Context) <-chan ipc.Event { return d.events.Subscribe(ctx) }

func historyEntries(in []registry.Lookup) []ipc.HistoryEntry {
	out := make([]ipc.HistoryEntry, 0, len(in))
	for _, h := range in {
		out = append(out, ipc.HistoryEntry{
			RequestID: h.RequestID, Time: h.Time, Query: h.Query, Section: h.Section, Found: h.Found,
			Confidence: h.Confidence, Reason: h.Reason, L0Matches: h.L0Matches, Source: h.Source,
			TotalMs: h.TotalMs, L0Ms: h.L0Ms, L1Ms: h.L1Ms, Degraded: h.Degraded, Caller: h.Caller, Tool: h.Tool,
		})
	}
	return out
}

// Stats sums the history up.
func (d *Daemon) Stats(_ context.Context, since time.Time) (ipc.Stats, error) {
	s := d.history.Stats(since)
	out := ipc.Stats{
		Lookups: s.Lookups, Found: s.Found, Degraded: s.Degraded, HitRate: rate(s.Found, s.Lookups),
		P50Ms: s.TotalMs.P50, P99Ms: s.TotalMs.P99, MaxMs: s.TotalMs.Max, Slow: s.Slow, Slowest: historyEntries(s.Slowest),
		NeverFound: d.neverFound(s.Answered),
	}
	if !since.IsZero() {
		out.Since = &since
	}
	for reason, t := range s.ByReason {
		out.Kinds = append(out.Kinds, ipc.StatsKind{Reason: reason, Lookups: t.Lookups, Found: t.Found, HitRate: rate(t.Found, t.Lookups)})
	}
	slices.SortFunc(out.Kinds, func(a, b ipc.StatsKind) int {
		return cmp.Or(cmp.Compare(b.Lookups, a.Lookups), cmp.Compare(a.Reason, b.Reason))
	})
	for _, q := range s.UnansweredQueries {
		out.Unanswered = append(out.Unanswered, ipc.StatsQuestion(q))
	}
	for _, g := range s.UnansweredGroups {
		out.UnansweredGroups = append(out.UnansweredGroups, ipc.StatsGroup(g))
	}
	return out, nil
}

// neverFound lists the documents that none of the lookups was answered with. Those that could not be indexed are not to
// be found anyway, and status names them.
func (d *Daemon) neverFound(answered map[string]int) ipc.StatsNeverFound {
	var never ipc.StatsNeverFound
	for _, rec := range d.registry.All() {
		source := d.baseName + "/" + rec.Path
		if rec.Failed() || answered[source] > 0 {
			continue
		}
		never.Count++
		if len(never.Sources) < ipc.MaxNeverFound {
			never.Sources = append(never.Sources, source)
		}
	}
	return never
}

func rate(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
