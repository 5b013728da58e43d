// Package gotype describes Go types with JSON Schemas, as encoding/json writes
// and reads them.
//
// The schemas are those of github.com/google/jsonschema-go, but for the types that
// it sees otherwise than encoding/json does: those that write or read themselves,
// bytes, nil maps, and big numbers. Where it cannot be told what is the case, it is an
// error: a wrong schema makes a tool that cannot be called or loses a value.
package gotype

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Type is what a tool takes.
type Type struct {
	Schema   json.RawMessage
	check    *jsonschema.Resolved
	defaults bool // whether there are any
}

// Arguments describes a struct, or a map with string keys, that is decoded.
func Arguments(t reflect.Type) (*Type, error) {
	s, text, err := object(t, true)
	if err != nil {
		return nil, err
	}
	// A default that its own schema refuses is a fault of the program, and told at
	// once.
	check, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, fmt.Errorf("resolving the schema of %v: %w", t, err)
	}
	all := map[string]any{}
	if err := check.ApplyDefaults(&all); err != nil {
		return nil, fmt.Errorf("applying the defaults of %v: %w", t, err)
	}
	return &Type{text, check, len(all) > 0}, nil
}

// Result returns the schema of a type that is encoded, nil where there is none of an
// object, or where nobody can tell. A client refuses a result that is not as its schema
// says: none is better than a wrong one.
func Result(t reflect.Type) json.RawMessage {
	_, text, _ := object(t, false)
	return text
}

// object describes a type of objects, as it is decoded or encoded. Arguments are never
// null, and a nil map is written as an empty object where it is the whole result; a nil
// pointer is none.
func object(t reflect.Type, decode bool) (*jsonschema.Schema, json.RawMessage, error) {
	w := walker{schemas: known(), decode: decode}
	if err := w.walk(t); err != nil {
		return nil, nil, err
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: w.schemas})
	if err != nil {
		return nil, nil, err
	}
	if (decode || t.Kind() == reflect.Map) && slices.Contains(s.Types, "object") {
		s.Type, s.Types = "object", nil
	}
	if s.Type != "object" {
		return nil, nil, fmt.Errorf("the arguments of a tool are an object, and %v is not: take a struct", t)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the schema of %v: %w", t, err)
	}
	return s, text, nil
}

// Decode checks arguments, JSON without faults, and decodes them into the value that
// to points to, with the defaults of what is not there. Numbers in an any are
// json.Number.
func (t *Type) Decode(arguments []byte, to any) error {
	// The check goes by float64: the text of a number may stand for one of a
	// billion digits.
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return plain(err)
	}
	if err := t.check.Validate(value); err != nil {
		return err
	}
	if t.defaults {
		if err := t.decodeDefaults(arguments, value, to); err != nil {
			return err
		}
	}
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return plain(err)
	}
	// A decoder stops behind the first value.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more text after the JSON value")
	}
	return nil
}

// decodeDefaults decodes the defaults of what the arguments, as they are in given, do
// not have. What they have is decoded after that, from its text: what ApplyDefaults
// makes has lost the digits of large numbers and the bytes of a json.RawMessage.
func (t *Type) decodeDefaults(arguments []byte, given, to any) error {
	var filled any
	if err := json.Unmarshal(arguments, &filled); err != nil {
		return plain(err)
	}
	if err := t.check.ApplyDefaults(&filled); err != nil {
		return err
	}
	defaults, err := json.Marshal(without(filled.(map[string]any), given.(map[string]any)))
	if err != nil {
		return err
	}
	return json.Unmarshal(defaults, to)
}

// without returns what is in all and not in some, which has no other members. An object
// in both has what is missing in it: a member that is given replaces no default beside it.
func without(all, some map[string]any) map[string]any {
	rest := map[string]any{}
	for name, value := range all {
		object, ok := value.(map[string]any)
		switch other, known := some[name]; {
		case !known:
			rest[name] = value
		case ok:
			if inner := without(object, other.(map[string]any)); len(inner) > 0 {
				rest[name] = inner
			}
		}
	}
	return rest
}

// plain says a decoding error without the names of Go's types. A model reads it,
// and knows the names of members alone.
func plain(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Errorf("%q cannot be %s", wrong.Field, wrong.Value)
	}
	return err
}
