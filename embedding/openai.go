package embedding

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"knowledged/breaker"
)

const (
	// maxQueries bounds the lookups that wait for the server at a time, and so the connections they hold. They do not wait
	// behind passages: a lookup has a fraction of a second, a batch may take many.
	maxQueries = 8
	// maxBatches is how many batches of passages are under way at a time.
	maxBatches = 4
)

// OpenAIConfig says how an OpenAI-compatible server is asked.
type OpenAIConfig struct {
	BaseURL        string // calls go to BaseURL/embeddings
	Model          string
	APIKeyFile     string        // empty for no key; read for each call, so that a new key needs no restart
	Dimensions     int           // 0: as many as the model has, learned from the first answer
	DimensionsFile string        // where what was learned is kept; empty for nowhere
	Batch          int           // texts a call
	Timeout        time.Duration // of a call

	// What models want in front of queries and documents, and further fields of the request, such as input_type.
	QueryPrefix, DocumentPrefix string
	QueryBody, DocumentBody     map[string]any
}

// name is the model's id: its name, and a hash over all that makes another vector of the same passage. The address is not
// part of it, so that a server can move without everything being embedded anew; nor is what concerns queries alone, since
// their vectors are not kept.
func (c *OpenAIConfig) name() (string, error) {
	const layout = 1 // of the text that stands for a passage
	body := c.DocumentBody
	if len(body) == 0 {
		body = nil
	}
	identity, err := json.Marshal([]any{layout, c.Dimensions, c.DocumentPrefix, body}) // sorts the keys of maps
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(identity)
	return "openai-" + c.Model + "-" + hex.EncodeToString(sum[:4]), nil
}

// OpenAI asks a server that speaks OpenAI's POST /v1/embeddings, as Ollama, TEI and vLLM do too. It is safe for concurrent
// use. It waits for nobody: trying again, and when, is the caller's, but for a connection that had been closed while idle.
// While the server has asked to be left alone (Retry-After), every call is refused with a *RetryError.
type OpenAI struct {
	config  OpenAIConfig
	name    string
	server  *server
	dims    *dimensions
	log     *slog.Logger
	queries chan struct{}    // a slot for each query under way
	breaker *breaker.Breaker // of queries
	given   atomic.Int64     // the time, in nanoseconds, that the last query was given; 0 for no limit

	query, document manner

	fatal  fatal        // texts that kill the server
	batch  atomic.Int64 // texts a call now: fewer than config.Batch for a server that was too slow for them
	proven atomic.Bool  // the last call was answered
	cutOne atomic.Bool  // a text was too long; said once
}

// manner is how one kind of text is sent.
type manner struct {
	prefix string
	fields map[string]any // of the request, all but the texts
}

// NewOpenAI makes a provider; it calls nobody yet. Close it when done.
func NewOpenAI(c OpenAIConfig, log *slog.Logger) (*OpenAI, error) {
	name, err := c.name()
	if err != nil {
		return nil, fmt.Errorf("embedding.openai.document_body: %w", err)
	}
	server, err := newServer(c.BaseURL, c.APIKeyFile, c.Timeout)
	if err != nil {
		return nil, err
	}
	c.Batch = max(c.Batch, 1)
	o := &OpenAI{
		config: c, name: name, server: server, log: log,
		dims:    openDimensions(c.DimensionsFile, name, c.Dimensions, log),
		queries: make(chan struct{}, maxQueries), breaker: breaker.New(),
	}
	o.batch.Store(int64(c.Batch))
	if o.query, err = c.manner("query_body", c.QueryPrefix, c.QueryBody); err != nil {
		return nil, err
	}
	if o.document, err = c.manner("document_body", c.DocumentPrefix, c.DocumentBody); err != nil {
		return nil, err
	}
	return o, nil
}

func (c *OpenAIConfig) manner(setting, prefix string, body map[string]any) (manner, error) {
	fields := maps.Clone(body)
	if fields == nil {
		fields = make(map[string]any)
	}
	for _, own := range []string{"model", "input", "dimensions"} {
		if _, ok := fields[own]; ok {
			return manner{}, fmt.Errorf("embedding.openai.%s: %q is not for this setting, knowledged sends it itself", setting, own)
		}
	}
	if f, ok := fields["encoding_format"]; ok && f != "float" {
		return manner{}, fmt.Errorf("embedding.openai.%s: encoding_format %v is not understood, only float is", setting, f)
	}
	fields["model"] = c.Model
	if c.Dimensions > 0 {
		fields["dimensions"] = c.Dimensions
	}
	if _, err := json.Marshal(fields); err != nil {
		return manner{}, fmt.Errorf("embedding.openai.%s: %w", setting, err)
	}
	return manner{prefix: prefix, fields: fields}, nil
}

// Name is the model's id.
func (o *OpenAI) Name() string { return o.name }

// Dimensions is the length of its vectors, 0 as long as no answer has shown it; see Learn.
func (o *OpenAI) Dimensions() int { return o.dims.get() }

// Learn gives the length of the vectors and, if that is not known, asks the server.
func (o *OpenAI) Learn(ctx context.Context) (int, error) {
	if dims := o.dims.get(); dims > 0 {
		return dims, nil
	}
	if err := o.control(ctx); err != nil {
		return 0, fmt.Errorf("learn the dimensions of %s: %w", o.config.Model, err)
	}
	return o.dims.get(), nil
}

// Close waits for what is under way of its own accord, and gives idle connections back.
func (o *OpenAI) Close() error {
	o.breaker.Close()
	o.server.http.CloseIdleConnections()
	return nil
}

// controlText is harmless to every model.
const controlText = "hello"

// control asks for the vector of a harmless text: whether the server works, and the length of its vectors.
func (o *OpenAI) control(ctx context.Context) error {
	_, err := o.askOne(ctx, &o.document, controlText)
	o.dims.heed(err)
	return err
}

// askOne is ask for one text.
func (o *OpenAI) askOne(ctx context.Context, as *manner, text string) ([]float32, error) {
	vectors, err := o.ask(ctx, as, []string{text})
	if err != nil {
		var failed *PassageErrors
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w in the answer of %s: %w", errBadVector, o.server.url.Redacted(), failed.Errs[0])
		}
		return nil, err
	}
	return vectors[0], nil
}

// ask makes one call. With a *PassageErrors the answer was well-formed, and the vectors that are not nil are valid.
func (o *OpenAI) ask(ctx context.Context, as *manner, texts []string) ([][]float32, error) {
	request := maps.Clone(as.fields)
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = as.prefix + text
	}
	request["input"] = input
	body, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	start, lived := time.Now(), o.proven.Load()
	reply, err := o.server.post(ctx, body, maxReply(len(texts)))
	var vectors [][]float32
	if err == nil {
		if vectors, err = decodeReply(reply, len(texts)); err != nil {
			if within := (*refusal)(nil); !errors.As(err, &within) {
				err = &oddAnswer{error: err}
			}
			err = fmt.Errorf("answer of %s: %w", o.server.url.Redacted(), err)
		}
	}
	if ctx.Err() == nil { // a caller who left says nothing about the server
		o.proven.Store(err == nil)
	}
	died := lived && hungUp(err)
	if died {
		o.fatal.died(texts)
	}
	o.pace(len(texts), time.Since(start), err, died)
	if err != nil {
		return nil, err
	}
	return vectors, o.check(vectors)
}

var (
	errNoVector  = errors.New("no vector")
	errBadVector = errors.New("useless vector") // of askOne
)

// check normalises what is valid and sets the rest to nil.
func (o *OpenAI) check(vectors [][]float32) error {
	dims := o.dims.learn(vectors)
	var failed PassageErrors
	for i, v := range vectors {
		err := errNoVector
		if len(v) > 0 {
			err = Check(v, len(v))
		}
		if err == nil {
			Normalize(v)
			err = Check(v, len(v)) // numbers near zero have no length that could be made 1
		}
		if err == nil {
			err = o.dims.check(len(v), dims)
		}
		if err != nil {
			vectors[i] = nil
			failed.Add(i, err)
		}
	}
	return failed.OrNil()
}

// beyondLimit reports whether one batch is more than may be asked for in the time of a rate limit, so that waiting is of no use.
func beyondLimit(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == http.StatusTooManyRequests && strings.Contains(strings.ToLower(r.message), "too large")
}

// pace adapts the number of texts a call to the server: fewer after a time-out or a death, more when it is fast.
func (o *OpenAI) pace(texts int, took time.Duration, err error, died bool) {
	size := o.batch.Load()
	switch {
	case texts > 1 && (died || errors.Is(err, errTooSlow) || beyondLimit(err)):
		o.batch.CompareAndSwap(size, min(size, max(1, int64(texts/2))))
	case err == nil && took < o.config.Timeout/4 && int64(texts) >= size && !o.fatal.searching():
		o.batch.CompareAndSwap(size, min(2*size, int64(o.config.Batch)))
	}
}
