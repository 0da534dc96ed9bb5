package embedding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// maxReply bounds an answer: vectors of 16,384 dimensions, each number with all its digits, and something around them.
func maxReply(texts int) int64 { return min(1<<20+int64(texts)*16384*24, 256<<20) }

// oddAnswer is an answer with status 200 that is of no use as a whole, or a connection cut before any. One text of the batch
// may be why: a worker dies of it, or fails after its first words; a server that has no vector of it may leave it out.
type oddAnswer struct {
	error
	none bool // no answer at all
}

func (a *oddAnswer) Unwrap() error { return a.error }

type reply struct {
	Data []struct {
		Index     *int
		Embedding looseVector
	}
}

// decodeReply gives the vectors in the order of the texts. A number that is none becomes NaN, and a missing vector is
// empty: that concerns one text, where a wrong count or order concerns all.
func decodeReply(body []byte, texts int) ([][]float32, error) {
	maskNonNumbers(body)
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("no JSON of embeddings, but %q: %w", excerpt(string(body)), err)
	}
	if len(r.Data) == 0 {
		if within := errorWithin(body); within != nil {
			return nil, within
		}
	}
	if len(r.Data) != texts {
		return nil, fmt.Errorf("%d embeddings for %d texts", len(r.Data), texts)
	}
	vectors := make([][]float32, texts)
	taken := make([]bool, texts)
	indexed, first := 0, texts
	for _, d := range r.Data {
		if d.Index != nil {
			indexed++
			first = min(first, *d.Index)
		}
	}
	first = min(max(first, 0), 1) // as many as there are texts, and no 0: some count from 1
	for i, d := range r.Data {
		at := i // servers that give no index at all answer in order
		if d.Index != nil {
			at = *d.Index - first
		}
		if at < 0 || at >= texts || taken[at] {
			return nil, fmt.Errorf("index %d is out of range or there twice, among %d embeddings", at+first, texts)
		}
		taken[at] = true
		vectors[at] = d.Embedding
	}
	if indexed != 0 && indexed != texts {
		return nil, fmt.Errorf("only %d of %d embeddings have an index", indexed, texts)
	}
	return vectors, nil
}

// errorWithin is the refusal that an answer with status 200 holds, as routers send it on; nil if it holds none. The status
// is the one it names, if it names one.
func errorWithin(body []byte) *refusal {
	var outer struct{ Error, Message, Detail, Code json.RawMessage }
	_ = json.Unmarshal(body, &outer) // what is no object has none of these fields
	said := func(m json.RawMessage) bool { return len(m) > 0 && string(m) != "null" }
	if !said(outer.Error) && !said(outer.Message) && !said(outer.Detail) {
		return nil
	}
	var inner struct{ Code json.RawMessage }
	if json.Unmarshal(outer.Error, &inner) == nil && said(inner.Code) {
		outer.Code = inner.Code
	}
	status, err := strconv.Atoi(strings.Trim(string(outer.Code), `"`))
	if err != nil || status < 400 || status > 599 {
		status = http.StatusOK
	}
	return &refusal{status: status, message: message(body)}
}

// looseVector is a list of numbers in which anything else is read as NaN, or float32 numbers in base64, as OpenAI's
// encoding_format has them. It is empty where there is neither.
type looseVector []float32

func (v *looseVector) UnmarshalJSON(b []byte) error {
	*v = nil
	b = bytes.TrimSpace(b)
	if len(b) >= 2 && b[0] == '"' {
		var data []byte // which JSON has in base64
		if json.Unmarshal(b, &data) == nil && len(data)%4 == 0 {
			*v = floats(data)
		}
		return nil
	}
	if len(b) < 2 || b[0] != '[' {
		return nil
	}
	b = bytes.TrimSpace(b[1 : len(b)-1])
	if len(b) == 0 {
		return nil
	}
	out := make([]float32, 0, bytes.Count(b, []byte(","))+1)
	for number := range bytes.SplitSeq(b, []byte(",")) {
		f, err := strconv.ParseFloat(string(bytes.TrimSpace(number)), 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			f = math.NaN()
		}
		out = append(out, float32(f))
	}
	*v = out
	return nil
}

// maskNonNumbers overwrites NaN and Infinity, which Python writes and JSON does not know, by strings, so that one bad
// number does not cost the whole batch.
func maskNonNumbers(b []byte) {
	if !bytes.Contains(b, []byte("NaN")) && !bytes.Contains(b, []byte("Infinity")) {
		return
	}
	quoted := false
	for i := 0; i < len(b); i++ {
		switch {
		case quoted && b[i] == '\\':
			i++
		case b[i] == '"':
			quoted = !quoted
		case !quoted:
			for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
				if bytes.HasPrefix(b[i:], []byte(word)) {
					copy(b[i:], `""         `[:len(word)])
					i += len(word) - 1
					break
				}
			}
		}
	}
}
