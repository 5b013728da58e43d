package elicit

// This file reads the restricted schema of a form, and checks what was filled
// in against it.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A form is a flat object of fields.
type form struct {
	schema []byte // for the person who asks, its texts cleaned
	fields []*field
	closed bool // no other fields
}

// A field takes a text, a number, a yes or no, or some of a list of texts.
type field struct {
	name     string
	required bool
	kind     string   // string, number, integer, boolean or array
	choices  []string // that a text or the texts of a list are of; nil for any
	value    []byte   // the default; nil without one

	minLength, maxLength *float64 // of a text in characters, of a list in elements
	minimum, maximum     *float64
	above, below         *float64 // exclusive
	format               string
	pattern              *regexp.Regexp
	unique               bool
}

const emptyForm = `{"type":"object","properties":{}}`

// parseForm reads a schema. Keywords that say nothing about a flat form are left
// out.
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
	f.closed = string(raw.Member(schema, "additionalProperties")) == "false"
	required := map[string]bool{}
	var list []byte
	for name := range raw.Elements(raw.Member(schema, "required")) {
		if name, ok := raw.String(name); ok && !required[name] {
			required[name] = true
			if list != nil {
				list = append(list, ',')
			}
			list = raw.AppendQuote(list, name)
		}
	}
	seen := map[string]int{}
	var properties []byte
	texts := map[string][]byte{}
	for key, property := range raw.Members(raw.Member(schema, "properties")) {
		name := string(key)
		given, text, err := parseField(name, property)
		if err != nil {
			return form{}, err
		}
		given.required = required[name]
		if at, ok := seen[name]; ok {
			f.fields[at] = given
		} else {
			seen[name] = len(f.fields)
			f.fields = append(f.fields, given)
		}
		texts[name] = text
	}
	for _, field := range f.fields {
		properties = raw.AppendMember(properties, field.name, texts[field.name])
	}
	f.schema = append(append([]byte(`{"type":"object","properties":{`), properties...), '}')
	if list != nil {
		f.schema = append(append(append(f.schema, `,"required":[`...), list...), ']')
	}
	f.schema = append(f.schema, '}')
	return f, nil
}

// parseField reads the schema of one field, and returns it with its texts
// cleaned.
func parseField(name string, schema []byte) (f *field, text []byte, err error) {
	f = &field{name: name}
	wrong := func(format string, args ...any) (*field, []byte, error) {
		return nil, nil, fmt.Errorf("the field %q of the requested schema %s", label(name, maxQuoted), fmt.Sprintf(format, args...))
	}
	if raw.Null(schema) || schema[0] != '{' {
		return wrong("has no schema")
	}
	members := map[string][]byte{}
	for key, value := range raw.Members(schema) {
		members[string(key)] = value
	}
	f.kind, _ = raw.String(members["type"])
	if f.kind == "" && (members["enum"] != nil || members["oneOf"] != nil || members["anyOf"] != nil) {
		f.kind = "string"
	}
	if !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, f.kind) {
		return wrong("is not of a type that a form has")
	}
	text = raw.AppendMember(nil, "type", raw.AppendQuote(nil, f.kind))
	for _, key := range []string{"title", "description"} {
		if s, ok := raw.String(members[key]); ok {
			text = raw.AppendMember(text, key, raw.AppendQuote(nil, label(s, maxLabel)))
		}
	}
	keep := func(key string) {
		if value := members[key]; json.Valid(value) { // raw takes more than JSON
			text = raw.AppendMember(text, key, raw.Compact(value))
		}
	}
	number := func(to **float64, keys ...string) {
		for _, key := range keys {
			if n, err := strconv.ParseFloat(string(members[key]), 64); err == nil && json.Valid(members[key]) {
				*to = &n
				keep(key)
			}
		}
	}
	switch f.kind {
	case "string":
		number(&f.minLength, "minLength")
		number(&f.maxLength, "maxLength")
		f.format, _ = raw.String(members["format"])
		if pattern, ok := raw.String(members["pattern"]); ok && len(pattern) <= maxPattern {
			f.pattern, _ = regexp.Compile(pattern) // one of another dialect is the server's to check
		}
		keep("format")
		keep("pattern")
		text = f.choose(text, members)
	case "number", "integer":
		number(&f.minimum, "minimum")
		number(&f.maximum, "maximum")
		number(&f.above, "exclusiveMinimum")
		number(&f.below, "exclusiveMaximum")
	case "array":
		number(&f.minLength, "minItems")
		number(&f.maxLength, "maxItems")
		f.unique = string(members["uniqueItems"]) == "true"
		keep("uniqueItems")
		items := map[string][]byte{}
		for key, value := range raw.Members(members["items"]) {
			items[string(key)] = value
		}
		if kind, ok := raw.String(items["type"]); ok && kind != "string" {
			return wrong("is a list of something else than texts")
		}
		text = raw.AppendMember(text, "items", append(append([]byte{'{'}, f.choose([]byte(`"type":"string"`), items)...), '}'))
	}
	if value := members["default"]; !raw.Null(value) && json.Valid(value) && f.check(value) == nil {
		f.value = bytes.Clone(value)
		keep("default")
	}
	return f, append(append([]byte{'{'}, text...), '}'), nil
}

// maxPattern bounds the length of a pattern that is checked, in bytes.
const maxPattern = 512

// choose reads the texts that are to be chosen from: an enum, with or without
// names, or a union of constants with titles.
func (f *field) choose(text []byte, members map[string][]byte) []byte {
	if list := members["enum"]; len(list) > 0 && list[0] == '[' {
		f.choices = []string{}
		var values, names []byte
		for value := range raw.Elements(list) {
			if s, ok := raw.String(value); ok {
				f.choices = append(f.choices, s)
				values = raw.AppendQuote(append(values, ','), s)
			}
		}
		for name := range raw.Elements(members["enumNames"]) {
			s, _ := raw.String(name)
			names = raw.AppendQuote(append(names, ','), label(s, maxLabel))
		}
		text = raw.AppendMember(text, "enum", append(append([]byte{'['}, bytes.TrimPrefix(values, []byte(","))...), ']'))
		if names != nil {
			text = raw.AppendMember(text, "enumNames", append(append([]byte{'['}, names[1:]...), ']'))
		}
		return text
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		var options []byte
		var choices []string
		for option := range raw.Elements(members[key]) {
			value, ok := raw.String(raw.Member(option, "const"))
			if !ok {
				continue
			}
			choices = append(choices, value)
			member := raw.AppendMember(nil, "const", raw.AppendQuote(nil, value))
			if title, ok := raw.String(raw.Member(option, "title")); ok {
				member = raw.AppendMember(member, "title", raw.AppendQuote(nil, label(title, maxLabel)))
			}
			options = append(append(append(options, `,{`...), member...), '}')
		}
		if choices != nil {
			f.choices = choices
			return raw.AppendMember(text, key, append(append([]byte{'['}, options[1:]...), ']'))
		}
	}
	return text
}

// fill checks what was filled in, and adds the defaults of what was not. Null in
// place of an optional field is as good as nothing.
func (f *form) fill(content []byte) ([]byte, error) {
	content = bytes.TrimSpace(content)
	if raw.Null(content) {
		content = []byte("{}")
	}
	if content[0] != '{' || !json.Valid(content) {
		return nil, errors.New("the answer is not a JSON object")
	}
	given := map[string][]byte{}
	var order []string
	for key, value := range raw.Members(content) {
		name := string(key)
		if _, ok := given[name]; !ok {
			order = append(order, name)
		}
		given[name] = value
	}
	known := map[string]bool{}
	var out []byte
	for _, field := range f.fields {
		known[field.name] = true
		value := given[field.name]
		if raw.Null(value) {
			value = field.value
		}
		switch {
		case value != nil:
			if err := field.check(value); err != nil {
				return nil, fmt.Errorf("the field %q of the answer %w", label(field.name, maxQuoted), err)
			}
			out = raw.AppendMember(out, field.name, value)
		case field.required:
			return nil, fmt.Errorf("the field %q of the answer is missing", label(field.name, maxQuoted))
		}
	}
	for _, name := range order {
		if known[name] {
			continue
		}
		if f.closed {
			return nil, fmt.Errorf("the field %q of the answer is not one of the form", label(name, maxQuoted))
		}
		out = raw.AppendMember(out, name, given[name])
	}
	return append(append([]byte{'{'}, out...), '}'), nil
}

// check says why a value does not fit the field. It does not show the value:
// that is a person's.
func (f *field) check(value []byte) error {
	switch f.kind {
	case "boolean":
		if s := string(value); s != "true" && s != "false" {
			return errors.New("is neither true nor false")
		}
	case "number", "integer":
		return f.checkNumber(value)
	case "array":
		return f.checkList(value)
	default:
		s, ok := raw.String(value)
		if !ok {
			return errors.New("is not a text")
		}
		return f.checkText(s)
	}
	return nil
}

func (f *field) checkNumber(value []byte) error {
	n, err := strconv.ParseFloat(string(value), 64)
	switch {
	case err != nil:
		return errors.New("is not a number")
	case f.kind == "integer" && n != float64(int64(n)):
		return errors.New("is not a whole number")
	case f.minimum != nil && n < *f.minimum:
		return fmt.Errorf("is less than %v", *f.minimum)
	case f.maximum != nil && n > *f.maximum:
		return fmt.Errorf("is more than %v", *f.maximum)
	case f.above != nil && n <= *f.above:
		return fmt.Errorf("is not more than %v", *f.above)
	case f.below != nil && n >= *f.below:
		return fmt.Errorf("is not less than %v", *f.below)
	}
	return nil
}

func (f *field) checkList(value []byte) error {
	if value[0] != '[' {
		return errors.New("is not a list")
	}
	seen := map[string]bool{}
	n := 0
	for element := range raw.Elements(value) {
		s, ok := raw.String(element)
		switch n++; {
		case !ok:
			return errors.New("has an element that is not a text")
		case f.choices != nil && !slices.Contains(f.choices, s):
			return errors.New("has an element that is not one of the choices")
		case f.unique && seen[s]:
			return errors.New("has an element twice")
		}
		seen[s] = true
	}
	switch {
	case f.minLength != nil && float64(n) < *f.minLength:
		return fmt.Errorf("has fewer than %v elements", *f.minLength)
	case f.maxLength != nil && float64(n) > *f.maxLength:
		return fmt.Errorf("has more than %v elements", *f.maxLength)
	}
	return nil
}

func (f *field) checkText(s string) error {
	n := float64(utf8.RuneCountInString(s))
	switch {
	case f.choices != nil && !slices.Contains(f.choices, s):
		return errors.New("is not one of the choices")
	case f.minLength != nil && n < *f.minLength:
		return fmt.Errorf("has fewer than %v characters", *f.minLength)
	case f.maxLength != nil && n > *f.maxLength:
		return fmt.Errorf("has more than %v characters", *f.maxLength)
	case f.pattern != nil && !f.pattern.MatchString(s):
		return errors.New("does not match the pattern")
	}
	var err error
	switch f.format {
	case "email":
		var a *mail.Address
		if a, err = mail.ParseAddress(s); err == nil && a.Address != s {
			err = errors.New("it has a name beside the address")
		}
	case "uri":
		var u *url.URL
		if u, err = url.Parse(s); err == nil && !u.IsAbs() {
			err = errors.New("it has no scheme")
		}
	case "date":
		_, err = time.Parse(time.DateOnly, s)
	case "date-time":
		_, err = time.Parse(time.RFC3339Nano, s)
	}
	if err != nil {
		return fmt.Errorf("is not of the format %s", f.format)
	}
	return nil
}
