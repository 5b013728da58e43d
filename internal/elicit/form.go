package elicit

// This file reads the restricted schema of a form, and fills in the form. The
// specification (client/elicitation, 2025-06-18 and later) has flat objects alone,
// so that any application can show them. What is said of a field is kept in the
// order and the bytes of one spelling: hosts compare and store it.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A form is a flat object of fields. It shares no memory with the question that it
// was read from: a person takes as long as it takes, and the line of output that the
// question came in is used again.
type form struct {
	schema []byte // for the person who asks, its texts cleaned
	fields []*field
	closed bool // no other fields
}

// emptyForm is that of a question without a schema: the person can only agree or
// decline.
const emptyForm = `{"type":"object","properties":{}}`

// parseForm reads a schema. Keywords that say nothing about a flat form are left
// out. Of fields that share a name the last one counts, as in any object.
func parseForm(schema []byte) (f form, err error) {
	if raw.Null(schema) {
		return form{schema: []byte(emptyForm)}, nil
	}
	if schema[0] != '{' {
		return form{}, errors.New("the requested schema is not an object")
	}
	if kind, ok := raw.String(raw.Member(schema, "type")); ok && kind != "object" {
		return form{}, fmt.Errorf("the requested schema is of type %q, not object", label(kind, maxQuoted))
	}
	// Few servers say that there are no other fields. Where one does, it would refuse
	// the answer as a whole, and the person who gave it would not learn why.
	f.closed = string(raw.Member(schema, "additionalProperties")) == "false"
	// Both for the answer, which is checked by names, and for the person's schema,
	// where each name must be there once (JSON Schema, required).
	required := map[string]bool{}
	var names, properties []byte
	for name := range raw.Elements(raw.Member(schema, "required")) {
		if name, ok := raw.String(name); ok && !required[name] {
			required[name] = true
			names = appendElement(names, raw.AppendQuote(nil, name))
		}
	}
	at := map[string]int{}
	for key, property := range raw.Members(raw.Member(schema, "properties")) {
		name := string(key)
		given, err := parseField(property)
		if err != nil {
			return form{}, fmt.Errorf("the field %q of the requested schema %w", label(name, maxQuoted), err)
		}
		given.name, given.required = name, required[name]
		if i, ok := at[name]; ok {
			f.fields[i] = given
		} else {
			at[name] = len(f.fields)
			f.fields = append(f.fields, given)
		}
	}
	// Only now is it certain which of several fields with one name counts.
	for _, field := range f.fields {
		properties = raw.AppendMember(properties, field.name, field.schema)
	}
	members := raw.AppendMember([]byte(`"type":"object"`), "properties", object(properties))
	if names != nil {
		members = raw.AppendMember(members, "required", array(names))
	}
	f.schema = object(members)
	return f, nil
}

// parseField reads the schema of one field. What it keeps for the person comes in
// one order, its texts cleaned. A default that does not fit is left out.
func parseField(schema []byte) (*field, error) {
	if raw.Null(schema) || schema[0] != '{' {
		return nil, errors.New("has no schema")
	}
	f := &field{}
	members := membersOf(schema)
	f.kind, _ = raw.String(members["type"])
	// Beside choices, servers leave out the type.
	if f.kind == "" && (members["enum"] != nil || members["oneOf"] != nil || members["anyOf"] != nil) {
		f.kind = "string"
	}
	bounds, ok := kinds[f.kind]
	if !ok {
		return nil, errors.New("is not of a type that a form has")
	}
	text := raw.AppendMember(nil, "type", raw.AppendQuote(nil, f.kind))
	for _, key := range []string{"title", "description"} {
		if s, ok := raw.String(members[key]); ok {
			text = raw.AppendMember(text, key, quoteLabel(s))
		}
	}
	// An application may hand the schema to a parser that knows JSON alone: what
	// was read leniently may have NaN or control characters in it.
	keep := func(key string) {
		if value := members[key]; json.Valid(value) {
			text = raw.AppendMember(text, key, raw.Compact(value))
		}
	}
	// ParseFloat takes NaN and the infinities as well, which are not JSON.
	for _, b := range bounds {
		if n, err := strconv.ParseFloat(string(members[b.keyword]), 64); err == nil && json.Valid(members[b.keyword]) {
			b.limit = n
			f.bounds = append(f.bounds, b)
			keep(b.keyword)
		}
	}
	switch f.kind {
	case "string":
		f.format, _ = raw.String(members["format"])
		pattern, _ := raw.String(members["pattern"])
		f.pattern = compile(pattern)
		keep("format")
		keep("pattern")
		text = f.choose(text, members)
	case "array":
		f.unique = string(members["uniqueItems"]) == "true"
		keep("uniqueItems")
		items := membersOf(members["items"])
		// Without a type, the choices tell that they are texts.
		if kind, ok := raw.String(items["type"]); ok && kind != "string" {
			return nil, errors.New("is a list of something else than texts")
		}
		text = raw.AppendMember(text, "items", object(f.choose([]byte(`"type":"string"`), items)))
	}
	if value := members["default"]; !raw.Null(value) && json.Valid(value) && f.check(value) == nil {
		f.value = bytes.Clone(value)
		keep("default")
	}
	f.schema = object(text)
	return f, nil
}

// choose reads the texts that are to be chosen from: an enum, with or without names
// (2025-06-18), or a union of constants with titles (2025-11-25). What else is in a
// union is left out, since no answer could be that. It appends to text what the
// person sees of them. What a choice stands for is kept as it is, since the server
// compares it; only names and titles are cleaned.
func (f *field) choose(text []byte, members map[string][]byte) []byte {
	if list := members["enum"]; len(list) > 0 && list[0] == '[' {
		f.choices = map[string]bool{}
		var values, names []byte
		for value := range raw.Elements(list) {
			if s, ok := raw.String(value); ok {
				f.choices[s] = true
				values = appendElement(values, raw.AppendQuote(nil, s))
			}
		}
		for name := range raw.Elements(members["enumNames"]) {
			s, _ := raw.String(name)
			names = appendElement(names, quoteLabel(s))
		}
		text = raw.AppendMember(text, "enum", array(values))
		if names != nil {
			text = raw.AppendMember(text, "enumNames", array(names))
		}
		return text
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		var options []byte
		for option := range raw.Elements(members[key]) {
			value, ok := raw.String(raw.Member(option, "const"))
			if !ok {
				continue
			}
			if options == nil {
				f.choices = map[string]bool{}
			}
			f.choices[value] = true
			member := raw.AppendMember(nil, "const", raw.AppendQuote(nil, value))
			if title, ok := raw.String(raw.Member(option, "title")); ok {
				member = raw.AppendMember(member, "title", quoteLabel(title))
			}
			options = appendElement(options, object(member))
		}
		if options != nil {
			return raw.AppendMember(text, key, array(options))
		}
	}
	return text
}

// fill checks what was filled in, and adds the defaults of what was not. Null in
// place of an optional field is as good as nothing: it is what an empty input of a
// web page becomes. Fields come in the order of the form, then those that it does
// not know in the order of the answer.
func (f *form) fill(content []byte) ([]byte, error) {
	content = bytes.TrimSpace(content)
	if raw.Null(content) {
		content = []byte("{}")
	}
	if content[0] != '{' || !json.Valid(content) {
		return nil, errors.New("the answer is not a JSON object")
	}
	// What is left in it at the end is not of the form.
	given := membersOf(content)
	var out []byte
	for _, field := range f.fields {
		value := given[field.name]
		delete(given, field.name)
		// A default stands for null as for nothing, and was checked when the form
		// was read.
		if raw.Null(value) {
			value = field.value
		}
		err := error(nil)
		if value != nil {
			err = field.check(value)
			out = raw.AppendMember(out, field.name, value)
		} else if field.required {
			err = errors.New("is missing")
		}
		if err != nil {
			return nil, fmt.Errorf("the field %q of the answer %w", label(field.name, maxQuoted), err)
		}
	}
	for key := range raw.Members(content) {
		name := string(key)
		value, other := given[name]
		if !other {
			continue
		}
		if f.closed {
			return nil, fmt.Errorf("the field %q of the answer is not one of the form", label(name, maxQuoted))
		}
		out = raw.AppendMember(out, name, value)
		delete(given, name)
	}
	return object(out), nil
}

// membersOf returns the members of an object by their names; of those that share
// one the last counts, as everywhere.
func membersOf(value []byte) map[string][]byte {
	members := map[string][]byte{}
	for name, value := range raw.Members(value) {
		members[string(name)] = value
	}
	return members
}

// quoteLabel is label as a JSON string.
func quoteLabel(s string) []byte { return raw.AppendQuote(nil, label(s, maxLabel)) }

// appendElement appends an element of an array, and before it a comma if there are
// elements already. list is nil before the first one.
func appendElement(list, value []byte) []byte {
	if list != nil {
		list = append(list, ',')
	}
	return append(list, value...)
}

func object(members []byte) []byte { return slices.Concat([]byte("{"), members, []byte("}")) }

func array(elements []byte) []byte { return slices.Concat([]byte("["), elements, []byte("]")) }
