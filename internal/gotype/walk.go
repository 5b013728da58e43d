package gotype

// This file finds what jsonschema-go sees otherwise than encoding/json.

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// anything is the schema of any JSON. It names all types, so that jsonschema-go does
// not make null alone of a pointer to it.
func anything() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"null", "boolean", "object", "array", "number", "string"}}
}

// known are types of the standard library that encode themselves, and of which more can
// be said than that they may be any JSON.
func known() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[big.Int]():         {Type: "integer"},
		reflect.TypeFor[json.Number]():     {Type: "number"},
		reflect.TypeFor[json.RawMessage](): anything(),
	}
}

// A walker finds the types that jsonschema-go cannot describe by itself. Types are
// few and walked once, when a tool is made.
type walker struct {
	schemas map[reflect.Type]*jsonschema.Schema
	decode  bool           // the type is decoded, not encoded
	within  []reflect.Type // those around what is looked at: one in itself has no end
}

// walk looks at a type and all that is in it. It notes the schemas of those that
// jsonschema-go does not see as encoding/json does, and has an error for those that no
// schema describes.
func (w *walker) walk(t reflect.Type) error {
	behind := t.Kind() == reflect.Pointer
	t = pointedTo(t)
	// Decoding has an address for each value, so that methods of both kinds are
	// called.
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
	// A type that has a schema of its own is not looked into.
	if own, err := w.own(t); own != nil || err != nil {
		w.schemas[t] = own
		return err
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !w.codes(t.Elem()) { // of any name
			w.schemas[t] = &jsonschema.Schema{Types: []string{"null", "string"}, ContentEncoding: "base64"}
			return nil
		}
		return w.walk(t.Elem())
	case reflect.Array:
		return w.walk(t.Elem())
	case reflect.Map:
		if key := t.Key(); key.Kind() != reflect.String && !w.isText(key) {
			return fmt.Errorf("the keys of %v are not strings", t)
		}
		if err := w.walk(t.Elem()); err != nil {
			return err
		}
		// A nil map is null, which jsonschema-go allows for slices alone.
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

// own returns the schema of a type that encodes or decodes itself, or that says
// what it is, nil for any other. A method of the type comes before those of
// encoding/json, and JSON before text, as there. What a method writes as JSON is
// known to nobody: the schema takes anything.
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

// needsPointer reports whether a type encodes itself behind a pointer alone:
// without, it depends on where the value is whether its method is called. It would
// be written in one of two ways, and a schema tells of one.
func needsPointer(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return implements[json.Marshaler](pointer) && !implements[json.Marshaler](t) ||
		implements[encoding.TextMarshaler](pointer) && !implements[encoding.TextMarshaler](t) && !implements[json.Marshaler](t)
}

// isText reports whether the keys of a map that are of a type are texts.
func (w *walker) isText(t reflect.Type) bool {
	if w.decode {
		return implements[encoding.TextUnmarshaler](reflect.PointerTo(t))
	}
	return implements[encoding.TextMarshaler](t)
}

// codes reports whether a type encodes or decodes itself, or says what it is.
func (w *walker) codes(t reflect.Type) bool {
	s, err := w.own(t)
	return s != nil || err != nil
}

// implements reports whether a type has the methods of I, an interface.
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
// jsonschema-go takes any for a struct whose fields are those of the outer one;
// encoding/json makes one field of it where it has a name in its tag, is not a struct, or
// encodes itself.
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
		// The schema would require them.
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

// pointedTo returns what is behind a pointer, or behind a pointer to one.
func pointedTo(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// jsonName returns the name that encoding/json has for a field. The options behind
// the name are of no interest.
func jsonName(field reflect.StructField) string {
	if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
		return name
	}
	return field.Name
}

// isNotName reports whether encoding/json takes a tag with a character for none, and the
// name of the field in its place, which jsonschema-go does not.
func isNotName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
}
