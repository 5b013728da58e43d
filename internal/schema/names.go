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

// newRenaming is nil when the schema n needs none.
func newRenaming(n *node) *renaming {
	var r renaming
	taken := map[string]bool{}
	noted := map[string]bool{}
	note := func(name string) {
		if !noted[name] && !legalName(name) {
			r.order = append(r.order, name)
		}
		noted[name], taken[name] = true, true
	}
	var walk func(*node)
	walk = func(n *node) {
		for name := range n.get("required").strings {
			note(name)
		}
		for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
			for _, dependent := range n.get(keyword).list('{') {
				taken[dependent.name] = true
				for name := range dependent.value.strings {
					taken[name] = true
				}
			}
		}
		for k, sub := range n.schemas {
			if k == kwProperties {
				note(sub.name)
			}
			walk(sub.value)
		}
	}
	walk(n)
	if len(r.order) == 0 {
		return nil
	}
	r.names = make(map[string]string, len(r.order))
	next := map[string]int{}
	for _, name := range r.order {
		plain := plainName(name)
		candidate := plain
		for taken[candidate] {
			next[plain]++
			suffix := "_" + strconv.Itoa(next[plain]+1)
			candidate = plain[:min(len(plain), maxName-len(suffix))] + suffix
		}
		taken[candidate] = true
		r.names[name] = candidate
	}
	return &r
}

// plainName is a legal name that resembles name.
func plainName(name string) string {
	plain := make([]byte, 0, maxName)
	for _, r := range name {
		c := byte('_')
		if r < 0x80 && legalName("_"+string(r)) {
			c = byte(r)
		}
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

// keys renames the properties of one schema wherever they are named there. What
// speaks of names in a way that cannot be renamed is dropped.
func (w *rewriter) keys(n *node) (widened bool) {
	if w.names == nil {
		return false
	}
	for _, m := range slices.Clone(n.members) {
		switch k := keywordOf(m.name); k {
		case kwProperties, kwDependentSchemas:
			for i := range m.value.members {
				m.value.members[i].name = w.rename(m.value.members[i].name)
			}
			m.value.lastWins()
		case kwRequired:
			n.set(m.name, w.renameStrings(m.value))
		case kwDependentRequired:
			out := newObject(slices.Clone(m.value.members)...)
			for i, list := range out.members {
				out.members[i] = member{w.rename(list.name), w.renameStrings(list.value)}
			}
			out.lastWins()
			n.set(m.name, out)
		case kwPropertyNames:
			if len(m.value.members) != 1 || m.value.get("type").string() != "string" {
				widened = w.drop(n, m.name) || widened
			}
		case kwDefault, kwExamples:
			n.set(m.name, w.renameIn(m.value))
		case kwEnum, kwConst:
			if w.renameIn(m.value) != m.value {
				widened = w.drop(n, m.name) || widened
			}
		case kwUnknown:
			if m.name == "propertyOrdering" && m.value.is('[') {
				n.set(m.name, w.renameStrings(m.value))
			}
		}
	}
	return widened
}

func (w *rewriter) renameStrings(list *node) *node {
	out := newArray(slices.Clone(list.members)...)
	for i, m := range out.members {
		if name := m.value.string(); m.value.is('"') && w.rename(name) != name {
			out.members[i].value = newString(w.rename(name))
		}
	}
	return out
}

// renameIn renames the members of a value, and returns the value itself when
// there are none to rename.
func (w *rewriter) renameIn(v *node) *node {
	var out *node
	for i, m := range v.members {
		to := member{w.rename(m.name), w.renameIn(m.value)}
		if to == m {
			continue
		}
		if out == nil {
			out = &node{kind: v.kind, members: slices.Clone(v.members)}
		}
		out.members[i] = to
	}
	if out == nil {
		return v
	}
	if out.kind == '{' {
		out.lastWins()
	}
	return out
}

// keepsPattern reports whether a pattern of names means the same for the
// renamed ones.
func (w *rewriter) keepsPattern(pattern string) bool {
	re := compilePattern(pattern)
	if re == nil {
		return false
	}
	if w.names == nil {
		return true
	}
	if len(w.names.order) > 100 {
		return false
	}
	for _, name := range w.names.order {
		if re.MatchString(name) != re.MatchString(w.names.names[name]) {
			return false
		}
	}
	return true
}
