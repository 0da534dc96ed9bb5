package milvus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestExplain(t *testing.T) {
	c := Config{Address: "db:19530", Username: "ann", Database: "team"}
	grpcError := status.Error
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"memory quota", &refusal{code: 3}, "takes no more writes"},
		{"memory quota of old", &refusal{old: commonpb.ErrorCode_MemoryQuotaExhausted, reason: "quota exceeded"}, "takes no more writes"},
		{"disk quota", &refusal{code: 7, reason: "disk quota exhausted"}, "takes no more writes"},
		{"disk quota of old", &refusal{old: commonpb.ErrorCode_DiskQuotaExhausted}, "takes no more writes"},
		{"writing denied", fmt.Errorf("put 5 rows: %w", &refusal{code: 9, reason: "force deny"}), "takes no more writes"},
		{"rate", &refusal{code: 8, reason: "rate limit exceeded"}, "limits the rate"},
		{"privilege", grpcError(codes.PermissionDenied, "PrivilegeDropCollection"), `user "ann"`},
		{"privilege by code", &refusal{code: 1401}, "may not do this"},
		{"not loaded", &refusal{code: 101}, "has not loaded the collection yet"},
		{"loading", &refusal{code: 103}, "has not loaded the collection yet"},
		{"database", &refusal{code: 800}, `no database "team" (l1.milvus.database)`},
		{"login", grpcError(codes.Unauthenticated, "auth check failure"), `does not accept user "ann"`},
		{"deadline", context.DeadlineExceeded, "does not answer in time"},
		{"deadline of gRPC", grpcError(codes.DeadlineExceeded, "context deadline exceeded"), "does not answer in time"},
		{"closing", grpcError(codes.Unavailable, "closing transport"), "cannot be reached: closing transport"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := c.explain(tc.err)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "db:19530") {
				t.Errorf("%v", err)
			}
			if strings.Contains(err.Error(), "rpc error") {
				t.Errorf("in gRPC's words: %v", err)
			}
			if again := c.explain(fmt.Errorf("list rows: %w", err)); strings.Count(again.Error(), "db:19530") != 1 {
				t.Errorf("explained twice: %v", again)
			}
		})
	}
	if err := c.explain(c.explain(grpcError(codes.DeadlineExceeded, "x"))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not a deadline any more", err)
	}
	if err := c.explain(&refusal{code: 5}); err.Error() != "Milvus error 5" {
		t.Errorf("unknown code: %v", err)
	}
	if c.explain(nil) != nil {
		t.Error("explains what is no error")
	}
	c.Username, c.TokenFile = "", "/secret"
	if err := c.explain(grpcError(codes.Unauthenticated, "x")); !strings.Contains(err.Error(), "the token of l1.milvus.token_file") {
		t.Error(err)
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		in    string
		bytes int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"界界", 5, "界"}, {"界界", 6, "界界"}, {"界", 2, ""}, {"a\xff", 9, "a\uFFFD"}, {"", 0, ""},
	} {
		if got := cut(tc.in, tc.bytes); got != tc.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tc.in, tc.bytes, got, tc.want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", `a"b`, `a\`, "a\nb\r\t\x00\x7f", "支付　\u200b", "\xff", `" or id != "`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := quote(s)
		inner := q[1 : len(q)-1]
		if q[0] != '"' || q[len(q)-1] != '"' || !utf8.ValidString(q) {
			t.Fatalf("%q", q)
		}
		for i := 0; i < len(inner); i++ {
			switch {
			case inner[i] == '\\':
				i++ // the next byte belongs to it
				if i == len(inner) {
					t.Fatalf("%q escapes its own end", q)
				}
			case inner[i] == '"' || inner[i] < ' ':
				t.Fatalf("%q ends early or spans lines", q)
			}
		}
	})
}

func TestNames(t *testing.T) {
	a, b := realName("kb", "m", 256), realName("kb", "m", 384)
	if a == b || a == realName("kb", "n", 256) || !strings.HasPrefix(a, "kb_") || a != realName("kb", "m", 256) {
		t.Errorf("%s %s", a, b)
	}
}

func TestWriterName(t *testing.T) {
	c := Config{WriterFile: filepath.Join(t.TempDir(), "l1", "writer")}
	name, err := c.writer()
	if err != nil || !writerName.MatchString(name) {
		t.Fatal(name, err)
	}
	if again, err := c.writer(); again != name || err != nil {
		t.Errorf("again: %s, %v", again, err)
	}
	if err := os.WriteFile(c.WriterFile, []byte("or 1 == 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(c, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), c.WriterFile) {
		t.Errorf("a file of something else: %v", err)
	}
	c.WriterFile = filepath.Dir(c.WriterFile)
	if _, err := c.writer(); err == nil {
		t.Error("a folder is taken")
	}
	if _, err := Open(Config{Consistency: "weak"}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("an unknown level is taken")
	}
}

func TestCredentials(t *testing.T) {
	file := write(t, "f", " pass word \n")
	cr, err := (&Config{Username: "ann", PasswordFile: file}).credentials()
	if err != nil || cr.password != " pass word " || cr.user != "ann" {
		t.Errorf("%v", err)
	}
	if _, err := (&Config{TokenFile: file + ".gone"}).credentials(); err == nil || !strings.Contains(err.Error(), "l1.milvus.token_file") {
		t.Errorf("%v", err)
	}
}

func TestPatiently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := &refusal{code: codeRateLimit}
		calls, start := 0, time.Now()
		err := patiently(t.Context(), func() error {
			if calls++; calls < 5 {
				return limited
			}
			return nil
		})
		if took := time.Since(start); err != nil || calls != 5 || took != 1500*time.Millisecond {
			t.Errorf("%d calls in %s, %v", calls, took, err)
		}
		calls, start = 0, time.Now()
		err = patiently(t.Context(), func() error { calls++; return limited })
		if took := time.Since(start); err == nil || calls > 40 || took < ratePatience {
			t.Errorf("%d calls in %s, %v", calls, took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := patiently(ctx, func() error { return limited }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after its end: %v", err)
		}
		other := errors.New("other")
		if err := patiently(t.Context(), func() error { return other }); !errors.Is(err, other) {
			t.Error(err)
		}
	})
}
