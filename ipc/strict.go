package ipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
)

// decodeStrict reads one JSON object into the struct that v points to, field by field, and names every field that is
// wrong. It refuses what encoding/json lets pass and a client would only notice by a wrong answer: unknown and repeated
// fields, names in another case, null, text after the object, and bytes that are not UTF-8.
func decodeStrict(data []byte, v any) error {
	if !utf8.Valid(data) {
		return badRequest("The body is not valid UTF-8.")
	}
	fields := jsonFields(v)
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return badRequest("The body must be a JSON object.")
	}
	var faults []FieldError
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return syntaxFault(err)
		}
		name, _ := t.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return syntaxFault(err)
		}
		target, known := fields[name]
		message := ""
		switch {
		case !known:
			message = "is not a field of this request"
		case seen[name]:
			message = "is given twice"
		default:
			message = setField(target, raw)
		}
		if message != "" {
			faults = append(faults, FieldError{shorten(name), message})
		}
		seen[name] = true
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return syntaxFault(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return badRequest("There is text after the JSON object.")
	}
	if len(faults) > 0 {
		return badFields(faults...)
	}
	return nil
}

// jsonFields maps the JSON names of a flat struct to its fields.
func jsonFields(v any) map[string]reflect.Value {
	s := reflect.ValueOf(v).Elem()
	fields := make(map[string]reflect.Value, s.NumField())
	for i := range s.NumField() {
		name, _, _ := strings.Cut(s.Type().Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = s.Field(i)
		}
	}
	return fields
}

// whole reads a number without a fraction, however it is written: JSON makes no difference between 49 and 49.0.
func whole(raw json.RawMessage) (int64, bool) {
	var f float64
	if json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// setField says what kind of value it wanted, or "".
func setField(target reflect.Value, raw json.RawMessage) string {
	if !bytes.Equal(raw, []byte("null")) && json.Unmarshal(raw, target.Addr().Interface()) == nil {
		return ""
	}
	switch target.Kind() {
	case reflect.String:
		return "must be a string"
	case reflect.Bool:
		return "must be true or false"
	case reflect.Int:
		if n, ok := whole(raw); ok && !bytes.Equal(raw, []byte("null")) {
			target.SetInt(n)
			return ""
		}
		return "must be a whole number"
	}
	return "has the wrong type"
}

func syntaxFault(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return badRequest(fmt.Sprintf("The body is not valid JSON: %v (at byte %d).", syntax, syntax.Offset))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return badRequest("The body is not valid JSON: it ends too early.")
	}
	return badRequest(fmt.Sprintf("The body is not valid JSON: %v.", err))
}
