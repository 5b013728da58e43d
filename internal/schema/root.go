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
			l.properties(v)
		case kwRequired:
			if v.is('[') {
				l.require(v.members)
			}
		case kwAllOf, kwAnyOf, kwOneOf: // below, when the members beside them are known
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
				l.patterns(v)
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
		if has(1<<kwAllOf|1<<kwAnyOf|1<<kwOneOf, k) && m.value.is('[') {
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

func (l *lowering) properties(v *node) {
	props := l.out.get("properties")
	if props == nil {
		props = newObject()
		l.out.set("properties", props)
	}
	if !v.is('{') {
		return
	}
	known := props.indexes()
	for _, m := range v.members {
		i, ok := known[m.name]
		if !ok {
			props.members = append(props.members, m)
		} else if old := props.members[i].value; old.key() != m.value.key() {
			props.members[i].value = allOf(old, m.value)
		}
	}
}

func (l *lowering) require(names []member) {
	required := l.out.get("required")
	if required == nil {
		required = newArray()
	}
	l.out.set("required", newArray(slices.Concat(required.members, names)...))
}

func (l *lowering) patterns(v *node) {
	patterns := l.out.get("patternProperties")
	if patterns == nil {
		patterns = newObject()
		l.out.set("patternProperties", patterns)
	}
	known := patterns.indexes()
	for _, m := range v.members {
		if i, ok := known[m.name]; !ok {
			patterns.members = append(patterns.members, m)
		} else {
			patterns.members[i].value = allOf(patterns.members[i].value, m.value)
		}
	}
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
		if props := a.out.get("properties"); props.is('{') {
			for _, m := range props.members {
				v := named[m.name]
				if v == nil {
					v = &variants{known: map[string]bool{}}
					named[m.name] = v
					order = append(order, m.name)
				}
				v.naming++
				if key := m.value.key(); !v.known[key] {
					v.known[key] = true
					v.schemas = append(v.schemas, m)
				}
			}
		}
		var seen = map[string]bool{}
		if required := a.out.get("required"); required.is('[') {
			for _, m := range required.members {
				if name := m.value.string(); m.value.is('"') && !seen[name] {
					seen[name] = true
					if demanded[name]++; demanded[name] == len(alternatives) {
						common = append(common, m)
					}
				}
			}
		}
		additional := a.out.get("additionalProperties")
		closed = closed && additional.is('f')
		l.open = l.open || a.open || additional != nil && !additional.is('f')
		if p := a.out.get("patternProperties"); p.is('{') {
			l.open = true
			for _, m := range p.members {
				patterns.set(m.name, newObject())
			}
		}
		if told.Len() < maxTold {
			if i > 0 {
				told.WriteString("; ")
			}
			w.tell(&told, a)
		}
	}
	l.properties(newObject()) // there is always one from here on
	props := l.out.get("properties")
	known := props.indexes()
	for _, name := range order {
		v := named[name]
		value := v.schemas[0].value
		if len(v.schemas) > 1 {
			nameless := make([]member, len(v.schemas))
			for i, m := range v.schemas {
				nameless[i].value = m.value
			}
			value = newObject(member{"anyOf", newArray(nameless...)})
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
			l.patterns(patterns)
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
		if to.Len() > start {
			to.WriteString(", ")
		}
		to.WriteString(text)
	}
	props := a.out.get("properties")
	if !props.is('{') {
		props = newObject()
	}
	fixed := map[string]bool{}
	for _, m := range props.members {
		if to.Len() > maxTold {
			break
		}
		value := m.value.get("const")
		if list := m.value.get("enum"); list.is('[') && len(list.members) == 1 {
			value = list.members[0].value
		}
		if value != nil {
			fixed[m.name] = true
			item(w.rename(m.name) + " = " + value.brief(60))
		}
	}
	if required := a.out.get("required"); required.is('[') {
		for _, m := range required.members {
			if name := m.value.string(); m.value.is('"') && !fixed[name] && to.Len() <= maxTold {
				item(w.rename(name))
			}
		}
	}
	if to.Len() == start {
		for _, m := range props.members {
			if to.Len() > maxTold {
				break
			}
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
