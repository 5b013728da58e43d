package streamable

// This file repeats arguments of a call in headers, for gateways that do not
// read bodies (protocol 2026-07-28, x-mcp-header in a tool's schema).

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// Bounds of what a schema may ask for. A server that reads headers takes a few
// kilobytes of them.
const (
	maxParams     = 1000
	maxParamName  = 256
	maxParamDepth = 500 // schemas and their properties nest twice as deep
)

// Params are the arguments that calls of one tool repeat in parameter headers,
// Mcp-Param-*: a tree of the properties that lead to them. Nil has none.
type Params struct {
	header string             // of the argument itself, "" without one
	inside map[string]*Params // by property; nil where none leads to a header
}

// ReadParams returns what the schema, JSON that [raw.Scan] accepted, wants
// repeated, nil where that is nothing. On an error the tool must not be used:
// the specification says so, since a gateway might decide on a header that the
// server does not mean.
func ReadParams(schema []byte) (*Params, error) {
	if !bytes.Contains(schema, []byte("x-mcp-header")) {
		return nil, nil
	}
	r := paramReader{cursor: raw.Read(schema), seen: map[string]bool{}}
	root := &Params{}
	_, _ = r.schema(root)
	if r.err != nil || root.inside == nil {
		return nil, r.err
	}
	return root, nil
}

// A paramReader goes over a schema once, however deep it is.
type paramReader struct {
	cursor *raw.Cursor
	path   []string // of the property at hand
	seen   map[string]bool
	err    error // the first
}

// fail notes the first error: it is about the place that is read now.
func (r *paramReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// schema notes in p what is asked for inside the schema at hand, and returns
// what it asks for itself.
func (r *paramReader) schema(p *Params) (header, kind []byte) {
	for name := range r.cursor.Object() {
		switch string(name) {
		case "x-mcp-header":
			header = r.cursor.Value()
		case "type":
			kind = r.cursor.Value()
		case "properties":
			p.inside = nil // of duplicates the last one counts
			r.properties(p)
		}
		if r.err != nil {
			break
		}
	}
	return header, kind
}

// properties notes what the properties of the schema at hand ask for. It calls
// schema, which calls it, no deeper than maxParamDepth.
func (r *paramReader) properties(p *Params) {
	if len(r.path) >= maxParamDepth {
		return
	}
	for name := range r.cursor.Object() {
		r.path = append(r.path, string(name))
		inner := &Params{}
		header, kind := r.schema(inner)
		if header != nil {
			inner.header = r.header(header, kind)
		}
		r.path = r.path[:len(r.path)-1]
		switch {
		case r.err != nil:
			return
		case inner.header == "" && inner.inside == nil:
			delete(p.inside, string(name))
		default:
			if p.inside == nil {
				p.inside = map[string]*Params{}
			}
			p.inside[string(name)] = inner
		}
	}
}

// header returns the header for the property at hand.
func (r *paramReader) header(value, kind []byte) string {
	name, _ := raw.String(value)
	lower := strings.ToLower(name)
	switch {
	case !IsHeaderName(name) || len(name) > maxParamName:
		r.fail("the x-mcp-header of its property %q is not a header name", r.property())
	case r.seen[lower]:
		r.fail("two of its properties have the x-mcp-header %q", name)
	case !isPrimitive(kind):
		r.fail("its property %q has an x-mcp-header but is not a string, integer or boolean", r.property())
	case len(r.seen) == maxParams:
		r.fail("more than %d of its properties have an x-mcp-header", maxParams)
	}
	r.seen[lower] = true
	return http.CanonicalHeaderKey("Mcp-Param-" + name)
}

// property names the property at hand, in a few words.
func (r *paramReader) property() string {
	const most = 200
	var path []byte
	for i, name := range r.path {
		if i > 0 {
			path = append(path, '.')
		}
		if path = append(path, name...); len(path) > most {
			return strings.ToValidUTF8(string(path[:most]), "") + "…"
		}
	}
	return string(path)
}

// IsHeaderName reports whether name is a token as of RFC 9110, section 5.6.2.
func IsHeaderName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := (c|' ')-'a' < 26
		if !letter && c-'0' >= 10 && strings.IndexByte("_-!#$%&'*+.^`|~", c) < 0 {
			return false
		}
	}
	return name != ""
}

// isPrimitive reports whether a schema's type is one that a header may carry.
// Number is none, since its text is not the same everywhere.
func isPrimitive(kind []byte) bool {
	switch string(kind) {
	case `"string"`, `"integer"`, `"boolean"`:
		return true
	}
	return false
}

// Header returns the headers that repeat arguments, a JSON object, of one call.
// It is nil for nil Params.
func (p *Params) Header(arguments []byte) http.Header {
	if p == nil {
		return nil
	}
	header := http.Header{}
	p.add(header, raw.Read(arguments))
	return header
}

// add goes no deeper than the schema does.
func (p *Params) add(header http.Header, c *raw.Cursor) {
	for name := range c.Object() {
		inner := p.inside[string(name)]
		if inner == nil {
			continue
		}
		if inner.header == "" {
			inner.add(header, c)
			continue
		}
		// One with a header is a string, an integer or a boolean; for any other
		// value there is no header.
		if text, ok := paramText(c.Value()); ok {
			header[inner.header] = []string{HeaderValue(text)}
		} else {
			delete(header, inner.header)
		}
	}
}

// paramText returns a value as a header has it; ok is false for what has no header.
func paramText(value []byte) (text string, ok bool) {
	if raw.Null(value) {
		return "", false
	}
	switch value[0] {
	case '"':
		return raw.String(value)
	case '{', '[':
		return "", false
	case 't', 'f':
		return string(value), true
	}
	// 1e3 and 1.0 are whole numbers, too, and a server compares them as such.
	const maxSafe = 1<<53 - 1
	if f, err := strconv.ParseFloat(string(value), 64); err == nil && f >= -maxSafe && f <= maxSafe && f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10), true
	}
	return string(value), true
}
