package schema

// This file gives the root its form (rules 1 and 2): an object schema without
// any other schema in place.

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// errNoObject is for schemas that accept no object, as arguments always are.
var errNoObject = errors.New("its input schema accepts no object")

// A lowering collects what one schema says about an object in the members of
// one that has no other schema in place.
type lowering struct {
	out     *node
	clauses []string
	open    bool // a part that may evaluate more properties is gone
}

// root makes the root of n, in which references are expanded.
func (w *rewriter) root(n *node) (*node, error) {
	l := lowering{out: newObject()}
	if err := w.lower(&l, n, 0); err != nil {
		return nil, err
	}
	out := l.out
	if i := out.index("type"); i < 0 {
		out.members = slices.Insert(out.members, 0, member{"type", newString("object")})
	}
	if !out.get("properties").is('{') {
		out.take("properties")
		out.members = slices.Insert(out.members, out.index("type")+1, member{"properties", newObject()})
	}
	for _, clause := range l.clauses {
		w.say(out, clause)
	}
	return out, nil
}

// lower adds what n says to l.
func (w *rewriter) lower(l *lowering, n *node, inPlace int) error {
	if n.kind == 'f' {
		return errNoObject
	}
	if n.kind != '{' {
		return nil
	}
	w.oldDrafts(n)
	if typeMask(n.get("type"))&isObject == 0 {
		if t := n.get("type"); inPlace == 0 && t.is('"') {
			return errors.New("its input schema has the type " + briefly(properType(t.string()), 32))
		}
		return errNoObject
	}
	out := l.out
	var unevaluated *node
	for _, m := range n.members {
		k, v := keywordOf(m.name), m.value
		old := out.get(m.name)
		switch k {
		case kwComment:
		case kwType:
			out.set("type", newString("object"))
		case kwProperties:
			l.add(m.name, v)
			l.unread(m, '{')
		case kwRequired:
			if v.is('[') {
				l.require(v.members)
			}
			l.unread(m, '[')
		case kwAllOf, kwAnyOf, kwOneOf: // below, when the members beside them are known
			l.unread(m, '[')
		case kwUnevaluatedProperties:
			unevaluated = v
		case kwIf, kwThen, kwElse, kwDependentSchemas:
			l.open = true
			if k != kwThen && k != kwElse {
				l.clauses = append(l.clauses, w.conditional(n, k))
			}
		case kwNot, kwEnum, kwConst:
			l.clauses = append(l.clauses, dropped(m.name, v))
		case kwAdditionalProperties:
			switch {
			case old == nil || v.is('f') || !old.is('{') && !old.is('f'):
				out.set(m.name, v)
			case old.is('{') && v.is('{'):
				out.set(m.name, allOf(old, v))
			}
		case kwPatternProperties:
			if v.is('{') {
				l.add(m.name, v)
			}
		default:
			switch {
			case old == nil:
				out.set(m.name, v)
			case !has(annotations, k) && old.key() != v.key():
				l.clauses = append(l.clauses, dropped(m.name, v))
			}
		}
	}
	for _, m := range n.members {
		k := keywordOf(m.name)
		if has(unions, k) && m.value.is('[') {
			if inPlace >= maxInPlace {
				l.open = true
				l.clauses = append(l.clauses, dropped(m.name, m.value))
				continue
			}
			if k == kwAllOf {
				for _, branch := range m.value.members {
					if err := w.lower(l, branch.value, inPlace+1); err != nil {
						return err
					}
				}
			} else if err := w.lowerUnion(l, m.value.members, inPlace+1); err != nil {
				return err
			}
		}
	}
	switch {
	case unevaluated == nil || unevaluated.is('t'):
	case unevaluated.is('f') && !l.open:
		if out.get("additionalProperties") == nil {
			out.set("additionalProperties", unevaluated)
		}
	default:
		l.clauses = append(l.clauses, dropped("unevaluatedProperties", unevaluated))
	}
	return nil
}

// object is the member of the name, an object that may be changed.
func (l *lowering) object(name string) *node {
	value := l.out.get(name)
	if value == nil {
		value = newObject()
		l.out.set(name, value)
	}
	return value
}

// add puts the named schemas of v under the keyword, beside those there.
func (l *lowering) add(keyword string, v *node) {
	to := l.object(keyword)
	known := to.indexes()
	for _, m := range v.list('{') {
		i, ok := known[m.name]
		if !ok {
			to.members = append(to.members, m)
		} else if old := to.members[i].value; old.key() != m.value.key() {
			to.members[i].value = allOf(old, m.value)
		}
	}
}

// unread says what a member holds that is of a wrong kind, unless that is next
// to nothing.
func (l *lowering) unread(m member, kind byte) {
	if v := m.value; v.kind != kind && (len(v.members) > 0 || kind == '[' && v.is('"')) {
		l.clauses = append(l.clauses, dropped(m.name, v))
	}
}

func (l *lowering) require(names []member) {
	l.out.set("required", newArray(slices.Concat(l.out.get("required").list('['), names)...))
}

// indexes maps the names of an object's members to their places.
func (n *node) indexes() map[string]int {
	places := make(map[string]int, len(n.members))
	for i, m := range n.members {
		places[m.name] = i
	}
	return places
}

func allOf(a, b *node) *node {
	if !a.is('{') {
		a, b = b, a
	}
	if !b.is('{') {
		if b.is('f') {
			return b
		}
		return a
	}
	return newObject(member{"allOf", newArray(member{"", a}, member{"", b})})
}

// lowerUnion adds what all branches have in common, and each property that one
// of them has with all the schemas that it has.
func (w *rewriter) lowerUnion(l *lowering, branches []member, inPlace int) error {
	if len(branches) == 0 {
		return nil
	}
	var alternatives []*lowering
	for _, branch := range branches {
		a := &lowering{out: newObject()}
		if w.lower(a, branch.value, inPlace) == nil {
			alternatives = append(alternatives, a)
		}
	}
	switch len(alternatives) {
	case 0:
		return errNoObject
	case 1:
		l.open = l.open || alternatives[0].open
		l.clauses = append(l.clauses, alternatives[0].clauses...)
		return w.lower(l, alternatives[0].out, inPlace)
	}
	type variants struct {
		schemas []member
		known   map[string]bool
		naming  int // how many alternatives have the property
	}
	var (
		order    []string
		named    = map[string]*variants{}
		demanded = map[string]int{}
		common   []member
		closed   = true
		patterns = newObject()
		told     strings.Builder
	)
	for i, a := range alternatives {
		for _, m := range a.out.get("properties").list('{') {
			v := named[m.name]
			if v == nil {
				v = &variants{known: map[string]bool{}}
				named[m.name] = v
				order = append(order, m.name)
			}
			v.naming++
			if key := m.value.key(); !v.known[key] {
				v.known[key] = true
				v.schemas = append(v.schemas, member{"", m.value})
			}
		}
		seen := map[string]bool{}
		for name := range a.out.get("required").strings {
			if !seen[name] {
				seen[name] = true
				if demanded[name]++; demanded[name] == len(alternatives) {
					common = append(common, member{"", newString(name)})
				}
			}
		}
		additional := a.out.get("additionalProperties")
		closed = closed && additional.is('f')
		l.open = l.open || a.open || additional != nil && !additional.is('f')
		for _, m := range a.out.get("patternProperties").list('{') {
			l.open = true
			patterns.set(m.name, newObject())
		}
		if told.Len() < maxTold {
			if i > 0 {
				told.WriteString("; ")
			}
			w.tell(&told, a)
		}
	}
	props := l.object("properties")
	known := props.indexes()
	for _, name := range order {
		v := named[name]
		value := v.schemas[0].value
		if len(v.schemas) > 1 {
			value = newObject(member{"anyOf", newArray(v.schemas...)})
		}
		i, ok := known[name]
		switch {
		case !ok:
			props.members = append(props.members, member{name, value})
		case v.naming == len(alternatives) && props.members[i].value.key() != value.key():
			old := props.members[i].value
			if old.is('{') && value.is('{') && len(v.schemas) > 1 && old.get("anyOf") == nil {
				old.set("anyOf", value.get("anyOf"))
			} else {
				props.members[i].value = allOf(old, value)
			}
		}
	}
	if len(common) > 0 {
		l.require(common)
	}
	if closed && l.out.get("additionalProperties") == nil {
		if len(patterns.members) > 0 {
			l.add("patternProperties", patterns)
		}
		l.out.set("additionalProperties", &node{kind: 'f', text: "false"})
	}
	l.clauses = append(l.clauses, "Alternatives: "+briefly(told.String(), maxTold)+".")
	return nil
}

// maxTold bounds the text that tells a root's alternatives.
const maxTold = 1200

// tell writes which parameters make the alternative: those with one value, and
// the required ones; where there are none, all.
func (w *rewriter) tell(to *strings.Builder, a *lowering) {
	start := to.Len()
	item := func(text string) {
		if to.Len() > maxTold {
			return
		}
		if to.Len() > start {
			to.WriteString(", ")
		}
		to.WriteString(text)
	}
	props := a.out.get("properties").list('{')
	fixed := map[string]bool{}
	for _, m := range props {
		value := m.value.get("const")
		if list := m.value.get("enum").list('['); len(list) == 1 {
			value = list[0].value
		}
		if value != nil {
			fixed[m.name] = true
			item(w.rename(m.name) + " = " + value.brief(60))
		}
	}
	for name := range a.out.get("required").strings {
		if !fixed[name] {
			item(w.rename(name))
		}
	}
	if to.Len() == start {
		for _, m := range props {
			item("optionally " + w.rename(m.name))
		}
	}
	if to.Len() == start {
		item("no more parameters")
	}
	for _, clause := range a.clauses {
		if to.Len() <= maxTold {
			to.WriteString(" (" + strings.TrimSuffix(clause, ".") + ")")
		}
	}
}

// dropped says what a keyword demanded that is gone.
func dropped(name string, v *node) string {
	switch name {
	case "enum":
		if v.is('[') {
			return "Allowed values: " + strings.Trim(v.brief(maxQuoted), "[]") + "."
		}
	case "const":
		return "Allowed value: " + v.brief(maxQuoted) + "."
	case "pattern":
		return "Must match the regular expression " + briefly(v.string(), maxQuoted) + "."
	case "not":
		return "Must not match " + v.brief(maxQuoted) + "."
	}
	return "Must satisfy " + strconv.Quote(name) + ": " + v.brief(maxQuoted) + "."
}

// conditional says what if, then and else, or dependentSchemas, demanded.
func (w *rewriter) conditional(n *node, k keyword) string {
	if k == kwDependentSchemas {
		return dropped("dependentSchemas", n.get("dependentSchemas"))
	}
	text := "If it matches " + n.get("if").brief(maxQuoted)
	if then := n.get("then"); then != nil {
		text += ", it must match " + then.brief(maxQuoted)
	}
	if other := n.get("else"); other != nil {
		text += ", otherwise it must match " + other.brief(maxQuoted)
	}
	return text + "."
}

// maxQuoted bounds a piece of JSON in a clause.
const maxQuoted = 240
