package schema

// This file has the passes over one schema and the schemas in it (rules 4 to 10).

import (
	"slices"
	"strconv"
	"strings"
)

// fix makes n normal. It reports whether n then accepts more than before.
func (w *rewriter) fix(n *node, level, inPlace int) (widened bool) {
	widened = n.widened
	widened = w.oldDrafts(n) || widened
	widened = w.kinds(n) || widened
	widened = w.unevaluated(n) || widened
	w.closedArrays(n)
	widened = w.cut(n, level, inPlace) || widened
	misplaced(n)
	widened = w.children(n, level, inPlace) || widened
	openArrays(n)
	widened = w.required(n) || widened
	widened = w.values(n) || widened
	widened = w.pattern(n) || widened
	return w.keys(n) || widened
}

// drop removes a keyword and says so.
func (w *rewriter) drop(n *node, name string) (widened bool) {
	w.say(n, dropped(name, n.take(name)))
	return true
}

// oldDrafts is rule 5.
func (w *rewriter) oldDrafts(n *node) (widened bool) {
	seen := keywordsIn(n)
	if w.doc.old && seen&since2019 != 0 {
		for _, m := range slices.Clone(n.members) {
			if has(since2019, keywordOf(m.name)) {
				w.drop(n, m.name) // no reader of that draft minds it
			}
		}
	}
	if has(seen, kwType) {
		widened = w.typeNames(n)
	}
	if has(seen, kwExclusiveMinimum) {
		exclusive(n, "exclusiveMinimum", "minimum")
	}
	if has(seen, kwExclusiveMaximum) {
		exclusive(n, "exclusiveMaximum", "maximum")
	}
	if has(seen, kwItems) || has(seen, kwAdditionalItems) {
		widened = w.tuple(n) || widened
	}
	if has(seen, kwDependencies) {
		widened = w.dependencies(n) || widened
	}
	if required := n.get("required"); required.is('t') || required.is('f') {
		n.take("required")
		if required.is('t') {
			w.say(n, "Required.")
		}
	}
	if seen&(unions|1<<kwRequired) != 0 {
		listOfOne(n)
	}
	if has(seen, kwNullable) && n.take("nullable").is('t') {
		nullable(n)
	}
	return widened
}

// listOfOne makes lists of what some servers write as their only element.
func listOfOne(n *node) {
	if v := n.get("required"); v.is('"') && n.get("properties").get(v.string()) != nil {
		n.set("required", newArray(member{"", v}))
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		if v := n.get(name); v.is('{') && keywordsIn(v)&^(1<<kwUnknown) != 0 {
			n.set(name, newArray(member{"", v}))
		}
	}
}

func (w *rewriter) typeNames(n *node) (widened bool) {
	t := n.get("type")
	if t.is('"') && typeNamed(t.string()) != 0 {
		return false
	}
	list := []member{{"", t}}
	if t.is('[') {
		list = t.members
	}
	var names []member
	for _, m := range list {
		name := properType(m.value.string())
		if name == "" {
			names = nil
			break
		}
		if !slices.ContainsFunc(names, func(m member) bool { return m.value.string() == name }) {
			names = append(names, member{"", newString(name)})
		}
	}
	switch {
	case names == nil:
		n.take("type")
		if text := strings.ToLower(t.string()); !t.is('n') && (!t.is('"') || text != "" && text != "any") {
			w.say(n, dropped("type", t))
		}
		return true
	case t.is('['):
		n.set("type", newArray(names...))
	default:
		n.set("type", names[0].value)
	}
	return false
}

func exclusive(n *node, name, inclusive string) {
	switch value := n.get(name); value.kind {
	case 't':
		if bound := n.get(inclusive); bound.is('0') {
			n.set(name, bound)
			n.take(inclusive)
			return
		}
		n.take(name)
	case 'f':
		n.take(name)
	}
}

func (w *rewriter) tuple(n *node) (widened bool) {
	additional := n.take("additionalItems")
	if !n.get("items").is('[') {
		return false
	}
	switch i := n.index("items"); {
	case n.get("prefixItems") != nil:
		return w.drop(n, "items")
	case len(n.members[i].value.members) == 0:
		n.take("items")
	default:
		n.members[i].name = "prefixItems"
	}
	if additional != nil && !additional.is('t') {
		n.set("items", additional)
	}
	return false
}

func (w *rewriter) dependencies(n *node) (widened bool) {
	dependencies := n.take("dependencies")
	if !dependencies.is('{') {
		return false
	}
	names, schemas := newObject(), newObject()
	for _, m := range dependencies.members {
		switch m.value.kind {
		case '[':
			names.members = append(names.members, m)
		case '"':
			names.members = append(names.members, member{m.name, newArray(member{"", m.value})})
		default:
			schemas.members = append(schemas.members, m)
		}
	}
	for _, m := range []member{{"dependentRequired", names}, {"dependentSchemas", schemas}} {
		switch {
		case len(m.value.members) == 0:
		case n.get(m.name) != nil:
			w.say(n, dropped(m.name, m.value))
			widened = true
		default:
			n.set(m.name, m.value)
		}
	}
	return widened
}

// nullable lets null in, as the keyword of that name asks.
func nullable(n *node) {
	null := member{"", newObject(member{"type", newString("null")})}
	t, enum := n.get("type"), n.get("enum")
	seen := keywordsIn(n)
	switch {
	case seen&(inPlaceKeywords|1<<kwConst) == 0 && (t != nil || enum == nil):
		if t == nil || typeMask(t)&isNull != 0 {
			return
		}
		if t.is('"') {
			t = newArray(member{"", t})
		}
		n.set("type", newArray(append(slices.Clone(t.members), member{"", newString("null")})...))
		if enum.is('[') && !slices.ContainsFunc(enum.members, func(m member) bool { return m.value.is('n') }) {
			n.set("enum", newArray(append(slices.Clone(enum.members), member{"", &node{kind: 'n', text: "null"}})...))
		}
	case seen&^annotations == 1<<kwAnyOf && n.get("anyOf").is('['):
		n.set("anyOf", newArray(append(slices.Clone(n.get("anyOf").members), null)...))
	default:
		inner := newObject()
		n.members = slices.DeleteFunc(slices.Clone(n.members), func(m member) bool {
			if has(annotations, keywordOf(m.name)) {
				return false
			}
			inner.members = append(inner.members, m)
			return true
		})
		n.set("anyOf", newArray(member{"", inner}, null))
	}
}

// kinds is the end of rule 8, and the end of rule 1 at every depth: copies of
// inlined schemas would share their names.
func (w *rewriter) kinds(n *node) (widened bool) {
	var room [16]member // for a copy, since members go in the loop
	for _, m := range append(room[:0], n.members...) {
		k, v := keywordOf(m.name), m.value
		ok, silent := true, v.is('n') || k == kwTitle || k == kwDescription || k == kwComment
		switch wants[k] {
		case wantGone:
			if k != kwUnevaluatedItems && k != kwUnevaluatedProperties {
				n.take(m.name)
			}
		case wantArray:
			if !v.is('[') {
				n.set(m.name, newArray(member{"", v}))
			}
		case wantNames:
			if ok = v.is('{'); ok {
				widened = w.nameLists(n, m) || widened
			}
		case wantSchema, wantSchemaOrBool:
			ok = v.is('{') || v.is('t') || v.is('f')
		case wantSchemas:
			ok = v.is('[') && len(v.members) > 0
			silent = silent || v.is('[')
		case wantSchemaMap:
			ok = v.is('{')
			silent = silent || v.is('[') && len(v.members) == 0
		case wantTypes: // rule 5
		default:
			if ok = takes(wants[k], v.kind, v.text); ok && w.clean != nil && (k == kwTitle || k == kwDescription) && suspect([]byte(v.text)) {
				old := v.string()
				if text := w.clean(old); text != old {
					n.set(m.name, newString(text))
				}
			}
		}
		if ok {
			continue
		}
		n.take(m.name)
		if !silent {
			w.say(n, dropped(m.name, v))
		}
		widened = widened || !has(annotations, k)
	}
	return widened
}

// nameLists leaves what is a list of distinct strings in a dependentRequired.
func (w *rewriter) nameLists(n *node, m member) (widened bool) {
	out, repeated := newObject(), false
	for _, list := range m.value.members {
		if !list.value.is('[') {
			widened = true
			continue
		}
		names := newArray()
		seen := map[string]bool{}
		for _, name := range list.value.members {
			switch {
			case !name.value.is('"'):
				widened = true
			case seen[name.value.string()]:
				repeated = true
			default:
				seen[name.value.string()] = true
				names.members = append(names.members, name)
			}
		}
		out.members = append(out.members, member{list.name, names})
	}
	if widened || repeated {
		n.set(m.name, out)
	}
	if widened {
		w.say(n, dropped(m.name, m.value))
	}
	return widened
}

// unevaluated makes the keywords of that kind the additional ones where both
// mean the same, and drops them where other schemas in place evaluate too: what
// is dropped there would make them refuse more.
func (w *rewriter) unevaluated(n *node) (widened bool) {
	for _, pair := range [][2]string{{"unevaluatedProperties", "additionalProperties"}, {"unevaluatedItems", "items"}} {
		value := n.get(pair[0])
		if value == nil {
			continue
		}
		switch {
		case !value.is('f') && !value.is('{'), n.get(pair[1]) != nil:
			n.take(pair[0])
		case keywordsIn(n)&(inPlaceKeywords|1<<kwContains) == 0:
			n.members[n.index(pair[0])].name = pair[1]
		default:
			widened = w.drop(n, pair[0])
		}
	}
	return widened
}

// closedArrays says with maxItems what items did that are false (rule 6).
func (w *rewriter) closedArrays(n *node) {
	if !n.get("items").is('f') {
		return
	}
	n.set("items", newObject())
	most := 0
	if prefix := n.get("prefixItems"); prefix.is('[') {
		most = len(prefix.members)
	}
	if old := n.get("maxItems"); old != nil {
		if bound, err := strconv.Atoi(old.text); err == nil && bound <= most {
			return
		}
	}
	n.set("maxItems", &node{kind: '0', text: strconv.Itoa(most)})
}

// cut is rule 4.
func (w *rewriter) cut(n *node, level, inPlace int) (widened bool) {
	if level < maxLevels && inPlace < maxInPlace {
		return false
	}
	deep := false
	for k, sub := range n.schemas {
		level, inPlace := deeper(k, level, inPlace)
		deep = deep || (level > maxLevels || inPlace > maxInPlace) && (len(sub.value.members) > 0 || k == kwPrefixItems)
	}
	if !deep {
		return false
	}
	n.members = slices.DeleteFunc(slices.Clone(n.members), func(m member) bool {
		k := keywordOf(m.name)
		return k != kwType && !has(annotations, k)
	})
	w.say(n, clauseDeep)
	return true
}

// misplaced removes what says nothing about values of the declared types.
func misplaced(n *node) {
	allowed := typeMask(n.get("type"))
	var none uint64
	if allowed&isObject == 0 {
		none |= objectKeywords
	}
	if allowed&isArray == 0 {
		none |= arrayKeywords
	}
	if none&keywordsIn(n) != 0 {
		n.members = slices.DeleteFunc(n.members, func(m member) bool { return has(none, keywordOf(m.name)) })
	}
}

// children fixes the schemas in n, and drops those that may not be widened and
// were.
func (w *rewriter) children(n *node, level, inPlace int) (widened bool) {
	var room [16]member
	for _, m := range append(room[:0], n.members...) {
		k, v := keywordOf(m.name), m.value
		sub, place := deeper(k, level, inPlace)
		switch schemasIn(k, v) {
		case oneSchema:
			widened = w.child(n, k, m, sub, place) || widened
		case listOfSchemas:
			widened = w.list(n, k, m, sub, place) || widened
		case namedSchemas:
			widened = w.named(n, k, v, sub, place) || widened
		}
	}
	return widened
}

func (w *rewriter) child(n *node, k keyword, m member, level, inPlace int) (widened bool) {
	v := m.value
	if n.get(m.name) != v {
		return false // it went with another
	}
	sensitive := k == kwNot || k == kwIf || k == kwContains
	if !v.is('{') {
		switch {
		case k == kwAdditionalProperties:
		case k == kwIf, k == kwThen, k == kwElse:
			// A boolean there has its meaning in a schema's form.
			if v.is('t') {
				n.set(m.name, newObject())
			} else {
				n.set(m.name, newObject(member{"not", newObject()}))
			}
		case k == kwNot && v.is('f'), k == kwPropertyNames && v.is('t'):
			n.take(m.name)
		case v.is('t') && k != kwNot:
			n.set(m.name, newObject())
		default:
			return w.drop(n, m.name)
		}
		return false
	}
	before := ""
	if sensitive && !w.quiet {
		switch k {
		case kwIf:
			before = w.conditional(n, k)
		default:
			before = dropped(m.name, v)
		}
	}
	widened = w.fix(v, level, inPlace)
	if !widened || !sensitive {
		return widened
	}
	n.take(m.name)
	switch k {
	case kwIf:
		n.take("then")
		n.take("else")
	case kwContains:
		for _, name := range []string{"minContains", "maxContains"} {
			n.take(name)
		}
	}
	w.say(n, before)
	return true
}

func (w *rewriter) list(n *node, k keyword, m member, level, inPlace int) (widened bool) {
	out := newArray()
	for i, item := range m.value.members {
		v := item.value
		switch {
		case v.is('f') && k == kwPrefixItems:
			w.say(n, "Item "+strconv.Itoa(i+1)+" is not allowed.")
			v, widened = newObject(), true
		case v.is('f') && k == kwAllOf:
			widened = true
			continue
		case v.is('f'):
			continue
		case !v.is('{'):
			widened = widened || !v.is('t')
			v = newObject()
		default:
			widened = w.fix(v, level, inPlace) || widened
		}
		out.members = append(out.members, member{"", v})
	}
	switch {
	case len(out.members) == 0:
		n.take(m.name)
		w.say(n, "No value is allowed.")
		return true
	case k != kwOneOf || !widened:
		n.set(m.name, out)
		return widened
	}
	w.say(n, "Exactly one of the alternatives must match.")
	i := n.index(m.name)
	if n.get("anyOf") == nil {
		n.members[i] = member{"anyOf", out}
	} else {
		n.take(m.name)
		all := newArray(member{"", newObject(member{"anyOf", out})})
		if old := n.get("allOf"); old.is('[') {
			all.members = append(slices.Clone(old.members), all.members...)
		}
		n.set("allOf", all)
	}
	return true
}

func (w *rewriter) named(n *node, k keyword, of *node, level, inPlace int) (widened bool) {
	kept := make([]member, 0, len(of.members))
	for _, m := range of.members {
		switch {
		case k == kwPatternProperties && !w.keepsPattern(m.name):
			// Names that match it would become additional ones.
			w.say(n, "Properties whose names match "+briefly(m.name, maxQuoted)+" must match "+m.value.brief(maxQuoted)+".")
			if additional := n.take("additionalProperties"); additional.is('f') {
				w.say(n, "Other properties are not allowed.")
			}
			widened = true
			continue
		case m.value.is('f'):
			w.say(n, "Not allowed: "+briefly(w.rename(m.name), maxQuoted)+".")
			widened = true
			continue
		case m.value.is('t') && k == kwDependentSchemas:
			continue
		case !m.value.is('{'):
			widened = widened || !m.value.is('t')
			m.value = newObject()
		default:
			widened = w.fix(m.value, level, inPlace) || widened
		}
		kept = append(kept, m)
	}
	of.members = kept
	return widened
}

// openArrays is rule 6.
func openArrays(n *node) {
	if n.get("items") != nil {
		return
	}
	if t := n.get("type"); t != nil && typeMask(t)&isArray != 0 || n.get("prefixItems") != nil {
		n.set("items", newObject())
	}
}

// required is rule 7. A required name that is no property becomes an open one,
// which lets in what additionalProperties kept out.
func (w *rewriter) required(n *node) (widened bool) {
	list, props := n.get("required"), n.get("properties")
	if list == nil || len(list.members) == 0 {
		return false
	}
	known := map[string]int{}
	if props != nil {
		known = props.indexes()
	}
	var names, missing []member
	seen := make(map[string]bool, len(list.members))
	for _, m := range list.members {
		name := m.value.string()
		if !m.value.is('"') || seen[name] {
			continue
		}
		seen[name] = true
		names = append(names, member{"", newString(name)})
		if _, ok := known[name]; !ok {
			missing = append(missing, member{name, newObject()})
		}
	}
	if len(names) == 0 {
		n.take("required")
		return false
	}
	n.set("required", newArray(names...))
	if len(missing) == 0 {
		return false
	}
	if props == nil {
		props = newObject()
		n.members = slices.Insert(n.members, n.index("required"), member{"properties", props})
	}
	props.members = append(props.members, missing...)
	return n.get("additionalProperties") != nil
}

// values is rule 8.
func (w *rewriter) values(n *node) (widened bool) {
	allowed := typeMask(n.get("type"))
	if v := n.get("default"); v != nil && typeOf(v.kind, v.text)&allowed == 0 {
		n.take("default")
	}
	if v := n.get("const"); v != nil && typeOf(v.kind, v.text)&allowed == 0 {
		if allowed == isNull {
			n.take("const")
			widened = true
		} else {
			widened = w.drop(n, "const")
		}
	}
	list := n.get("enum")
	if list == nil {
		return widened
	}
	out := newArray()
	seen := make(map[string]bool, len(list.members))
	for _, m := range list.members {
		key := m.value.key()
		if seen[key] || typeOf(m.value.kind, m.value.text)&allowed == 0 {
			continue
		}
		seen[key] = true
		out.members = append(out.members, m)
	}
	switch {
	case len(out.members) == len(list.members) && len(out.members) > 0:
		return widened
	case len(out.members) > 0:
		n.set("enum", out)
		return widened
	case len(list.members) == 0, allowed == isNull:
		n.take("enum")
		return true
	}
	return w.drop(n, "enum")
}

// pattern is rule 9.
func (w *rewriter) pattern(n *node) (widened bool) {
	if v := n.get("pattern"); v != nil && !takenPattern(v.string()) {
		return w.drop(n, "pattern")
	}
	return false
}
