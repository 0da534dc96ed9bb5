package l1

import (
	"testing"
	"time"
)

// SPEC 3.6: a backlog tells how fast it goes and how long it will take, each backlog for itself.
func TestPace_3_6(t *testing.T) {
	var p pace
	start := time.Now()
	if r, eta := p.rate(start, 10); r != 0 || eta != 0 {
		t.Errorf("nothing done yet: %v a second, %v left", r, eta)
	}
	p.begin(start)
	p.advance(100, 300)
	p.begin(start.Add(time.Second)) // the same backlog goes on
	p.advance(100, 200)
	if r, eta := p.rate(start.Add(2*time.Second), 200); r != 100 || eta != 2*time.Second {
		t.Errorf("200 in 2 s, 200 left: %v a second, %v left", r, eta)
	}
	p.advance(200, 0)
	p.begin(start.Add(time.Hour))
	p.advance(10, 5)
	if r, eta := p.rate(start.Add(time.Hour+time.Second), 5); r != 10 || eta != time.Second/2 {
		t.Errorf("the next backlog: %v a second, %v left", r, eta)
	}
}
