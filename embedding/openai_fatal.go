package embedding

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A text may kill its server (an assertion of llama.cpp, the memory of a machine) and a supervisor starts that again. Then
// every try ends in an outage, and the others of the batch would wait for ever. The text is found by smaller and smaller
// batches: but only what is certain counts, namely that the server embedded something right before and was gone after.

const (
	fatalDeaths = 2                // of one text alone, until it is taken to be the cause
	fatalRest   = 10 * time.Minute // that it is not sent for; whoever asks gives it up before
)

var errFatal = errors.New("the server died twice of this text")

// fatal knows the texts of which the server died.
type fatal struct {
	mu     sync.Mutex // guards below
	looked bool       // it died, and no call went through to its end since: one batch at a time, after a harmless text
	deaths map[string]death
}

type death struct {
	times int
	last  time.Time
}

func (f *fatal) searching() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.looked
}

// died notes that the server worked until it was sent these texts.
func (f *fatal) died(texts []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// While several batches are under way, the death may be another one's fault: that of one text counts in a search alone.
	if len(texts) == 1 && f.looked {
		if f.deaths == nil {
			f.deaths = make(map[string]death)
		}
		f.deaths[texts[0]] = death{times: f.deaths[texts[0]].times + 1, last: time.Now()}
	}
	f.looked = true
}

// over notes that a call went through to its end.
func (f *fatal) over() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked = false
}

// blames reports whether the server should be spared a text.
func (f *fatal) blames(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.deaths[text]
	if ok && time.Since(d.last) > fatalRest {
		delete(f.deaths, text)
		ok = false
	}
	return ok && d.times >= fatalDeaths
}

// beforeSearch makes sure that the server lives, so that its death can be noticed.
func (o *OpenAI) beforeSearch(ctx context.Context) error {
	if !o.fatal.searching() || o.proven.Load() {
		return nil
	}
	return o.control(ctx)
}

// hungUp reports whether the connection was cut before any answer.
func hungUp(err error) bool {
	var odd *oddAnswer
	return errors.As(err, &odd) && odd.none
}
