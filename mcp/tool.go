package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"knowledged/ipc"
	"knowledged/lookup"
)

// ToolName is the tool's name, and what the lookup history shows as the asking tool.
const ToolName = "lookup_knowledge"

const toolDescription = `Look up this team's own knowledge base: Markdown documents on its APIs, error codes, domain terms, runbooks and decisions.

Use it first, before general knowledge or a web search, whenever the user names or describes something of their own systems: an error code, a service, an internal term, "how do we ...", an incident. Ask with the bare identifier if there is one (ERR_TIMEOUT), else with one short question in the user's words. Chinese and English questions find documents in either language. One topic a call.

How to read the answer:
- found false: the documents do not cover it. Say so; do not guess.
- primary: the document that goes by the name that was asked. confidence high: it is the only one, rely on it. confidence low: several match, this is the best of them; check that it fits, and look at results for the others.
- supplement: the passage that fits by meaning. relevance strong: it answers the question. relevance weak: it may be beside the point; say that you are not sure.
- availableSections: call again with section_title to get one of them in full. The whole document is the resource kb://..., named in the text.
- degraded not empty: part of the index was not available; a better answer may come in a moment.
Cite source.`

// question is the tool's input.
type question struct {
	Query        string
	SectionTitle string
}

func lookupTool() *sdk.Tool {
	no := false
	return &sdk.Tool{
		Name: ToolName, Title: "Look up knowledge", Description: toolDescription,
		InputSchema: inputSchema(), OutputSchema: outputSchema(),
		Annotations: &sdk.ToolAnnotations{Title: "Look up knowledge", ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

func inputSchema() *jsonschema.Schema {
	one, most := 1, lookup.MaxQuery
	return &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"query":         {Type: "string", MinLength: &one, MaxLength: &most, Description: "An identifier or keyword as it is written (ERR_TIMEOUT, 支付网关), or one question in plain words."},
			"section_title": {Type: "string", Description: "Title of a section of the document that the query names, taken from availableSections: its own text is then the content."},
		},
		Required:             []string{"query"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		PropertyOrder:        []string{"query", "section_title"},
	}
}

// outputSchema is derived from lookup.Answer, so that it cannot fall behind.
func outputSchema() *jsonschema.Schema {
	s, err := jsonschema.For[lookup.Answer](nil)
	if err != nil {
		panic(err) // a type of ours that has no schema: no start, and no test, gets past it
	}
	delete(s.Properties, "explain") // never asked for here
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool { return name == "explain" })
	primary, supplement := s.Properties["primary"].Properties, s.Properties["supplement"].Properties
	enum(s.Properties["degraded"].Items, "A part of the index that was not available.", lookup.DegradedL0, lookup.DegradedL1, lookup.DegradedIndexing)
	enum(primary["confidence"], "high: the only document of that name. low: the best of several, check that it fits.", lookup.High, lookup.Low)
	enum(primary["matchType"], "", lookup.MatchExact)
	enum(supplement["relevance"], "strong: it answers the question. weak: it may be beside the point.", lookup.Strong, lookup.Weak)
	enum(supplement["matchType"], "By meaning, or by full text where meaning is not to be had.", lookup.MatchSemantic, lookup.MatchFulltext)
	s.Properties["found"].Description = "false: the documents do not cover the question."
	s.Properties["results"].Description = "The documents that fit best, best first."
	single(s)
	return s
}

func enum(s *jsonschema.Schema, description string, values ...string) {
	s.Description = description
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
}

// single gives every schema one type: clients that know no more take no tool whose schema has two. No list of an Answer is
// ever null; what may be null otherwise becomes a choice.
func single(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	single(s.Items)
	for _, p := range s.Properties {
		single(p)
	}
	if len(s.Types) != 2 || s.Types[0] != "null" {
		return
	}
	s.Type, s.Types = s.Types[1], nil
	if s.Type != "array" {
		value := *s
		*s = jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "null"}, &value}}
	}
}

// lookup is the tool. What is wrong with the arguments is a protocol error with the fields in its data, as over HTTP.
func (s *Server) lookup(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	q, err := readQuestion(req.Params.Arguments)
	if err != nil {
		return nil, protocolError(err)
	}
	answer, err := s.backend.Lookup(ctx, lookup.Request{
		Query: q.Query, SectionTitle: q.SectionTitle,
		RequestID: requestID(req), Caller: caller(ctx, req.ClientInfo()), Tool: ToolName,
	})
	if err != nil {
		return nil, protocolError(err)
	}
	var structured bytes.Buffer
	enc := json.NewEncoder(&structured)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answer); err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: s.text(answer)}},
		StructuredContent: json.RawMessage(bytes.TrimSpace(structured.Bytes())),
	}, nil
}

// readQuestion is strict, but for null: models write it for what they leave out.
func readQuestion(arguments json.RawMessage) (question, error) {
	fields := map[string]json.RawMessage{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &fields); err != nil {
			return question{}, &lookup.InputError{Field: "arguments", Message: "must be an object"}
		}
	}
	var q question
	known := map[string]*string{"query": &q.Query, "section_title": &q.SectionTitle}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		into := known[name]
		if into == nil {
			return q, &lookup.InputError{Field: name, Message: "is not an argument; there are: query, section_title"}
		}
		if json.Unmarshal(fields[name], into) != nil {
			return q, &lookup.InputError{Field: name, Message: "must be a string"}
		}
	}
	if _, given := fields["query"]; !given {
		return q, &lookup.InputError{Field: "query", Message: "is missing: ask for a keyword or a question"}
	}
	return q, nil
}

// protocolError gives an error of the backend its JSON-RPC code. Others are the daemon's fault.
func protocolError(err error) error {
	var (
		input   *lookup.InputError
		invalid *ipc.InvalidError
	)
	field := ipc.FieldError{}
	switch {
	case errors.As(err, &input):
		field = ipc.FieldError{Field: input.Field, Message: input.Message}
	case errors.As(err, &invalid):
		field = ipc.FieldError{Field: invalid.Field, Message: invalid.Message}
	default:
		return err
	}
	data, _ := json.Marshal(map[string]any{"errors": []ipc.FieldError{field}}) // strings alone: it cannot fail
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: field.Field + " " + field.Message, Data: data}
}

// requestID is the HTTP request's own; a pipe has none, and each lookup makes one.
func requestID(req *sdk.CallToolRequest) string {
	if req.Extra == nil {
		return ""
	}
	return req.Extra.Header.Get(idHeader)
}

// caller is who asks: the process or address that ipc knows, and the client by its own account.
func caller(ctx context.Context, client *sdk.Implementation) string {
	parts := []string{cmp.Or(ipc.Caller(ctx), "local")}
	if client != nil && client.Name != "" {
		name := client.Name
		if client.Version != "" {
			name += "/" + client.Version
		}
		parts = append(parts, "mcp="+harmless(name))
	}
	return strings.Join(parts, " ")
}

// harmless keeps what a client says of itself from disturbing a log line.
func harmless(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsGraphic(r):
			return r
		}
		return -1
	}, name)
	const most = 64
	if r := []rune(name); len(r) > most {
		name = string(r[:most])
	}
	return name
}
