package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"knowledged/ipc"
)

const (
	markdown = "text/markdown"
	// listPage is how many documents one resources/list answers with.
	listPage = 500
	// mostCompletions is the protocol's limit.
	mostCompletions = 100
	templateURI     = scheme + "{+path}"
)

func documentTemplate() *sdk.ResourceTemplate {
	return &sdk.ResourceTemplate{
		Name: "document", Title: "Document", URITemplate: templateURI, MIMEType: markdown,
		Description: "A document by its path below the knowledge folder, such as kb://api/payment-errors.md: the whole file, front matter included.",
	}
}

// resources answers resources/list from the daemon's own records. The SDK would hold a copy of each, and have it replaced
// at every save.
func (s *Server) resources(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch r := req.(type) {
		case *sdk.ListResourcesRequest:
			cursor := ""
			if r.Params != nil {
				cursor, r.Params.Cursor = r.Params.Cursor, "" // it is ours, not the SDK's
			}
			result, err := next(ctx, method, req)
			list, ok := result.(*sdk.ListResourcesResult)
			if err != nil || !ok {
				return result, err
			}
			return list, s.listDocuments(ctx, cursor, list)
		case *sdk.ReadResourceRequest:
			asked := r.Params.URI
			path, ok := pathOf(asked)
			if !ok {
				return nil, notFound(asked, r.ProtocolVersion())
			}
			r.Params.URI = uriOf(path) // the template matches escaped ones only
			result, err := next(ctx, method, req)
			if read, ok := result.(*sdk.ReadResourceResult); ok && err == nil {
				for _, c := range read.Contents {
					c.URI = asked // a client looks for what it asked for
				}
			}
			return result, err
		}
		return next(ctx, method, req)
	}
}

func (s *Server) listDocuments(ctx context.Context, cursor string, into *sdk.ListResourcesResult) error {
	page, err := s.backend.Documents(ctx, ipc.DocumentsQuery{Limit: listPage, Cursor: cursor})
	if err != nil {
		return protocolError(err)
	}
	into.NextCursor = page.NextCursor
	for _, rec := range page.Documents {
		if rec.Status != ipc.StatusFailed { // no text to read
			into.Resources = append(into.Resources, s.resource(rec))
		}
	}
	return nil
}

func (s *Server) resource(rec ipc.Record) *sdk.Resource {
	path := s.pathOf(rec)
	return &sdk.Resource{
		URI: uriOf(path), Name: path, Title: rec.Title, Description: rec.Summary, MIMEType: markdown, Size: rec.FileSize,
		Annotations: &sdk.Annotations{LastModified: rec.UpdatedAt.UTC().Format(time.RFC3339)},
	}
}

func (s *Server) pathOf(rec ipc.Record) string { return strings.TrimPrefix(rec.Source, s.baseName+"/") }

// readDocument answers with the whole file as it is now.
func (s *Server) readDocument(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	path, _ := pathOf(req.Params.URI)
	rec, err := s.find(ctx, path)
	if err != nil {
		return nil, resourceError(req, err)
	}
	content, err := s.backend.Content(ctx, rec.DocID, ipc.ContentQuery{MaxChars: math.MaxInt32})
	if err != nil {
		return nil, resourceError(req, err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: markdown, Text: content.Content}}}, nil
}

// find looks for a document by path. Some clients write the first folder, a URL's host, in lower case.
func (s *Server) find(ctx context.Context, path string) (ipc.Record, error) {
	rec, err := s.backend.BySource(ctx, s.baseName+"/"+path)
	if !errors.Is(err, ipc.ErrNotFound) {
		return rec, err
	}
	folder, rest, nested := strings.Cut(path, "/")
	if !nested {
		return rec, err
	}
	page, listErr := s.backend.Documents(ctx, ipc.DocumentsQuery{Q: path, Limit: mostCompletions})
	if listErr != nil {
		return rec, err
	}
	for _, other := range page.Documents {
		f, r, _ := strings.Cut(s.pathOf(other), "/")
		if r == rest && strings.EqualFold(f, folder) {
			return other, nil
		}
	}
	return rec, err
}

// canonical spells a subscription's address as notifications will.
func (s *Server) canonical(ctx context.Context, uri *string) error {
	path, ok := pathOf(*uri)
	if !ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "only addresses that begin with " + scheme + " can be subscribed to"}
	}
	if rec, err := s.find(ctx, path); err == nil { // one that does not exist yet may be waited for
		path = s.pathOf(rec)
	}
	*uri = uriOf(path)
	return nil
}

// complete offers paths for the template's variable: those that begin with what is typed, then those that hold it.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	if req.Params.Ref.Type != "ref/resource" || req.Params.Ref.URI != templateURI || req.Params.Argument.Name != "path" {
		return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil // nothing to offer
	}
	typed := req.Params.Argument.Value
	page, err := s.backend.Documents(ctx, ipc.DocumentsQuery{Q: typed, Limit: ipc.MaxPage})
	if err != nil {
		return nil, protocolError(err)
	}
	begin, hold := []string{}, []string{}
	for _, rec := range page.Documents {
		if path := s.pathOf(rec); strings.HasPrefix(strings.ToLower(path), strings.ToLower(typed)) {
			begin = append(begin, path)
		} else {
			hold = append(hold, path)
		}
	}
	all := slices.Concat(begin, hold)
	result := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: all, Total: len(all), HasMore: page.NextCursor != ""}}
	if len(all) > mostCompletions {
		result.Completion.Values, result.Completion.HasMore = all[:mostCompletions], true
	}
	return result, nil
}

func resourceError(req *sdk.ReadResourceRequest, err error) error {
	if errors.Is(err, ipc.ErrNotFound) {
		return notFound(req.Params.URI, req.ProtocolVersion())
	}
	return protocolError(err)
}

// codeNotFound was the code for it before the revision without sessions.
const codeNotFound = -32002

// notFound is the SDK's error with data that is JSON whatever the address holds, and the code of the client's revision.
func notFound(uri, version string) error {
	code := codeNotFound
	if version >= sessionless {
		code = jsonrpc.CodeInvalidParams
	}
	data, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: int64(code), Message: "Resource not found", Data: data}
}
