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
//  3. Local references are inlined. In a recursion each schema is written out
//     once along the way, or beside it where that is further up; what repeats
//     it, and what is beyond the size bound, becomes generic. Other references
//     are unconstrained.
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
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed94b59a13/mcp/internal/raw"
)

const (
	// OpenAI documents 10 levels for strict schemas; Gemini refuses deep ones without naming a
	// number.
	maxLevels = 10
	// A chain of anyOf makes no level, so it is bounded apart.
	maxInPlace = 8
	// What a pass makes may be work for the next one, and the result must be stable.
	maxPasses = 4

	// A normal schema has at most maxGrowth times the bytes of its original, and
	// maxExtra more: references to one definition multiply it, and a model gets the
	// schema with each request.
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

	// Budget bounds what all schemas of a listing cost. Nil bounds each alone.
	Budget *Budget

	// Warn is called with what there is to say of a schema that is not read as it
	// is written, to follow the words "its input schema". Nil says nothing.
	Warn func(reason string)
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
	// How long the schema is shows when it is read: until then the meter has room for the
	// longest, and is cut to its length after.
	p := begin(z.context(), z.Budget, maxSchema)
	defer p.release()
	reason := p.run(func() {
		root := p.read(data)
		// Each of these changes bytes, or ends in a warning or an error: that is for
		// Normalize.
		if n = p.end; p.spaced || p.nan || n > maxSchema || root.kind != '{' || p.odd && &raw.Repair(data[:n])[0] != &data[0] {
			n = 0
			return
		}
		p.limit(n)
		if root, err := z.pass(p, root, n, false); err != nil || root.changed {
			n = 0
		} else if schema = bytes.Clone(data[:n]); p.rewriter.cut {
			root.changed = true
			out = root.append(make([]byte, 0, n))
		} else {
			out = schema
		}
	})
	if reason != nil || n == 0 {
		return nil, nil, nil, 0
	}
	// There is no renaming: it would have changed the root.
	return schema, out, newPlan(out, nil), n
}

// context ends the work on a schema: that of the listing, if there is one.
func (z Normalizer) context() context.Context {
	if z.Budget == nil {
		return context.Background()
	}
	return z.Budget.ctx
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
// bytes must stay as they are. A schema that would cost more than it may becomes
// one of any object, with a warning.
//
// An error says why the schema is none for arguments, such as "its input schema
// is an array", or that the context of the Budget has ended.
func (z Normalizer) Normalize(schema []byte) (out json.RawMessage, plan *Plan, err error) {
	schema = bytes.TrimSpace(schema)
	if raw.Null(schema) || string(schema) == "true" || string(schema) == "[]" {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil, nil
	}
	if len(schema) > maxSchema {
		return z.giveUp(fmt.Errorf("has %d bytes, more than %d", len(schema), maxSchema))
	}
	if !raw.Valid(schema) {
		return nil, nil, errors.New("its input schema is not JSON")
	}
	switch t := typeOfText(schema); t {
	case isObject:
	// Only false is left, which accepts nothing.
	case isBoolean:
		return nil, nil, errNoObject
	default:
		return nil, nil, errors.New("its input schema is " + article(t))
	}
	p := begin(z.context(), z.Budget, len(schema))
	defer p.release()
	var names *renaming
	reason := p.run(func() { schema, out, names, err = z.normalize(p, schema) })
	switch {
	// Not a fault of the schema: a generic form would stay after the context is forgotten.
	case reason != nil && p.ctx.Err() != nil:
		return nil, nil, context.Cause(p.ctx)
	case reason != nil:
		return z.giveUp(reason)
	case err != nil:
		return nil, nil, err
	}
	return out, newPlan(schema, names), nil
}

// giveUp returns what stands for a schema that is not read.
func (z Normalizer) giveUp(reason error) (out json.RawMessage, plan *Plan, err error) {
	z.warn(reason.Error() + ": it accepts any object instead")
	return json.RawMessage(giveUp), nil, nil
}

// giveUp is normal, accepts all, and tells the model why it sees no parameters.
const giveUp = `{"type":"object","properties":{},"description":"The parameters cannot be described."}`

func (z Normalizer) warn(reason string) {
	if z.Warn != nil {
		z.Warn(reason)
	}
}

// errUnstable is for schemas that no number of passes made normal; none is known.
var errUnstable = errors.New("has no form that everyone takes")

// normalize goes over the schema until nothing changes. It returns the schema
// without white space, too.
func (z Normalizer) normalize(p *parser, schema []byte) (tight, out []byte, names *renaming, err error) {
	root := p.read(schema)
	if p.nan {
		z.warn("has NaN or Infinity, which are not JSON: they are read as null")
	}
	// Bounds and bytes must not depend on how a server indents.
	if p.spaced || p.nan {
		p.room(2 * len(schema))
		schema = raw.Compact(schema)
		root = p.read(schema)
	}
	own := maxGrowth*len(schema) + maxExtra
	limit := min(own, p.budget.grownTo(len(schema)))
	// The first try keeps what it can. If that becomes too large, the second one says
	// no clauses and makes references generic, and so grows less.
	for _, quiet := range []bool{false, true} {
		text := schema
		for pass := range maxPasses {
			// The pass before has changed its tree in place.
			if pass > 0 || quiet {
				root = p.read(text)
			}
			if root, err = z.pass(p, root, len(text), quiet); err != nil {
				return nil, nil, nil, err
			}
			// Later passes see legal names only, and the plan is for the first ones.
			if pass == 0 {
				names = p.rewriter.names
			}
			settled := !root.changed
			if out = text; !settled || p.rewriter.cut {
				root.changed = true
				p.room(len(text))
				out = root.appendUpTo(make([]byte, 0, len(text)+len(text)/4), limit)
				p.room(2 * len(out))
			}
			// It was cut there, so it is not JSON, and no further pass can read it.
			if len(out) > limit {
				break
			}
			// The last pass changed nothing, or nothing that shows: so would any other.
			if settled || bytes.Equal(out, text) {
				p.budget.grew(len(schema), len(out))
				return schema, out, names, nil
			}
			text = out
		}
	}
	// The schema alone would have been let in; the listing has no room for it.
	if limit < own {
		return nil, nil, nil, p.stop(errListing)
	}
	return nil, nil, nil, p.stop(errUnstable)
}

// pass goes over the tree once. A quiet one says no clauses and keeps no references,
// for schemas whose normal form would be too large. References come first, as all
// rules are about what is in their places; names are found before anything is dropped,
// to be the same wherever they are; the root goes before what is in it, because
// merging its schemas makes new ones there.
func (z Normalizer) pass(p *parser, n *node, size int, quiet bool) (*node, error) {
	w := &p.rewriter
	*w = rewriter{meter: &p.meter, doc: document{meter: &p.meter, root: n, old: p.isOld(n)}, clean: z.Clean, quiet: quiet}
	if !quiet {
		// Half of what the result may have is for copies, the rest for what is said of them.
		w.left = maxGrowth/2*size + maxExtra/2
	}
	if p.seen&references != 0 {
		// The root is a target, too: "#" within it is a recursion.
		w.doc.refersTo(resolved{n, n})
		w.active = append(w.active, n)
		n = w.expand(n, n, 1, 0)
		// What was only there to be referred to, as the components of OpenAPI, is inlined now.
		n.drop(w.doc.holders)
	}
	if p.illegal {
		w.names = w.newRenaming(n)
	}
	n, err := w.root(n)
	if err != nil {
		return nil, err
	}
	w.fix(n, 1, 0)
	return n, nil
}
