package milvus

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// refusal is the server's answer that it did not do what it was asked.
type refusal struct {
	code   int32 // of Milvus 2.3 and later
	old    commonpb.ErrorCode
	reason string
}

func (r *refusal) Error() string {
	if r.reason == "" {
		return fmt.Sprintf("Milvus error %d", r.code)
	}
	return r.reason
}

// Codes of Milvus; those of package merr, which keeps them to itself.
const (
	codeMemory             = 3
	codeDisk               = 7
	codeRateLimit          = 8
	codeForceDeny          = 9
	codeCollectionNotFound = 100
	codeNotLoaded          = 101
	codeNotFullyLoaded     = 103
	codeIndexNotFound      = 700
	codeDatabaseNotFound   = 800
	codeNotPermitted       = 1401
)

func (r *refusal) is(code int32, old ...commonpb.ErrorCode) bool {
	if r.code == code {
		return true
	}
	for _, o := range old {
		if r.old == o {
			return true
		}
	}
	return false
}

func refused(err error, code int32, old ...commonpb.ErrorCode) bool {
	var r *refusal
	return errors.As(err, &r) && r.is(code, old...)
}

func noCollection(err error) bool {
	return refused(err, codeCollectionNotFound, commonpb.ErrorCode_CollectionNotExists)
}

func noIndex(err error) bool {
	return refused(err, codeIndexNotFound, commonpb.ErrorCode_IndexNotExist)
}

func noDatabase(err error) bool { return refused(err, codeDatabaseNotFound) }

func rateLimited(err error) bool { return refused(err, codeRateLimit, commonpb.ErrorCode_RateLimit) }

// full reports whether the server takes no more rows, while it still answers searches.
func full(err error) bool {
	return refused(err, codeMemory, commonpb.ErrorCode_MemoryQuotaExhausted) ||
		refused(err, codeDisk, commonpb.ErrorCode_DiskQuotaExhausted) || refused(err, codeForceDeny, commonpb.ErrorCode_ForceDeny)
}

// explained is an error with what to do about it.
type explained struct {
	hint string
	err  error
}

func (e *explained) Error() string { return e.hint + ": " + e.err.Error() }
func (e *explained) Unwrap() error { return e.err }

// explain says what an error means and which setting it is about, where that can be told.
func (c *Config) explain(err error) error {
	var already *explained
	if err == nil || errors.As(err, &already) {
		return err
	}
	hint := c.hint(err)
	if hint == "" {
		return err
	}
	var r *refusal
	if !errors.As(err, &r) {
		if s, ok := status.FromError(rootOf(err)); ok {
			err = &transport{s.Code(), s.Message()}
		}
	}
	return &explained{hint, err}
}

// transport is a gRPC error without its "rpc error: code = … desc =".
type transport struct {
	code    codes.Code
	message string
}

func (t *transport) Error() string {
	return strings.Trim(strings.TrimPrefix(t.message, "connection error: desc = "), `"`)
}

func (t *transport) Is(target error) bool {
	return t.code == codes.DeadlineExceeded && target == context.DeadlineExceeded || t.code == codes.Canceled && target == context.Canceled
}

func rootOf(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

func (c *Config) hint(err error) string {
	text := err.Error()
	has := func(part string) bool { return strings.Contains(text, part) }
	code := status.Code(rootOf(err))
	var r *refusal
	switch {
	case errors.As(err, &r) && full(err):
		return fmt.Sprintf("Milvus at %s takes no more writes; searches go on. Free memory or disk there, or raise its quotas", c.Address)
	case rateLimited(err):
		return fmt.Sprintf("Milvus at %s limits the rate of writes; they are tried again", c.Address)
	case code == codes.Unauthenticated, has("auth check failure"), has("not authenticated"):
		return fmt.Sprintf("Milvus at %s does not accept %s", c.Address, c.login())
	case code == codes.PermissionDenied, refused(err, codeNotPermitted, commonpb.ErrorCode_PermissionDenied):
		return fmt.Sprintf("%s may not do this on Milvus at %s; its role lacks the privilege", c.login(), c.Address)
	case noDatabase(err):
		return fmt.Sprintf("Milvus at %s has no database %q (l1.milvus.database)", c.Address, c.Database)
	case refused(err, codeNotLoaded), refused(err, codeNotFullyLoaded):
		return fmt.Sprintf("Milvus at %s has not loaded the collection yet", c.Address)
	case has("first record does not look like a TLS handshake"):
		return fmt.Sprintf("Milvus at %s speaks plain text; set l1.milvus.tls to false, or use its TLS port", c.Address)
	case has("x509:"), has("tls: "):
		return fmt.Sprintf("the certificate of Milvus at %s is not trusted (l1.milvus.ca_file)", c.Address)
	case has("connection refused"):
		return fmt.Sprintf("nothing listens at %s; is Milvus running (l1.milvus.address)?", c.Address)
	case has("no such host"), has("server misbehaving"):
		return fmt.Sprintf("the host of %s is not known (l1.milvus.address)", c.Address)
	case errors.Is(err, context.DeadlineExceeded), code == codes.DeadlineExceeded, has("server preface within timeout"), has("context Done"):
		return fmt.Sprintf("Milvus at %s does not answer in time", c.Address)
	case code == codes.Unavailable:
		return fmt.Sprintf("Milvus at %s cannot be reached", c.Address)
	}
	return ""
}

func (c *Config) login() string {
	switch {
	case c.TokenFile != "":
		return "the token of l1.milvus.token_file"
	case c.Username != "":
		return fmt.Sprintf("user %q with the password of l1.milvus.password_file", c.Username)
	}
	return "a client without user (l1.milvus.username and password_file, or token_file)"
}

// ended reports whether it is the caller who gave up.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.Canceled) || status.Code(rootOf(err)) == codes.Canceled
}
