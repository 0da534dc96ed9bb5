package embedding

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// EmbedPassages gives each passage's vector. A text that the server cannot embed does not cost the others: a refused batch is
// halved until the text is found. With an error that concerns the server, the vectors that were made are given all the same.
func (o *OpenAI) EmbedPassages(ctx context.Context, passages []Passage) ([][]float32, error) {
	if _, err := o.Learn(ctx); err != nil {
		return nil, err
	}
	if err := o.beforeSearch(ctx); err != nil {
		return nil, err
	}
	w := &passageWork{OpenAI: o, passages: passages, texts: make([]string, len(passages)), out: make([][]float32, len(passages))}
	w.healthy = sync.OnceValue(func() error { return o.control(ctx) })
	var all []int
	for i, p := range passages {
		w.texts[i] = passageText(p)
		if strings.TrimSpace(w.texts[i]) == "" {
			w.failed.Add(i, ErrNothingKnown)
			continue
		}
		if o.fatal.blames(w.texts[i]) {
			w.failed.Add(i, errFatal)
			continue
		}
		all = append(all, i)
	}
	batches := slices.Collect(slices.Chunk(all, int(o.batch.Load())))
	if len(batches) > 0 && !o.proven.Load() {
		// One call shows whether the server works now; more at a time would be so many more to turn away.
		if err := w.try(ctx, batches[0]); err != nil {
			return w.out, err
		}
		batches = batches[1:]
	}
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(maxBatches)
	if o.fatal.searching() {
		g.SetLimit(1)
	}
	for _, batch := range batches {
		g.Go(func() error { return w.try(groupCtx, batch) })
	}
	if err := g.Wait(); err != nil {
		return w.out, err
	}
	switch {
	case w.held == nil:
	case len(w.holds) > 1 || len(all) == 1:
		o.batch.Store(int64(max(1, len(w.holds)/2)))
		return w.out, w.held
	default: // one text, and all others came through
		w.failed.Add(w.holds[0], w.held)
	}
	o.fatal.over()
	return w.out, w.failed.OrNil()
}

// passageText is what stands for a passage.
func passageText(p Passage) string {
	if p.Breadcrumb == "" {
		return p.Text
	}
	return p.Breadcrumb + "\n" + p.Text
}

// passageWork is one call of EmbedPassages.
type passageWork struct {
	*OpenAI
	passages []Passage
	texts    []string
	out      [][]float32  // each position is written by one goroutine
	healthy  func() error // asks once whether the server embeds a harmless text

	mu     sync.Mutex // guards below
	failed PassageErrors
	held   error // why one batch failed, while the server works
	holds  []int // the positions of that one
	inARow int   // texts refused since one was embedded
}

// checkAgain is after how many refused texts in a row the harmless one is asked for again: more likely it is the server now.
const checkAgain = 8

// try is embed, but for one batch for which the server fails while it embeds a harmless text: that one is noted, and the
// others go on. It is not split: the server may be short of something, and is asked for less the next time.
func (w *passageWork) try(ctx context.Context, at []int) error {
	err := w.embed(ctx, at)
	var r *refusal
	var retry *RetryError
	failing := errors.Is(err, errTooSlow) || errors.As(err, &r) && r.status > http.StatusInternalServerError
	if !failing || errors.As(err, &retry) || w.healthy() != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held != nil {
		return err
	}
	w.held, w.holds = err, at
	return nil
}

// embed makes the vectors of the texts at these positions. An error concerns the server; one that concerns a text is noted.
func (w *passageWork) embed(ctx context.Context, at []int) error {
	texts := make([]string, len(at))
	for k, i := range at {
		texts[k] = w.texts[i]
	}
	vectors, err := w.ask(ctx, &w.document, texts)
	if err == nil {
		w.place(at, vectors)
		return nil
	}
	var some *PassageErrors
	isSome := errors.As(err, &some)
	if isSome && len(some.Errs) < len(at) {
		w.place(at, vectors)
		w.fail(at, some)
		return w.again(ctx, at, some)
	}
	if !isSome && !textFault(err, len(at)) {
		return err
	}
	// Nothing of the batch came through: is it the texts, or the server?
	if down := w.healthy(); down != nil {
		return down
	}
	switch {
	case isSome && len(at) == 1:
		w.fail(at, some)
		return nil
	case len(at) > 1:
		half := len(at) / 2
		if err := w.embed(ctx, at[:half]); err != nil {
			return err
		}
		return w.embed(ctx, at[half:])
	default:
		return w.embedRefused(ctx, at[0], err)
	}
}

// again asks for texts that failed beside others, each alone: some servers spoil what is filled up to its neighbours' length.
// What fails again stays noted as it is.
func (w *passageWork) again(ctx context.Context, at []int, some *PassageErrors) error {
	for _, k := range slices.Sorted(maps.Keys(some.Errs)) {
		i := at[k]
		vector, err := w.askOne(ctx, &w.document, w.texts[i])
		switch {
		case err == nil:
			w.out[i] = vector
			w.mu.Lock()
			delete(w.failed.Errs, i)
			w.mu.Unlock()
		case !textFault(err, 1):
			return err
		}
	}
	return nil
}

// embedRefused deals with a text that was refused alone: it may be too long.
func (w *passageWork) embedRefused(ctx context.Context, i int, refused error) error {
	vector, kept, err := w.beginning(ctx, &w.document, w.texts[i], refused)
	switch {
	case err == nil:
		w.place([]int{i}, [][]float32{vector})
		w.noteCut(w.passages[i].Breadcrumb, len([]rune(w.texts[i])), kept, refused)
		return nil
	case textFault(err, 1):
		w.mu.Lock()
		w.inARow++
		again := w.inARow%checkAgain == 0
		w.mu.Unlock()
		if again {
			if down := w.control(ctx); down != nil {
				return down
			}
		}
		w.fail([]int{i}, &PassageErrors{Errs: map[int]error{0: err}})
		return nil
	}
	return err
}

func (w *passageWork) place(at []int, vectors [][]float32) {
	w.mu.Lock()
	w.inARow = 0
	w.mu.Unlock()
	for k, i := range at {
		w.out[i] = vectors[k]
	}
}

func (w *passageWork) fail(at []int, some *PassageErrors) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, err := range some.Errs {
		w.failed.Add(at[k], err)
	}
}

// shortest is the length, in characters, below which no text is too long for a model.
const shortest = 64

// beginning embeds a text that was refused as too long, cut to half until it fits; kept is what is left, in characters.
func (o *OpenAI) beginning(ctx context.Context, as *manner, text string, refused error) (vector []float32, kept int, err error) {
	runes, err := []rune(text), refused
	for tooLong(err) && len(runes) >= 2*shortest {
		runes = runes[:len(runes)/2]
		if vector, err = o.askOne(ctx, as, string(runes)); err == nil {
			return vector, len(runes), nil
		}
	}
	return nil, 0, err
}

// noteCut warns of the first text that was cut; the rest are for who looks closer.
func (o *OpenAI) noteCut(breadcrumb string, had, kept int, refused error) {
	const message = "passage is too long for the embedding model, only its beginning is embedded"
	args := []any{"breadcrumb", breadcrumb, "characters", had, "embedded", kept, "err", refused}
	if o.cutOne.Swap(true) {
		o.log.Debug(message, args...)
		return
	}
	o.log.Warn(message, args...)
}

// textFault reports whether a call with so many texts may have failed because of one of them. A batch that took too long
// is rather too large, and the next one smaller.
func textFault(err error, texts int) bool {
	var odd *oddAnswer
	return textRefused(err) || errors.As(err, &odd) || errors.Is(err, errBadVector) || texts == 1 && errors.Is(err, errTooSlow)
}

// textRefused reports whether an error may be the fault of a text: too long, one of which the model makes NaN, for which
// servers answer 500, or one that a filter takes for an attack, which gives 403 or whatever it was set to.
func textRefused(err error) bool {
	var r *refusal
	var retry *RetryError
	if !errors.As(err, &r) || errors.As(err, &retry) {
		return false
	}
	switch r.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false // these are about the account, the address and the time
	case http.StatusOK, http.StatusInternalServerError: // 200 is an error within an answer that does not say of what kind
		return true
	}
	return r.status >= 400 && r.status < 500
}

func isInputStatus(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
}

// tooLong reports whether a text was refused for what may be its length. Some servers say so with a 500.
func tooLong(err error) bool {
	var r *refusal
	if !textRefused(err) || !errors.As(err, &r) {
		return false
	}
	if isInputStatus(r.status) {
		return true
	}
	said := strings.ToLower(r.message)
	for _, words := range []string{"context length", "too long", "too large", "tokens"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
