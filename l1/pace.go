package l1

import "time"

// pace measures how fast the present backlog is worked off. Index.mu guards it.
type pace struct {
	since time.Time // zero while nothing is being done
	done  int       // chunks dealt with since
}

// begin notes that work on a backlog begins; while one lasts it changes nothing.
func (p *pace) begin(now time.Time) {
	if p.since.IsZero() {
		p.since = now
	}
}

// advance counts chunks dealt with; with nothing left the next backlog is measured anew.
func (p *pace) advance(n, left int) {
	p.done += n
	if left == 0 {
		*p = pace{}
	}
}

// rate is chunks a second, and how long what is left takes at that rate; zeros where there is nothing to go by.
func (p *pace) rate(now time.Time, left int) (perSecond float64, eta time.Duration) {
	took := now.Sub(p.since).Seconds()
	if p.done == 0 || took <= 0 {
		return 0, 0
	}
	perSecond = float64(p.done) / took
	return perSecond, time.Duration(float64(left) / perSecond * float64(time.Second))
}
