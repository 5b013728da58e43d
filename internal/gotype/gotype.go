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
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

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
	w := walker{schemas: known(), decode: true}
	s, err := w.describe(t)
	if err != nil {
		return nil, err
	}
	if s.Type == "" && slices.Contains(s.Types, "object") {
		s.Type, s.Types = "object", nil // arguments are never null
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("the arguments of a tool are an object, and %v is not: take a struct", t)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of %v: %w", t, err)
	}
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
// object, or where nobody can tell.
func Result(t reflect.Type) json.RawMessage {
	w := walker{schemas: known()}
	s, err := w.describe(t)
	if err != nil {
		return nil
	}
	if t.Kind() == reflect.Map && s.Type == "" {
		s.Type, s.Types = "object", nil
	}
	if s.Type != "object" {
		return nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return text
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
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more text after the JSON value")
	}
	return nil
}

// decodeDefaults decodes the defaults of what the arguments, as they are in given, do
// not have. The arguments themselves are decoded after that, with all their digits.
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

// without returns what is in all and not in some, which has the same objects.
func without(all, some map[string]any) map[string]any {
	rest := map[string]any{}
	for name, value := range all {
		other, known := some[name]
		object, ok := value.(map[string]any)
		switch {
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

// plain says a decoding error without the names of Go's types.
func plain(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Errorf("%q cannot be %s", wrong.Field, wrong.Value)
	}
	return err
}

// anything is the schema of any JSON. It names all types, so that jsonschema-go does
// not make null alone of a pointer to it.
func anything() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"null", "boolean", "object", "array", "number", "string"}}
}

// known are types of the standard library.
func known() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[big.Int]():         {Type: "integer"},
		reflect.TypeFor[json.Number]():     {Type: "number"},
		reflect.TypeFor[json.RawMessage](): anything(),
	}
}

// A walker finds the types that jsonschema-go cannot describe by itself.
type walker struct {
	schemas map[reflect.Type]*jsonschema.Schema
	decode  bool // the type is decoded, not encoded
	within  []reflect.Type
}

func (w *walker) describe(t reflect.Type) (*jsonschema.Schema, error) {
	if err := w.walk(t); err != nil {
		return nil, err
	}
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: w.schemas})
}

func (w *walker) walk(t reflect.Type) error {
	behind := t.Kind() == reflect.Pointer
	t = pointedTo(t)
	if !w.decode && !behind && needsPointer(t) {
		return fmt.Errorf("%v is encoded in one way behind a pointer and in another without", t)
	}
	if w.schemas[t] != nil {
		return nil
	}
	if slices.Contains(w.within, t) {
		return fmt.Errorf("%v contains itself", t)
	}
	w.within = append(w.within, t)
	defer func() { w.within = w.within[:len(w.within)-1] }()
	if own, err := w.own(t); own != nil || err != nil {
		w.schemas[t] = own
		return err
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !w.codes(t.Elem()) {
			w.schemas[t] = &jsonschema.Schema{Types: []string{"null", "string"}, ContentEncoding: "base64"}
			return nil
		}
		return w.walk(t.Elem())
	case reflect.Array:
		return w.walk(t.Elem())
	case reflect.Map:
		key := t.Key()
		if key.Kind() != reflect.String && !(w.decode && implements[encoding.TextUnmarshaler](reflect.PointerTo(key)) || !w.decode && implements[encoding.TextMarshaler](key)) {
			return fmt.Errorf("the keys of %v are not strings", t)
		}
		if err := w.walk(t.Elem()); err != nil {
			return err
		}
		values, err := jsonschema.ForType(t.Elem(), &jsonschema.ForOptions{TypeSchemas: w.schemas})
		if err != nil {
			return err
		}
		w.schemas[t] = &jsonschema.Schema{Types: []string{"null", "object"}, AdditionalProperties: values}
		return nil
	case reflect.Interface:
		if w.decode && t.NumMethod() > 0 {
			return fmt.Errorf("nothing can be decoded into the interface %v", t)
		}
		w.schemas[t] = anything()
		return nil
	case reflect.Struct:
		return w.fields(t)
	}
	return nil
}

// describes is what a type has that says what it is. It is the method that
// jsonschema-go is to have for that (its issue 77 and change 78): behind a pointer as
// well, and nil stands for the schema as inferred. Its tags say nothing but a
// description; those that begin with a word and "=" are kept for later.
type describes interface{ JSONSchema() *jsonschema.Schema }

// own returns the schema of a type that encodes or decodes itself, or that says what
// it is, nil for any other.
func (w *walker) own(t reflect.Type) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Interface {
		return nil, nil
	}
	pointer := reflect.PointerTo(t)
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() { // its method would be taken for that of the whole
			if f := t.Field(i); f.Anonymous && (implements[describes](f.Type) || implements[describes](reflect.PointerTo(f.Type))) {
				return nil, fmt.Errorf("%v embeds %v, which has a method JSONSchema: make it a field with a name", t, f.Type)
			}
		}
	}
	if value, ok := reflect.New(t).Interface().(describes); ok {
		if s := value.JSONSchema(); s != nil {
			return s, nil
		}
	}
	switch {
	case w.decode && implements[json.Unmarshaler](pointer), !w.decode && implements[json.Marshaler](pointer):
		return anything(), nil
	case w.decode && implements[encoding.TextUnmarshaler](pointer), !w.decode && implements[encoding.TextMarshaler](pointer):
		return &jsonschema.Schema{Type: "string"}, nil
	}
	return nil, nil
}

// needsPointer reports whether a type encodes itself behind a pointer alone: without,
// it depends on where the value is whether its method is called.
func needsPointer(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return implements[json.Marshaler](pointer) && !implements[json.Marshaler](t) ||
		implements[encoding.TextMarshaler](pointer) && !implements[encoding.TextMarshaler](t) && !implements[json.Marshaler](t)
}

// codes reports whether a type encodes or decodes itself.
func (w *walker) codes(t reflect.Type) bool {
	s, err := w.own(t)
	return s != nil || err != nil
}

func implements[I any](t reflect.Type) bool { return t.Implements(reflect.TypeFor[I]()) }

// fields goes over the fields of a struct. Those that jsonschema-go takes for
// something else are errors.
func (w *walker) fields(t reflect.Type) error {
	names := map[string]bool{}
	for _, field := range reflect.VisibleFields(t) {
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case field.Anonymous:
			if err := w.embedded(t, field, tag == "-" || name != ""); err != nil {
				return err
			}
			continue
		case !field.IsExported() || tag == "-":
			continue
		case slices.Contains(strings.Split(options, ","), "string"):
			return fmt.Errorf("the tag of %v.%s has the option string, which no schema tells: take a type that decodes itself", t, field.Name)
		case strings.ContainsFunc(name, isNotName):
			return fmt.Errorf("%q in the tag of %v.%s is no name for encoding/json", name, t, field.Name)
		case names[jsonName(field)]:
			return fmt.Errorf("two fields of %v have the name %q", t, jsonName(field))
		}
		names[jsonName(field)] = true
		if err := w.walk(field.Type); err != nil {
			return fmt.Errorf("field %v.%s: %w", t, field.Name, err)
		}
	}
	return shadowed(names, t)
}

// embedded looks at an embedded field, whose own fields come one by one behind it.
func (w *walker) embedded(t reflect.Type, field reflect.StructField, named bool) error {
	inner := pointedTo(field.Type)
	switch {
	case named:
		return fmt.Errorf("the embedded field %v.%s has a name in its tag: make it a field with a name", t, field.Name)
	case inner.Kind() != reflect.Struct || w.schemas[inner] != nil || w.codes(inner):
		return fmt.Errorf("the embedded field %v.%s is not a plain struct: make it a field with a name", t, field.Name)
	case w.decode && field.Type.Kind() == reflect.Pointer && !field.IsExported():
		return fmt.Errorf("nothing can be decoded into the embedded field %v.%s: it is a pointer to a type that is not exported", t, field.Name)
	case !w.decode && field.Type.Kind() == reflect.Pointer:
		return fmt.Errorf("the fields of %v.%s are not there where it is nil", t, field.Name)
	case slices.Contains(w.within, inner):
		return fmt.Errorf("%v contains itself", inner)
	}
	return nil
}

// shadowed finds fields below a struct that Go hides behind others of the same name,
// and that encoding/json knows still, by a name in their tag: names are those of the
// fields that are not hidden, path is that from the struct down.
func shadowed(names map[string]bool, path ...reflect.Type) error {
	within := path[len(path)-1]
	for i := range within.NumField() {
		switch field := within.Field(i); {
		case field.Anonymous:
			if inner := pointedTo(field.Type); inner.Kind() == reflect.Struct && !slices.Contains(path, inner) {
				if err := shadowed(names, append(path, inner)...); err != nil {
					return err
				}
			}
		case field.IsExported() && field.Tag.Get("json") != "-" && !names[jsonName(field)]:
			return fmt.Errorf("the field %v.%s is hidden behind another one of %v: give it another name", within, field.Name, path[0])
		}
	}
	return nil
}

func pointedTo(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// jsonName returns the name that encoding/json has for a field.
func jsonName(field reflect.StructField) string {
	if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
		return name
	}
	return field.Name
}

// isNotName reports whether encoding/json takes a tag with a character for none.
func isNotName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
}
