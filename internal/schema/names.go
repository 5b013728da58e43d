package schema

// This file renames properties (rule 10).

import (
	"slices"
	"strconv"
)

// A renaming gives names that not every provider takes another one. A name has
// the same new one in the whole schema, so that schemas which are about the same
// object keep agreeing, and no new name is that of any other property.
type renaming struct {
	names map[string]string // the new name for an old one
	order []string          // the old ones, in order of appearance
}

// hasIllegal reports whether one of the names or strings in n is not legal for a
// property.
func (m *meter) hasIllegal(n *node) bool {
	for i := range n.members {
		name, v := n.members[i].name, n.members[i].value
		if n.kind == '[' {
			name = m.string(v)
		}
		if !legalName(name) && (n.kind == '{' || v.is('"')) {
			return true
		}
	}
	return false
}

// newRenaming is nil when the schema n needs none. All names are taken before the
// first is made, so that a legal name is never lost to a new one, and the order of
// appearance decides, so that the same schema has the same names on every connection.
func (m *meter) newRenaming(n *node) *renaming {
	r := renamer{meter: m, noted: map[string]bool{}, taken: map[string]bool{}, next: map[string]int{}}
	r.walk(n)
	if len(r.order) == 0 {
		return nil
	}
	m.room(64 * len(r.order))
	names := make(map[string]string, len(r.order))
	for _, name := range r.order {
		names[name] = r.free(plainName(name))
	}
	return &renaming{names, r.order}
}

// A renamer finds names that are free.
type renamer struct {
	*meter
	order []string
	noted map[string]bool // the names that were seen as properties
	taken map[string]bool // those that no new name may be
	next  map[string]int  // the number to try next behind a name
}

func (r *renamer) note(name string) {
	if !r.first(r.noted, name) {
		return
	}
	r.first(r.taken, name)
	if !legalName(name) {
		r.order = append(r.order, name)
	}
}

func (r *renamer) walk(n *node) {
	for name := range r.strings(n.get(kwRequired)) {
		r.note(name)
	}
	// What depends on other names and is not a property needs no new name, but none may become
	// the same.
	for _, k := range []keyword{kwDependentRequired, kwDependentSchemas, kwDependencies} {
		for _, dependent := range n.get(k).list('{') {
			r.first(r.taken, dependent.name)
			for name := range r.strings(dependent.value) {
				r.first(r.taken, name)
			}
		}
	}
	for k, sub := range n.schemas {
		if k == kwProperties {
			r.note(sub.name)
		}
		r.step(1)
		r.walk(sub.value)
	}
}

// free is plain if that is not taken, or else the first of plain_2, plain_3 and so on,
// cut in the middle where they are too long. What was found to be taken behind a name
// is not tried again, whatever it was cut from. A server may have thousands of names
// with the same first 64 bytes: each would else try all numbers before its own.
func (r *renamer) free(plain string) string {
	if !r.taken[plain] {
		r.first(r.taken, plain)
		return plain
	}
	number := 2
	for digits := 1; ; digits++ {
		stem := plain[:min(len(plain), maxName-len("_")-digits)]
		number = max(number, r.next[stem])
		for ; ; number++ {
			tail := strconv.Itoa(number)
			if len(tail) > digits {
				break
			}
			r.step(16)
			if candidate := stem + "_" + tail; !r.taken[candidate] {
				r.first(r.taken, candidate)
				r.next[stem] = number + 1
				return candidate
			}
		}
		r.next[stem] = number
	}
}

// plainName is a legal name that resembles name. A model guesses best from what it can
// read, so each character that is not taken is one underscore, as in _filter for
// $filter.
func plainName(name string) string {
	plain := make([]byte, 0, maxName)
	for _, r := range name {
		c := byte('_')
		if r < 0x80 && legalName("_"+string(r)) {
			c = byte(r)
		}
		// A digit, say, gets an underscore before it and stays, as in _2fa.
		if len(plain) == 0 && !legalName(string(c)) {
			plain = append(plain, '_')
		}
		if plain = append(plain, c); len(plain) >= maxName {
			break
		}
	}
	if len(plain) == 0 {
		return "_"
	}
	return string(plain[:min(len(plain), maxName)])
}

// rename is the name that a property has in the output.
func (w *rewriter) rename(name string) string {
	if w.names != nil {
		if to, ok := w.names.names[name]; ok {
			return to
		}
	}
	return name
}

// keys renames the properties of one schema wherever they are named there. What speaks
// of names in a way that cannot be renamed is dropped. It is the last pass over a
// schema, since those before compare names as the server wrote them.
func (w *rewriter) keys(n *node) (widened bool) {
	if w.names == nil {
		return false
	}
	for _, m := range w.list(n.members) {
		switch m.k {
		case kwProperties, kwDependentSchemas:
			for i := range m.value.members {
				sub := &m.value.members[i]
				// A schema moves as it is: what is in it was gone over before.
				if to := w.rename(sub.name); to != sub.name {
					*sub = named(to, sub.value)
					m.value.changed, n.changed = true, true
				}
			}
			m.value.lastWins()
		case kwRequired:
			w.replace(n, m, w.renameStrings(m.value))
		case kwDependentRequired:
			out := w.object(w.list(m.value.members)...)
			changed := false
			for i, list := range out.members {
				out.members[i] = named(w.rename(list.name), w.renameStrings(list.value))
				changed = changed || out.members[i] != list
			}
			if changed {
				out.lastWins()
				n.set(m.k, out)
			}
		case kwPropertyNames:
			// It would be about the names as they were: only one that allows all strings is
			// true of the new ones, too.
			if len(m.value.members) != 1 || w.string(m.value.get(kwType)) != "string" {
				widened = w.drop(n, m.k) || widened
			}
		case kwDefault, kwExamples:
			// A model copies them, so they have the names that it is to write.
			w.replace(n, m, w.renameIn(m.value))
		case kwEnum, kwConst:
			// An object in the list has old names, which a model may write or not: to list
			// none is wider.
			if w.renameIn(m.value) != m.value {
				widened = w.drop(n, m.k) || widened
			}
		case kwUnknown:
			// It is Gemini's, for the order in which the model writes properties.
			if m.name == "propertyOrdering" && m.value.is('[') {
				w.replace(n, m, w.renameStrings(m.value))
			}
		}
	}
	return widened
}

// replace gives the member m of n another value, unless it is the same one.
func (w *rewriter) replace(n *node, m member, value *node) {
	if value == m.value {
		return
	}
	// The place is not that of the list gone over: members before it may be gone.
	i := slices.Index(n.members, m)
	n.members[i].value = value
	n.changed = true
}

// renameStrings renames the strings of a list, and returns the list itself when
// there are none to rename.
func (w *rewriter) renameStrings(list *node) *node {
	out := list
	w.step(8 * len(list.members))
	for i, m := range list.members {
		if name := w.string(m.value); m.value.is('"') && w.rename(name) != name {
			if out == list {
				out = w.array(w.list(list.members)...)
			}
			out.members[i] = item(w.quoted(w.rename(name)))
		}
	}
	return out
}

// renameIn renames the members of a value, and returns the value itself when there are
// none to rename. It copies on the way, since values that are not schemas are shared.
func (w *rewriter) renameIn(v *node) *node {
	w.step(8 * len(v.members))
	out := v
	for i, m := range v.members {
		to := member{w.rename(m.name), w.renameIn(m.value), m.k}
		if to == m {
			continue
		}
		if out == v {
			out = w.object(w.list(v.members)...)
			out.kind = v.kind
		}
		out.members[i] = named(to.name, to.value)
	}
	if out != v {
		out.lastWins()
	}
	return out
}

// keepsPattern reports whether a pattern of names means the same for the renamed ones.
// A name that matched and whose new one does not would fall to additionalProperties,
// which may refuse it.
func (w *rewriter) keepsPattern(pattern string) bool {
	parsed := w.parsePattern(pattern)
	if parsed == nil || w.names == nil {
		return parsed != nil
	}
	// To ask for each name takes time for each pattern, which is not worth more.
	if len(w.names.order) > 100 {
		return false
	}
	re := w.matcher(pattern, parsed)
	if re == nil {
		return false
	}
	size := programSize(parsed, 1)
	for _, name := range w.names.order {
		// Matching in RE2 takes time in proportion to both, and never more.
		w.step(64 + len(name)*(8+size/16))
		if re.MatchString(name) != re.MatchString(w.names.names[name]) {
			return false
		}
	}
	return true
}
