package milvus

import (
	"context"
	"crypto/tls"
	"time"

	grpcretry "github.com/grpc-ecosystem/go-grpc-middleware/retry"
	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	grpccredentials "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

const (
	callTimeout = 20 * time.Second // of a call that its caller does not bound; a batch of rows on a slow server takes seconds
	maxMessage  = 256 << 20        // bytes of an answer; a page of ids is well below
)

// dial makes a client without waiting for the server: the first call finds out what is wrong, and can say it.
func (c *Config) dial() (client.Client, error) {
	login, err := c.credentials()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := c.tls()
	if err != nil {
		return nil, err
	}
	security := insecure.NewCredentials()
	if tlsConfig != nil {
		security = grpccredentials.NewTLS(tlsConfig)
	}
	return client.NewClient(context.Background(), client.Config{
		Address:  c.Address,
		Username: login.user,
		Password: login.password,
		APIKey:   login.token,
		DBName:   c.Database,
		// The SDK's own greeting leaks the connection where it fails.
		DisableConn:    true,
		RetryRateLimit: &client.RetryRateLimitOption{},
		DialOptions: []grpc.DialOption{
			grpc.WithTransportCredentials(security), // after the SDK's, which knows no private CA
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second, PermitWithoutStream: true}),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
				MinConnectTimeout: dialTimeout,
			}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
			grpc.WithChainUnaryInterceptor(intercept),
		},
	})
}

// intercept bounds a call, keeps the SDK from repeating it behind our back, and makes an error of a refusal with its code,
// of which the SDK passes on only the text.
func intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := invoke(ctx, method, req, reply, cc, append(opts, grpcretry.Disable())...); err != nil {
		return err
	}
	var st *commonpb.Status
	switch r := reply.(type) {
	case *commonpb.Status:
		st = r
	case interface{ GetStatus() *commonpb.Status }:
		st = r.GetStatus()
	}
	if st.GetErrorCode() == commonpb.ErrorCode_Success && st.GetCode() == 0 { //nolint:staticcheck // SA1019: servers before 2.4 set nothing else
		return nil
	}
	return &refusal{code: st.GetCode(), old: st.GetErrorCode(), reason: st.GetReason()} //nolint:staticcheck // SA1019: as above
}

// wantsTLS reports whether a call failed because the server wants TLS, of which gRPC tells only that the connection was
// closed, in one of several ways.
func (c *Config) wantsTLS(ctx context.Context, err error) bool {
	if err == nil || c.TLS || status.Code(rootOf(err)) != codes.Unavailable {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	// Nothing is sent over it, so it need not be trusted.
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
