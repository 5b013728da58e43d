package schematest

// This file makes instances of schemas, valid ones and some that are not.

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A maker makes instances of the schemas in one document. A schema guides it
// and nothing more: what it makes of odd ones need not be valid, and now and
// then it goes astray by intent.
type maker struct {
	*rand.Rand
	root object
}

// maxDepth is where instances of recursive schemas get no optional parts.
const maxDepth = 8

// instance makes a value for a schema. One of forty is anything at all, so that
// also what a schema leaves out is tried; so it is where a schema has no end.
func (m maker) instance(schema any, depth int) any {
	if depth > 2*maxDepth || m.IntN(40) == 0 {
		return m.scalar()
	}
	s := m.flat(schema, depth)
	if v, ok := s["const"]; ok && m.IntN(12) > 0 {
		return v
	}
	if list, _ := s["enum"].([]any); len(list) > 0 && m.IntN(12) > 0 {
		return list[m.IntN(len(list))]
	}
	switch m.kind(s) {
	case "object":
		return m.object(s, depth)
	case "array":
		return m.array(s, depth)
	case "string":
		return m.text(s)
	case "integer":
		return float64(int(m.number(s)))
	case "number":
		return m.number(s)
	case "boolean":
		return m.IntN(2) == 0
	case "null":
		return nil
	}
	return m.scalar()
}

// scalar is any small value, of each type that there is.
func (m maker) scalar() any {
	return []any{1.0, -1.5, 0.0, "a", "", true, false, nil, []any{}, object{}, []any{"a", 1.0}, object{"a": "b"}}[m.IntN(12)]
}

// flat puts the members together of all schemas that apply in place: the target
// of a reference, all of allOf, one of each union.
func (m maker) flat(schema any, depth int) object {
	s, _ := schema.(object)
	out := maps.Clone(s)
	if out == nil {
		return object{}
	}
	// A reference may lead to itself.
	if depth > 3*maxDepth {
		return out
	}
	add := func(other any) {
		for name, v := range m.flat(other, depth+1) {
			old, ok := out[name]
			switch {
			case !ok:
				out[name] = v
			case name == "properties":
				all, _ := v.(object)
				all = maps.Clone(all)
				mine, _ := old.(object)
				maps.Copy(all, mine)
				out[name] = all
			case name == "required":
				mine, _ := old.([]any)
				more, _ := v.([]any)
				out[name] = slices.Concat(mine, more)
			}
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		add(find(m.root, ref))
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[name].([]any)
		delete(out, name)
		if name != "allOf" && len(list) > 0 {
			i := m.IntN(len(list))
			list = list[i : i+1]
		}
		for _, branch := range list {
			add(branch)
		}
	}
	if m.IntN(2) == 0 {
		add(s["then"])
	}
	return out
}

// find follows a local reference. It is a JSON pointer (RFC 6901) in a fragment of
// a URL. What leads nowhere is nil, which asks for nothing.
func find(root object, ref string) any {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	pointer, _ = url.PathUnescape(pointer)
	var at any = root
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if token == "" {
			continue
		}
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch v := at.(type) {
		case object:
			at = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// kind chooses a type: one of those named, or that which the keywords are about, ""
// for any.
func (m maker) kind(s object) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			name, _ := t[m.IntN(len(t))].(string)
			return name
		}
	}
	switch {
	case s["properties"] != nil, s["required"] != nil:
		return "object"
	case s["items"] != nil, s["prefixItems"] != nil:
		return "array"
	}
	return ""
}

// object makes an object with all that is required, mostly, some of the rest, and
// now and then what nobody has named.
func (m maker) object(s object, depth int) object {
	out := object{}
	props, _ := s["properties"].(object)
	required := map[string]bool{}
	list, _ := s["required"].([]any)
	for _, name := range list {
		if name, ok := name.(string); ok && m.IntN(30) > 0 {
			required[name] = true
			out[name] = m.scalar() // unless it is a property
		}
	}
	often := 1 + len(props)/6 // the fewer, the more there are
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if required[name] || depth < maxDepth && m.IntN(often+1) == 0 {
			out[name] = m.instance(props[name], depth+1)
		}
	}
	additional, ok := s["additionalProperties"]
	switch {
	case depth >= maxDepth:
	case ok && additional != false:
		for _, name := range []string{"more", "extra"}[:m.IntN(3)] {
			out[name] = m.instance(additional, depth+1)
		}
	case m.IntN(12) == 0:
		out["extra"] = m.scalar()
	}
	return out
}

// array makes a list, in the spelling of tuples before 2020-12 or since then.
// Bounds may be hostile: it is never long.
func (m maker) array(s object, depth int) []any {
	prefix, _ := s["prefixItems"].([]any)
	rest := s["items"]
	if list, ok := rest.([]any); ok {
		prefix, rest = list, s["additionalItems"]
	}
	n := len(prefix) + m.IntN(3)
	if depth >= maxDepth {
		n = len(prefix)
	}
	n = int(min(max(float64(n), limit(s, "minItems", 0)), limit(s, "maxItems", 1e6)))
	out := []any{}
	for i := range min(n, 200) {
		item := rest
		if i < len(prefix) {
			item = prefix[i]
		}
		out = append(out, m.instance(item, depth+1))
	}
	return out
}

// limit returns the number that a keyword has, or another one without it.
func limit(s object, name string, without float64) float64 {
	if n, ok := s[name].(json.Number); ok {
		f, _ := n.Float64()
		return f
	}
	return without
}

// number makes a number within the bounds, mostly: beside them, and with a
// fraction, since that is where rewritten bounds go wrong.
func (m maker) number(s object) float64 {
	low := max(limit(s, "minimum", -5), limit(s, "exclusiveMinimum", -6)+1)
	high := min(limit(s, "maximum", low+20), limit(s, "exclusiveMaximum", low+21)-1)
	v := low + float64(m.IntN(int(max(high-low, 0))%1000+1))
	if step := limit(s, "multipleOf", 0); step >= 1 {
		v = float64(int(v/step)+1) * step
	}
	switch m.IntN(12) {
	case 0:
		return v + 0.5
	case 1:
		return -v - 1
	}
	return v
}

// samples are strings in the forms that formats and patterns ask for.
var samples = []string{
	"a", "abc", "1", "42", "a-b_c", "A1", "2026-01-02", "2026-01-02T03:04:05Z", "12:30", "x@example.test", "https://example.test/a?b=c",
	"0123456789abcdef01234567", "123e4567-e89b-12d3-a456-426614174000", "127.0.0.1", "#a1b2c3", "+15551234567", "a/b", "main.go", "AB", "USD", "",
}

// text makes a string. None is made of a pattern: samples are tried until one
// matches, and if none does, the original refuses the instance and it is not
// compared.
func (m maker) text(s object) string {
	least := int(min(limit(s, "minLength", 0), 5000))
	text := samples[m.IntN(len(samples))]
	if pattern, ok := s["pattern"].(string); ok {
		if re, err := regexp.Compile(pattern); err == nil {
			for range 40 {
				if re.MatchString(text) && len(text) >= least {
					break
				}
				text = samples[m.IntN(len(samples))]
			}
			return text
		}
	}
	if len(text) < least && m.IntN(12) > 0 {
		text += strings.Repeat("x", least-len(text))
	}
	if most := limit(s, "maxLength", 1e6); float64(len(text)) > most && m.IntN(12) > 0 {
		text = text[:int(max(most, 0))]
	}
	return text
}
