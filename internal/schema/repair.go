package schema

// This file repairs arguments. It changes what is certainly meant otherwise and
// keeps all other bytes; whether arguments are right is for the server to say.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// Repair returns the arguments as the server takes them. Nothing, white space
// and null are an object without members, and so is a string of nothing else; a
// string that holds an object is that object. In the object:
//
//   - A string where the schema allows none is decoded, where it is the text of
//     an object, array, number, integer or boolean that is allowed.
//   - A number such as 3.0 loses its fraction where only integers are allowed.
//   - A property that is null, not required and not allowed to be is left out.
//   - A renamed property has its own name again.
//   - Bytes that are not UTF-8 and lone surrogates are U+FFFD.
//
// All else keeps its bytes. Where there is nothing to repair, the result is a
// part of arguments and nothing is allocated after a first call.
//
// An error is for the model: it says what is wrong with the arguments and which
// parameters are expected, in at most about 2 KiB.
//
// The context can end the reading of the schema at a first call, as what it is the
// error then is.
func (p *Plan) Repair(ctx context.Context, arguments []byte) (json.RawMessage, error) {
	shape, err := p.shape(ctx)
	if err != nil {
		return nil, err
	}
	// OpenAI gives arguments as a string, at times an empty one.
	arguments = bytes.Trim(arguments, " \t\r\n")
	if raw.Null(arguments) {
		return json.RawMessage("{}"), nil
	}
	// Some models write the object as JSON within JSON.
	if arguments[0] == '"' && raw.Valid(arguments) {
		inner := bytes.Trim(raw.AppendString(nil, arguments), " \t\r\n")
		if len(inner) == 0 {
			return json.RawMessage("{}"), nil
		}
		if inner[0] != '{' {
			return nil, shape.refuse("they are " + article(isString) + ", not an object")
		}
		arguments = inner
	}
	// All below recurses by depth and trusts the text to be JSON.
	end, err := raw.ScanUpTo(arguments, maxNesting)
	if err == nil && raw.HasNaN(arguments[:end]) {
		err = raw.ErrSyntax
	}
	if err != nil {
		return nil, shape.refuse(err.Error())
	}
	if end < len(arguments) {
		return nil, shape.refuse("there is more text after the JSON value")
	}
	if t := typeOfText(arguments); t != isObject {
		return nil, shape.refuse("they are " + article(t) + ", not an object")
	}
	arguments = raw.Repair(arguments)
	r := repairer{data: arguments}
	top := shape
	// A plan that says that arguments are not objects is wrong about something.
	if top == nil || top.allowed&isObject == 0 {
		top = &nothing
	}
	r.object(0, top, 0)
	// Readers differ in which of the two counts, and so might what a host checked and what the
	// server does.
	if r.twice != nil {
		return nil, shape.refuse(fmt.Sprintf("the key %q is there twice", briefly(string(r.twice), maxName)))
	}
	if len(r.edits) == 0 {
		return arguments, nil
	}
	out := r.apply()
	// Strings that were decoded nest within one another.
	if r.decoded && !readable(out) { // nested too deeply, together
		return arguments, nil
	}
	return out, nil
}

var nothing shape // says nothing about any property

func (s *shape) refuse(reason string) error {
	return errors.New("reading the arguments: " + reason + "; " + s.expected())
}

// A repairer collects the edits to arguments, in order. The bytes are copied once, at
// the end: most arguments need no edit and no copy.
type repairer struct {
	data    []byte
	edits   []edit
	twice   []byte // a key that an object has twice
	decoded bool   // a string became another value
}

type edit struct {
	start, end int // in the data; no two edits overlap
	text       []byte
}

// apply returns the data with all edits made.
func (r *repairer) apply() []byte {
	out := make([]byte, 0, len(r.data)+64)
	at := 0
	for _, e := range r.edits {
		out = append(append(out, r.data[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, r.data[at:]...)
}

// space returns where the white space at a place ends. There may be some: models indent.
func (r *repairer) space(at int) int {
	for at < len(r.data) && strings.IndexByte(" \t\r\n", r.data[at]) >= 0 {
		at++
	}
	return at
}

// value passes the value at at and returns where it ends. depth counts the
// values around it, strings that were decoded among them.
func (r *repairer) value(at int, s *shape, depth int) (end int) {
	c := r.data[at]
	if t := typeOf(c, ""); t&(isObject|isArray) != 0 && depth < maxNesting {
		if s == nil || s.allowed&t == 0 {
			s = &nothing
		}
		if t == isObject {
			return r.object(at, s, depth)
		}
		return r.array(at, s, depth)
	}
	// The text was checked, so this never fails; if it did, nothing more would be changed.
	n, err := raw.Scan(r.data[at:])
	if err != nil {
		return len(r.data)
	}
	end = at + n
	if s == nil {
		return end
	}
	switch text := r.data[at:end]; {
	case c == '"' && s.allowed&isString == 0:
		if decoded := decode(text, s, depth); decoded != nil {
			r.edits = append(r.edits, edit{at, end, decoded})
			r.decoded = true
		}
	case (c == '-' || c >= '0' && c <= '9') && s.allowed&(isInteger|isNumber) == isInteger:
		// Models write 3.0 for 3, which servers in typed languages refuse. A negative
		// zero would become another number.
		if whole, fraction, ok := bytes.Cut(text, []byte(".")); ok && len(bytes.Trim(fraction, "0")) == 0 && string(whole) != "-0" {
			r.edits = append(r.edits, edit{at + len(whole), end, nil})
		}
	}
	return end
}

// decode returns the value that the string is the text of, nil when it is not certain
// that the value is meant. Only what can be nothing else is decoded: a string that the
// schema allows stays one, even if it looks like a number.
func decode(text []byte, s *shape, depth int) []byte {
	inner := raw.AppendString(nil, text)
	if len(inner) == 0 {
		return nil
	}
	switch c := inner[0]; {
	case c == 't' || c == 'f':
		if s.allowed&isBoolean != 0 && (string(inner) == "true" || string(inner) == "false") {
			return inner
		}
		return nil
	case c == '-' || c >= '0' && c <= '9':
		t := typeOfText(inner)
		// Whether "1e2" or "3.0" is meant for an integer is not certain.
		if s.allowed&(isInteger|isNumber) == isInteger && bytes.ContainsAny(inner, ".eE") {
			return nil
		}
		if s.allowed&t == 0 || !raw.Valid(inner) || inner[len(inner)-1] == ' ' {
			return nil
		}
		if c := inner[len(inner)-1]; c < '0' || c > '9' {
			return nil // white space follows
		}
		return inner
	}
	inner = bytes.Trim(inner, " \t\r\n")
	if len(inner) == 0 {
		return nil
	}
	switch t := typeOfText(inner); {
	case t&(isObject|isArray) == 0 || s.allowed&t == 0 || inner[0] != '{' && inner[0] != '[':
		return nil
	case !readable(inner):
		return nil
	}
	// The value is repaired by the same shape, a level deeper: a string in a string in a
	// string is bounded as lists are.
	nested := repairer{data: raw.Repair(inner)}
	nested.value(0, s, depth+1)
	if len(nested.edits) == 0 {
		return nested.data
	}
	return nested.apply()
}

// readable reports whether text is one JSON value as arguments may be.
func readable(text []byte) bool {
	end, err := raw.ScanUpTo(text, maxNesting)
	return err == nil && end == len(text) && !raw.HasNaN(text)
}

// array passes the array at a place and returns where it ends.
func (r *repairer) array(at int, s *shape, depth int) (end int) {
	at = r.space(at + 1)
	for i := 0; at < len(r.data) && r.data[at] != ']'; i++ {
		sub := s.items
		if i < len(s.prefix) {
			sub = s.prefix[i]
		}
		if at = r.space(r.value(at, sub, depth+1)); at < len(r.data) && r.data[at] == ',' {
			at = r.space(at + 1)
		}
	}
	return at + 1
}

// object passes the object at a place and returns where it ends. A plan without a word about
// its properties still has it look for keys that are there twice.
func (r *repairer) object(at int, s *shape, depth int) (end int) {
	var few [fewNames][]byte
	keys := few[:0]
	var names, aliases []*property // those that have an alias, as they were called
	var renames []int              // the edits of aliases
	at = r.space(at + 1)
	kept, mark := at, len(r.edits) // where the last kept member ends, and the edits up to there
	for at < len(r.data) && r.data[at] == '"' {
		start := at
		n, _ := raw.Scan(r.data[at:])
		at += n
		key := r.data[start+1 : at-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = raw.AppendString(nil, r.data[start:at])
		}
		keys = append(keys, key)
		keyEnd := at
		at = r.space(r.space(at) + 1) // past the colon
		p := s.find(key)
		sub := s.rest
		if p != nil {
			sub = p.shape
		}
		// Models write null for what they leave out, which servers in typed languages refuse.
		// What may be required, or may be null, stays.
		dropped := p != nil && !p.required && sub != nil && sub.allowed&isNull == 0 && bytes.HasPrefix(r.data[at:], []byte("null"))
		switch {
		case p == nil || p.alias == "":
		case string(key) != p.alias:
			names = append(names, p)
		default:
			aliases = append(aliases, p)
			if !dropped {
				renames = append(renames, len(r.edits))
				r.edits = append(r.edits, edit{start, keyEnd, raw.AppendQuote(nil, p.name)})
			}
		}
		at = r.value(at, sub, depth+1)
		valueEnd := at
		if at = r.space(at); at < len(r.data) && r.data[at] == ',' {
			at = r.space(at + 1)
			if dropped {
				r.edits = append(r.edits, edit{start, at, nil})
			}
		} else if dropped {
			// The last one: with the comma before it, and with those before it
			// that are gone too.
			r.edits = append(r.edits[:mark], edit{kept, valueEnd, nil})
		}
		if !dropped {
			kept, mark = valueEnd, len(r.edits)
		}
	}
	if meet(names, aliases) {
		// A property by its name and by its alias: an alias is a name of its own.
		for _, i := range renames {
			r.edits[i].end, r.edits[i].text = r.edits[i].start, nil
		}
	}
	if r.twice == nil {
		r.twice = repeated(keys)
	}
	return at + 1
}

// meet reports whether the lists have a property in common.
func meet(names, aliases []*property) bool {
	if len(names) == 0 || len(aliases) == 0 {
		return false
	}
	known := make(map[*property]bool, len(names))
	for _, p := range names {
		known[p] = true
	}
	return slices.ContainsFunc(aliases, func(p *property) bool { return known[p] })
}

// repeated returns the first key that is in the list before, nil without one. Few keys
// are compared in pairs without allocating; many would take the square of their
// number.
func repeated(keys [][]byte) []byte {
	if len(keys) > fewNames {
		seen := make(map[string]struct{}, len(keys))
		for i, key := range keys {
			if seen[string(key)] = struct{}{}; len(seen) == i {
				return key
			}
		}
		return nil
	}
	for i, key := range keys {
		for _, other := range keys[:i] {
			if bytes.Equal(key, other) {
				return key
			}
		}
	}
	return nil
}
