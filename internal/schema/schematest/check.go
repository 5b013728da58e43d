// Package schematest checks schemas against the rules of the providers' JSON
// Schema entries in non-strict mode.
package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
)

// Check reports what a provider would refuse in the schema as test errors. It
// returns whether there was nothing.
func Check(t testing.TB, schema []byte) bool {
	t.Helper()
	problems := Problems(schema)
	return assert.Empty(t, problems, "%s", schema)
}

// Problems lists what a provider would refuse in the schema. Most rules have a
// provider behind them that refuses the whole request, and so all tools, for one at
// fault; the others are promises of the package, such as no white space. What a
// provider merely ignores is no problem. It is written apart from the package it
// checks, with maps and recursion, so that the two do not share a fault.
func Problems(schema []byte) []string {
	var c checker
	var compact bytes.Buffer
	if err := json.Compact(&compact, schema); err != nil {
		return []string{err.Error()}
	}
	if !bytes.Equal(compact.Bytes(), schema) {
		c.add("root", "has white space")
	}
	root, ok := decode(schema).(object)
	if !ok {
		return []string{"the root is not an object"}
	}
	// Bytes count: tools that differ in white space are other tools to a cache of
	// prompts.
	c.root(root)
	c.schema("root", root, 1, 0)
	// Another reader of JSON Schema must be able to use it: the rules here do not
	// know all that is wrong.
	parsed := new(jsonschema.Schema)
	if err := json.Unmarshal(schema, parsed); err != nil {
		c.add("root", "is not read: %v", err)
	} else if _, err := parsed.Resolve(nil); err != nil {
		c.add("root", "does not resolve: %v", err)
	}
	return c.problems
}

type object = map[string]any

type checker struct{ problems []string }

// add notes a problem, with the path of the schema that it is in.
func (c *checker) add(at, format string, args ...any) {
	c.problems = append(c.problems, at+": "+fmt.Sprintf(format, args...))
}

// decode keeps numbers as they are written: 1 and 1.0 are the same float64, and a
// bound may have more digits than one has. It returns nil for what is not JSON.
func decode(schema []byte) any {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// root: OpenAI and Anthropic refuse other roots, and xAI and Bedrock $schema.
func (c *checker) root(root object) {
	if root["type"] != "object" {
		c.add("root", "has type %v", root["type"])
	}
	if _, ok := root["properties"].(object); !ok {
		c.add("root", "has no properties")
	}
	for _, name := range []string{
		"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas", "enum", "const", "$schema", "$id", "$anchor", "$comment",
	} {
		if _, ok := root[name]; ok {
			c.add("root", "has %s", name)
		}
	}
}

var (
	// Anthropic's and Gemini's rules for property names, together.
	propertyName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`)
	nestedClass  = regexp.MustCompile(`\[(?:[^\]\\]|\\.)*\[`)
	typeNames    = []string{"null", "boolean", "integer", "number", "string", "array", "object"}
)

const (
	maxLevels = 10 // OpenAI's
	// Unions in unions do not make arguments deeper, but those who read them
	// recurse.
	maxInPlace = 8
)

// schema checks a schema and all in it. level counts objects and lists around it,
// as the limit of a provider does; inPlace counts how many schemas it is in that
// apply to the same value, as in anyOf, since the last level.
func (c *checker) schema(at string, s object, level, inPlace int) {
	if len(s) == 0 {
		return
	}
	if level > maxLevels || inPlace > maxInPlace {
		c.add(at, "is at level %d, %d in place", level, inPlace)
	}
	for _, name := range []string{
		// Not every provider reads these, or these forms.
		"$ref", "$defs", "definitions", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$id", "$anchor", "$schema",
		"additionalItems", "dependencies", "nullable",
	} {
		if _, ok := s[name]; ok {
			c.add(at, "has %s", name)
		}
	}
	types := c.types(at, s)
	if slices.Contains(types, "array") && s["items"] == nil {
		c.add(at, "has no items") // OpenAI, Gemini
	}
	c.numbers(at, s)
	c.values(at, s, types)
	c.strings(at, s)
	c.properties(at, s, level)
	for _, name := range []string{"items", "contains", "propertyNames", "contentSchema", "unevaluatedProperties", "unevaluatedItems"} {
		c.one(at, s, name, level+1, 0)
	}
	for _, name := range []string{"not", "if", "then", "else"} {
		c.one(at, s, name, level, inPlace+1)
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		c.list(at, s, name, level, inPlace+1)
	}
	c.list(at, s, "prefixItems", level+1, 0)
	c.named(at, s, "patternProperties", level+1, 0)
	c.named(at, s, "dependentSchemas", level, inPlace+1)
	// Here alone a schema may be true or false, which is how it is mostly written.
	if b, ok := s["additionalProperties"]; ok {
		if _, isBool := b.(bool); !isBool {
			c.one(at, s, "additionalProperties", level+1, 0)
		}
	}
}

// types checks the type, and returns the names in it: none if any value may be
// meant.
func (c *checker) types(at string, s object) []string {
	v, ok := s["type"]
	if !ok {
		return nil
	}
	var list []string
	switch v := v.(type) {
	case string:
		list = []string{v}
	case []any:
		for _, item := range v {
			name, _ := item.(string)
			if slices.Contains(list, name) {
				c.add(at, "has type %s twice", name)
			}
			list = append(list, name)
		}
	}
	for _, name := range list {
		if !slices.Contains(typeNames, name) {
			c.add(at, "has type %q", name)
		}
	}
	if len(list) == 0 {
		c.add(at, "has type %v", v)
	}
	return list
}

// numbers checks keywords that have numbers. Bounds that are true or false are of
// draft 4; a step of zero divides by it, and no text has a length below zero.
func (c *checker) numbers(at string, s object) {
	for _, name := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		if v, ok := s[name]; ok {
			if _, ok := v.(json.Number); !ok {
				c.add(at, "has %s %v", name, v) // Anthropic: boolean bounds
			}
		}
	}
	if step, ok := s["multipleOf"].(json.Number); ok {
		if f, err := step.Float64(); err != nil || f <= 0 {
			c.add(at, "has multipleOf %s", step)
		}
	}
	for _, name := range []string{"minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties"} {
		if v, ok := s[name]; ok {
			if n, ok := v.(json.Number); !ok || strings.HasPrefix(string(n), "-") && strings.Trim(string(n), "-0.") != "" {
				c.add(at, "has %s %v", name, v)
			}
		}
	}
}

// values checks keywords that have values in them. One that the type beside it
// excludes could never be sent, and misleads a model.
func (c *checker) values(at string, s object, types []string) {
	if v, ok := s["enum"]; ok {
		list, _ := v.([]any)
		if len(list) == 0 {
			c.add(at, "has enum %v", v)
		}
		seen := map[string]bool{}
		for _, item := range list {
			text, _ := json.Marshal(item)
			if seen[string(text)] {
				c.add(at, "has %s twice in its enum", text)
			}
			seen[string(text)] = true
			if !fits(item, types) {
				c.add(at, "has enum value %s, which its type excludes", text)
			}
		}
	}
	for _, name := range []string{"default", "const"} {
		if v, ok := s[name]; ok && !fits(v, types) {
			c.add(at, "has %s %v, which its type excludes", name, v)
		}
	}
	dependent, _ := s["dependentRequired"].(object)
	for name, list := range dependent {
		seen := map[string]bool{}
		names, ok := list.([]any)
		for _, item := range names {
			text, isText := item.(string)
			ok = ok && isText && !seen[text]
			seen[text] = true
		}
		if !ok {
			c.add(at, "has dependentRequired %s: %v", name, list)
		}
	}
	if v, ok := s["examples"]; ok {
		if _, ok := v.([]any); !ok {
			c.add(at, "has examples %v", v)
		}
	}
}

// fits reports whether a value is of one of the types. An integer may be written
// with zeros behind the point; what has an exponent gets the benefit of the doubt.
func fits(v any, types []string) bool {
	if len(types) == 0 {
		return true
	}
	name := ""
	switch v := v.(type) {
	case nil:
		name = "null"
	case bool:
		name = "boolean"
	case string:
		name = "string"
	case []any:
		name = "array"
	case object:
		name = "object"
	case json.Number:
		if slices.Contains(types, "number") {
			return true
		}
		whole, fraction, _ := strings.Cut(string(v), ".")
		name = "integer"
		if strings.Trim(fraction, "0") != "" && !strings.ContainsAny(whole+fraction, "eE") {
			name = "number"
		}
	}
	return slices.Contains(types, name)
}

// strings checks keywords that have texts. A pattern must be read by engines of
// several languages: by RE2, and by those that take a bracket within a class for a
// class of its own.
func (c *checker) strings(at string, s object) {
	for _, name := range []string{"title", "description", "format", "pattern", "contentEncoding", "contentMediaType"} {
		if v, ok := s[name]; ok {
			if _, ok := v.(string); !ok {
				c.add(at, "has %s %v", name, v)
			}
		}
	}
	if pattern, ok := s["pattern"].(string); ok {
		if _, err := regexp.Compile(pattern); err != nil || nestedClass.MatchString(strings.ReplaceAll(pattern, `\[`, "")) {
			c.add(at, "has pattern %s", pattern)
		}
	}
}

// properties checks the names of properties, and that each that is required is
// there, once.
func (c *checker) properties(at string, s object, level int) {
	c.named(at, s, "properties", level+1, 0)
	props, _ := s["properties"].(object)
	for name := range props {
		if !propertyName.MatchString(name) {
			c.add(at, "has property %q", name)
		}
	}
	v, ok := s["required"]
	if !ok {
		return
	}
	list, ok := v.([]any)
	if !ok {
		c.add(at, "has required %v", v)
	}
	seen := map[string]bool{}
	for _, item := range list {
		name, ok := item.(string)
		if _, known := props[name]; !ok || !known || seen[name] {
			c.add(at, "requires %v", item)
		}
		seen[name] = true
	}
}

// one checks the schema that a keyword has, if it is there.
func (c *checker) one(at string, s object, name string, level, inPlace int) {
	if v, ok := s[name]; ok {
		c.sub(at+"."+name, v, level, inPlace)
	}
}

// sub checks what must be a schema. true and false are schemas as well to JSON
// Schema, but not to each provider.
func (c *checker) sub(at string, v any, level, inPlace int) {
	s, ok := v.(object)
	if !ok {
		c.add(at, "is no schema in the form of an object")
		return
	}
	c.schema(at, s, level, inPlace)
}

// list checks a keyword that has a list of schemas, which must not be empty (JSON
// Schema 2020-12, section 10.2.1).
func (c *checker) list(at string, s object, name string, level, inPlace int) {
	v, ok := s[name]
	if !ok {
		return
	}
	list, _ := v.([]any)
	if len(list) == 0 {
		c.add(at, "has %s %v", name, v)
	}
	for i, item := range list {
		c.sub(fmt.Sprintf("%s.%s[%d]", at, name, i), item, level, inPlace)
	}
}

// named checks a keyword that has schemas by names.
func (c *checker) named(at string, s object, name string, level, inPlace int) {
	v, ok := s[name]
	if !ok {
		return
	}
	subs, ok := v.(object)
	if !ok {
		c.add(at, "has %s %v", name, v)
	}
	for key, sub := range subs {
		c.sub(at+"."+name+"."+key, sub, level, inPlace)
	}
}
