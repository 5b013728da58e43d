// Package schema gives the input schemas of tools the form that every
// provider's JSON Schema entry takes in non-strict mode, and gives the
// arguments that models write the form that servers expect.
//
// A normal schema accepts whatever the server's own schema accepts, renamed
// properties apart, and those that the matching branch of a root union does not
// name. What it cannot express becomes an English sentence, a clause, at the end
// of the description there. The rules, which the code cites by number:
//
//  1. The root has type object and properties, and none of $schema, $id,
//     $anchor, $comment.
//  2. The root has no other schema in place: allOf is merged, anyOf and oneOf
//     become the union of their properties and the intersection of what they
//     require; not, if, dependentSchemas, enum and const become clauses.
//  3. Local references are inlined, recursive ones until they repeat; what is
//     beyond the size bound becomes generic. Others are unconstrained.
//  4. Schemas nest at most 10 levels, the root counted. A level is a part of
//     the value: a property, an item. Below, and past 8 schemas in place within
//     one another, they become generic.
//  5. Older drafts become 2020-12, and types that are near one become it.
//  6. Arrays have items; there are no boolean schemas but additionalProperties.
//  7. What is required is distinct, a string and a property.
//  8. Lists of values are distinct, not empty, and of the declared types; so
//     are defaults. Keywords with values of a wrong kind are gone.
//  9. Patterns are those that every engine takes.
//  10. Properties have names that every provider takes.
//  11. Whether a name is a keyword or a parameter depends on where it is, never
//     on the name.
//
// A change that widens a schema narrows what is around it in some places: under
// not, if, contains, and in a branch of oneOf. So each pass says whether it
// widened, and those are dropped, or made an anyOf.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

const (
	maxLevels  = 10
	maxInPlace = 8
	maxChain   = 32   // references that lead to one another
	maxNesting = 1000 // of JSON text that the passes recurse over

	// A normal schema has at most maxGrowth times the bytes of its original,
	// and maxExtra more.
	maxGrowth = 8
	maxExtra  = 16 << 10
)

// A Normalizer makes schemas normal. The zero value is ready to use.
type Normalizer struct {
	// Clean returns a title or description without what a model must not see.
	// It must not change what it returned itself. It is not called for text of
	// plain ASCII without escapes other than those of line ends, tabs, quotes
	// and slashes. Nil keeps all text.
	Clean func(string) string
}

// Normalize is [Normalizer.Normalize] without cleaning.
func Normalize(schema []byte) (out json.RawMessage, plan *Plan, err error) {
	return Normalizer{}.Normalize(schema)
}

// Read is Normalize for the schema that data, text that [raw.Scan] went over,
// starts with, where that has next to no work: where the schema is normal but
// for what rule 1 takes from the root, and has nothing for [raw.Repair]. It
// returns copies of the schema and of its normal form, which may be one, and
// its length in data; n is 0 for all other schemas.
func (z Normalizer) Read(data []byte) (schema, out json.RawMessage, plan *Plan, n int) {
	n, normal, plain := z.normal(data)
	if n == 0 || !plain && &raw.Repair(data[:n])[0] != &data[0] {
		return nil, nil, nil, 0
	}
	schema = bytes.Clone(data[:n])
	if out = normal; &normal[0] == &data[0] {
		out = schema
	}
	return schema, out, newPlan(out, nil), n
}

// Normalize returns the normal form of an input schema and the plan for the
// arguments. The schema is JSON that [raw.Scan] and [raw.Repair] went over; nil,
// null, true and the empty list, as which PHP writes an empty object, are the
// schema of a tool without parameters.
//
// A schema that is normal already, but for what rule 1 takes from the root,
// keeps its other bytes, white space between them apart. It is returned as it is
// when there is nothing to cut, else as a copy. Normalizing
// the result again changes nothing. The plan reads the schema later, so its
// bytes must stay as they are.
//
// An error says why the schema is none for arguments, such as "its input schema
// is an array".
func (z Normalizer) Normalize(schema []byte) (out json.RawMessage, plan *Plan, err error) {
	if out = z.asNormal(schema); out != nil {
		return out, newPlan(schema, nil), nil
	}
	if _, err := raw.ScanUpTo(schema, maxNesting); err == raw.ErrDepth {
		return json.RawMessage(giveUp), nil, nil
	}
	if schema = raw.Repair(schema); raw.Valid(schema) {
		if short := raw.Compact(schema); len(short) < len(schema) {
			return z.Normalize(short)
		}
	}
	schema = bytes.TrimSpace(schema)
	if raw.Null(schema) || string(schema) == "true" || string(schema) == "[]" {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil, nil
	}
	if !raw.Valid(schema) {
		return nil, nil, errors.New("its input schema is not JSON")
	}
	switch t := typeOfText(schema); t {
	case isObject:
	case isBoolean:
		return nil, nil, errNoObject
	default:
		return nil, nil, errors.New("its input schema is " + article(t))
	}
	var names *renaming
	limit := maxGrowth*len(schema) + maxExtra
	for _, quiet := range []bool{false, true} {
		out, names, err = z.rewrite(schema, quiet)
		if err != nil {
			return nil, nil, err
		}
		// What one rule makes may be work for another, rarely.
		for range 3 {
			if len(out) > limit {
				break
			}
			if bytes.Equal(z.asNormal(out), out) {
				return out, newPlan(schema, names), nil
			}
			again, _, err := z.rewrite(out, quiet)
			if err != nil {
				return nil, nil, err
			}
			if bytes.Equal(again, out) {
				return out, newPlan(schema, names), nil
			}
			out = again
		}
	}
	return json.RawMessage(giveUp), newPlan(schema, nil), nil
}

// giveUp stands for a schema that no pass made normal; none is known.
const giveUp = `{"type":"object","properties":{},"description":"The parameters cannot be described."}`

// rewrite goes over the schema once. A quiet one says no clauses and keeps no
// references, for schemas whose normal form would be too large.
func (z Normalizer) rewrite(schema []byte, quiet bool) (json.RawMessage, *renaming, error) {
	n := parse(schema)
	w := rewriter{doc: newDocument(n), clean: z.Clean, quiet: quiet}
	if !quiet {
		w.left = maxGrowth/2*len(schema) + maxExtra/2
	}
	if bytes.Contains(schema, []byte("ef")) || bytes.IndexByte(schema, '\\') >= 0 {
		w.active = append(w.active, n)
		n = w.expand(n, n, 1, 0)
		for _, name := range w.doc.holders {
			n.take(name)
		}
	}
	w.names = newRenaming(n)
	n, err := w.root(n)
	if err != nil {
		return nil, nil, err
	}
	w.fix(n, 1, 0)
	return n.append(make([]byte, 0, len(schema)+len(schema)/4)), w.names, nil
}

// A rewriter is one run over one schema.
type rewriter struct {
	doc    *document
	clean  func(string) string
	names  *renaming // nil when all names are legal
	quiet  bool
	left   int     // bytes that may still be copied; references become generic when none are left
	active []*node // the targets of the references that are being expanded
}

// say adds a clause to the schema's description.
func (w *rewriter) say(n *node, clause string) {
	if w.quiet || n.said > maxSaid {
		return
	}
	description := n.get("description").string()
	if strings.Contains(description, clause) {
		return
	}
	if n.said += len(clause); n.said > maxSaid {
		clause = "There are more rules than these."
	}
	if description != "" {
		clause = description + " " + clause
	}
	n.set("description", newString(clause))
}

// maxSaid bounds the clauses of one schema.
const maxSaid = 4 << 10

// clauseDeep is said where a schema became generic.
const clauseDeep = "Its inner structure is left out."

// briefly cuts s to about limit bytes.
func briefly(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
