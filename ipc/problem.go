package ipc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"knowledged/lookup"
)

// Problem is every error answer: RFC 9457, `application/problem+json`. The client returns it as an error.
type Problem struct {
	Status    int          `json:"status"`
	Title     string       `json:"title"`
	Detail    string       `json:"detail"`
	RequestID string       `json:"requestId"`
	Errors    []FieldError `json:"errors,omitempty"` // bad input, field by field
	Record    *Record      `json:"record,omitempty"` // 409: the document that has these bytes

	cause error  // logged, not told
	etag  string // 412: the hash as it is now
}

// FieldError is one wrong field or parameter of a request.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (p *Problem) Error() string {
	s := p.Detail
	if s == "" {
		s = p.Title
	}
	for _, e := range p.More() {
		s += fmt.Sprintf(" [%s: %s]", e.Field, e.Message)
	}
	return s
}

// More are the Errors that say more than Detail does: one fault is often the whole of it.
func (p *Problem) More() (list []FieldError) {
	for _, e := range p.Errors {
		if !strings.Contains(p.Detail, e.Message) {
			list = append(list, e)
		}
	}
	return list
}

// Logged says whether the log has a line on it under RequestID.
func (p *Problem) Logged() bool { return p.cause != nil }

func (p *Problem) Unwrap() error { return p.cause }

// problem makes a Problem whose title is the status's own text.
func problem(status int, detail string) *Problem {
	return &Problem{Status: status, Title: http.StatusText(status), Detail: detail}
}

func badRequest(detail string) *Problem { return problem(http.StatusBadRequest, detail) }

func badFields(faults ...FieldError) *Problem {
	p := badRequest("The request has a field that cannot be accepted.")
	if len(faults) == 1 {
		p.Detail = faults[0].Field + " " + faults[0].Message
	}
	p.Errors = faults
	return p
}

// ForceHint ends the detail of a 409. The command line says it in its own words.
const ForceHint = " Use force to write it all the same."

// problemOf maps what a handler or the backend returned. The order is from the particular to the general.
func problemOf(err error) *Problem {
	var (
		p       *Problem
		input   *lookup.InputError
		invalid *InvalidError
		exists  *ExistsError
		stale   *StaleError
		long    *http.MaxBytesError
		large   *TooLargeError
		missing *MissingError
	)
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &input):
		return badFields(FieldError{input.Field, input.Message})
	case errors.As(err, &invalid):
		return badFields(FieldError{invalid.Field, invalid.Message})
	case errors.As(err, &exists):
		p = problem(http.StatusConflict, sentence(exists.Error())+ForceHint)
		p.Record = &exists.Record
		return p
	case errors.As(err, &stale):
		p = problem(http.StatusPreconditionFailed, sentence(stale.Error()))
		p.etag = stale.Hash
		return p
	case errors.As(err, &long):
		return problemOf(&TooLargeError{Limit: long.Limit})
	case errors.As(err, &large):
		detail := fmt.Sprintf("The body is larger than what is accepted here: the limit is %d bytes.", large.Limit)
		if large.Size > large.Limit {
			detail = fmt.Sprintf("The body is larger than what is accepted here: it has %d bytes, the limit is %d.", large.Size, large.Limit)
		}
		return problem(http.StatusRequestEntityTooLarge, detail)
	case errors.Is(err, ErrTooLarge):
		return problem(http.StatusRequestEntityTooLarge, "The body is larger than what is accepted here.")
	case errors.Is(err, ErrNotFound):
		return problem(http.StatusNotFound, "There is no such document.")
	case errors.As(err, &missing):
		return caused(err, problem(http.StatusServiceUnavailable, sentence(missing.Error())))
	case errors.Is(err, ErrReadOnly):
		return caused(err, problem(http.StatusServiceUnavailable, "The documents folder cannot be written: look at its rights and its disk; the log says what the system said."))
	case errors.Is(err, ErrStateFull):
		return caused(err, problem(http.StatusInsufficientStorage, "There is no space left in the state folder, where the indexes are."))
	case errors.Is(err, ErrNoSpace):
		return caused(err, problem(http.StatusInsufficientStorage, "There is no space left for this document."))
	case errors.Is(err, ErrUnavailable):
		return problem(http.StatusServiceUnavailable, "It is not available right now; try again.")
	case errors.Is(err, context.DeadlineExceeded):
		return problem(http.StatusGatewayTimeout, "It took too long.")
	}
	return caused(err, problem(http.StatusInternalServerError, "Something went wrong inside; the log says what, under this requestId."))
}

func caused(err error, p *Problem) *Problem {
	p.cause = err
	return p
}

// sentence begins with a capital and ends with a full stop, as answers to people do; errors in Go do neither.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	return s + "."
}
