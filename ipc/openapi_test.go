package ipc

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"knowledged/document"
	"knowledged/lookup"
)

// spec is as much of OpenAPI 3.1 as the document uses; anything else is a mistake.
type spec struct {
	OpenAPI    string                                       `json:"openapi"`
	Info       struct{ Title, Version, Description string } `json:"info"`
	Servers    []struct{ URL string }                       `json:"servers"`
	Tags       []struct{ Name string }                      `json:"tags"`
	Paths      map[string]map[string]operation              `json:"paths"`
	Components struct {
		Schemas         map[string]schema          `json:"schemas"`
		Responses       map[string]response        `json:"responses"`
		Headers         map[string]json.RawMessage `json:"headers"`
		SecuritySchemes map[string]json.RawMessage `json:"securitySchemes"`
	} `json:"components"`
}

type operation struct {
	OperationID string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description"`
	Security    []map[string][]string `json:"security"`
	Parameters  []struct {
		Name, In, Description string
		Required              bool
		Schema                schema
	} `json:"parameters"`
	RequestBody *struct {
		Required bool
		Content  map[string]struct{ Schema schema }
	} `json:"requestBody"`
	Responses map[string]response `json:"responses"`
}

type response struct {
	Ref         string                             `json:"$ref"`
	Description string                             `json:"description"`
	Headers     map[string]json.RawMessage         `json:"headers"`
	Content     map[string]struct{ Schema schema } `json:"content"`
}

type schema struct {
	Ref                  string            `json:"$ref"`
	Type                 any               `json:"type"`
	Format               string            `json:"format"`
	Description          string            `json:"description"`
	Properties           map[string]schema `json:"properties"`
	Required             []string          `json:"required"`
	AdditionalProperties *bool             `json:"additionalProperties"`
	Items                *schema           `json:"items"`
	OneOf                []schema          `json:"oneOf"`
	Enum                 []any             `json:"enum"`
	Const                any               `json:"const"`
	Default              any               `json:"default"`
	Minimum              *float64          `json:"minimum"`
	Maximum              *float64          `json:"maximum"`
	MinLength            *int              `json:"minLength"`
	MaxLength            *int              `json:"maxLength"`
	Pattern              string            `json:"pattern"`
	ContentMediaType     string            `json:"contentMediaType"`
}

func readSpec(t *testing.T) spec {
	t.Helper()
	var s spec
	dec := json.NewDecoder(strings.NewReader(string(openAPIDocument)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Every route is documented and every documented path is a route.
func TestOpenAPICoversTheRoutes(t *testing.T) {
	s := readSpec(t)
	var documented, routed []string
	for path, methods := range s.Paths {
		for method := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	for _, rt := range newHandler(Config{}, newGuard("", false, false), testLog(t)).routes() {
		if rt.access != socketOnly {
			routed = append(routed, rt.method+" "+rt.path)
		}
	}
	slices.Sort(documented)
	slices.Sort(routed)
	if !slices.Equal(documented, routed) {
		t.Errorf("documented %q\nroutes     %q", documented, routed)
	}
}

func TestOpenAPIStructure(t *testing.T) {
	s := readSpec(t)
	if s.OpenAPI != "3.1.0" || s.Info.Title == "" || len(s.Servers) != 1 {
		t.Errorf("head: %+v", s.Info)
	}
	ids := map[string]bool{}
	placeholder := regexp.MustCompile(`\{(\w+)\}`)
	for path, methods := range s.Paths {
		for method, op := range methods {
			where := method + " " + path
			if op.OperationID == "" || ids[op.OperationID] || op.Summary == "" || len(op.Tags) != 1 || len(op.Security) == 0 {
				t.Errorf("%s: operationId %q is empty or taken, or it lacks summary, tag or security", where, op.OperationID)
			}
			ids[op.OperationID] = true
			var inPath []string
			for _, p := range op.Parameters {
				if p.In == "path" {
					inPath = append(inPath, p.Name)
				}
				if p.In == "path" && !p.Required || p.Schema.Type == nil {
					t.Errorf("%s: parameter %+v", where, p)
				}
			}
			var named []string
			for _, m := range placeholder.FindAllStringSubmatch(path, -1) {
				named = append(named, m[1])
			}
			if !slices.Equal(inPath, named) {
				t.Errorf("%s: path parameters %q, documented %q", where, named, inPath)
			}
			if _, told := op.Responses["421"]; !told {
				t.Errorf("%s: nothing is said of a request that means another folder", where)
			}
			for status, r := range op.Responses {
				if r.Ref != "" {
					if r.Ref != "#/components/responses/P"+status || s.Components.Responses["P"+status].Description == "" {
						t.Errorf("%s: %s refers to %s", where, status, r.Ref)
					}
				} else if r.Description == "" || status[0] != '2' {
					t.Errorf("%s: %s is inline", where, status)
				}
			}
		}
	}
	if unused := slices.DeleteFunc(slices.Collect(maps.Keys(s.Components.Schemas)), func(name string) bool {
		return strings.Contains(string(openAPIDocument), `"#/components/schemas/`+name+`"`)
	}); len(unused) > 0 {
		t.Errorf("schemas that nothing refers to: %q", unused)
	}
	for _, m := range regexp.MustCompile(`"#/components/(\w+)/([\w-]+)"`).FindAllStringSubmatch(string(openAPIDocument), -1) {
		known := map[string]bool{"schemas": s.Components.Schemas[m[2]].Type != nil, "responses": s.Components.Responses[m[2]].Description != "", "headers": s.Components.Headers[m[2]] != nil}
		if !known[m[1]] {
			t.Errorf("dangling %s", m[0])
		}
	}
}

// The schemas say what the Go types marshal to: the same names, of the same kinds, required unless they may be left out.
func TestOpenAPISchemasMatchTheTypes(t *testing.T) {
	s := readSpec(t)
	types := map[string]any{
		"LookupRequest": lookup.Request{}, "Answer": lookup.Answer{}, "Primary": lookup.Primary{}, "Supplement": lookup.Supplement{}, "Result": lookup.Result{},
		"Extra": lookup.Extra{}, "Ranks": lookup.Ranks{}, "Decision": lookup.Decision{}, "Timings": lookup.Timings{}, "Corrected": lookup.Corrected{}, "Record": Record{}, "Warning": document.Warning{}, "DocumentList": DocumentList{},
		"Content": Content{}, "Chunk": Chunk{}, "ChunkList": ChunkList{}, "Deleted": Deleted{}, "Job": Job{}, "JobDocuments": JobDocuments{}, "JobVectors": JobVectors{},
		"Status": Status{}, "StatusHTTP": StatusHTTP{}, "StatusDocuments": StatusDocuments{}, "Pending": Pending{}, "StatusWatch": StatusWatch{}, "StatusL1": StatusL1{}, "StatusEmbedding": StatusEmbedding{},
		"StatusMemory": StatusMemory{}, "HistoryEntry": HistoryEntry{}, "HistoryList": HistoryList{}, "Stats": Stats{}, "StatsKind": StatsKind{}, "StatsQuestion": StatsQuestion{},
		"StatsGroup": StatsGroup{}, "StatsNeverFound": StatsNeverFound{},
		"Event": Event{}, "Problem": Problem{}, "FieldError": FieldError{},
	}
	for name, sc := range s.Components.Schemas {
		v, known := types[name]
		if !known {
			if name != "UploadForm" && name != "Explain" {
				t.Errorf("schema %s has no type", name)
			}
			continue
		}
		typ := reflect.TypeOf(v)
		var names, required []string
		for i := range typ.NumField() {
			f := typ.Field(i)
			jsonName, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
			if jsonName == "" || jsonName == "-" {
				continue
			}
			names = append(names, jsonName)
			if opts == "" {
				required = append(required, jsonName)
			}
			if got, want := kindOf(sc.Properties[jsonName]), kindOfGo(f.Type); got != want {
				t.Errorf("%s.%s is %s, documented as %s", name, jsonName, want, got)
			}
		}
		slices.Sort(names)
		slices.Sort(required)
		slices.Sort(sc.Required)
		if got := slices.Sorted(maps.Keys(sc.Properties)); !slices.Equal(got, names) {
			t.Errorf("%s has %q, documented %q", name, names, got)
		}
		if !slices.Equal(sc.Required, required) {
			t.Errorf("%s requires %q, documented %q", name, required, sc.Required)
		}
	}
}

func kindOf(s schema) string {
	if len(s.OneOf) > 0 {
		s = s.OneOf[0]
	}
	if s.Ref != "" {
		return "object"
	}
	if l, isList := s.Type.([]any); isList {
		return l[0].(string)
	}
	return fmt.Sprint(s.Type)
}

func kindOfGo(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "object"
	case t.String() == "time.Time":
		return "string"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Struct:
		return "object"
	}
	return "integer"
}

// Every parameter that is documented is taken, and no other: a route is asked with each of them and must not call it unknown.
func TestOpenAPIParametersAreTaken(t *testing.T) {
	h := openHouse(t, nil)
	for path, methods := range readSpec(t).Paths {
		for method, op := range methods {
			if path == "/v1/events" || path == "/healthz" || path == "/readyz" || path == "/openapi.json" {
				continue
			}
			target := strings.NewReplacer("{docId}", "ops-a.md", "{category}", "ops", "{fileName}", "n.md").Replace(path) + "?no-such=1"
			for _, p := range op.Parameters {
				if p.In == "query" {
					target += "&" + p.Name + "="
				}
			}
			p := h.problem(h.ask(strings.ToUpper(method), target, ""), 400)
			for _, e := range p.Errors {
				if strings.Contains(e.Message, "not a parameter") != (e.Field == "no-such") {
					t.Errorf("%s %s: %s %s", method, path, e.Field, e.Message)
				}
			}
		}
	}
}
