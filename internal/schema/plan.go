package schema

// This file makes plans: what a server's own schema says for certain about the
// types of the values in its arguments.

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A Plan is how one tool's arguments are repaired. It is made at listing and
// reads the schema at the first call, since most tools are never called. It is
// safe for concurrent use. A nil Plan does what holds for every tool.
type Plan struct {
	schema []byte
	names  *renaming
	once   sync.Once
	root   *shape
}

func newPlan(schema []byte, names *renaming) *Plan {
	return &Plan{schema: schema, names: names}
}

func (p *Plan) shape() *shape {
	if p == nil {
		return nil
	}
	p.once.Do(func() {
		if p.schema == nil {
			return
		}
		c := compiler{
			doc:   newDocument(parse(p.schema)),
			names: p.names,
			work:  maxWork,
			ids:   map[*node]int{},
			known: map[string]*shape{},
		}
		if c.doc.root.is('{') {
			p.root = c.compile()
		}
		p.schema, p.names = nil, nil
	})
	return p.root
}

// A shape is what is certain about a value: more types may be in allowed than
// the server takes, never fewer. A nil shape says nothing. Shapes of recursive
// schemas form cycles.
type shape struct {
	allowed types
	props   []property
	index   map[string]int // into props, by name and by alias, when there are many
	rest    *shape         // of other properties
	prefix  []*shape
	items   *shape
	aliased bool // a property has an alias
}

type property struct {
	name     string
	alias    string // what the model calls it, "" when the same
	required bool   // in some case at least
	shape    *shape
}

// find returns the property that the model calls name, nil when there is none.
func (s *shape) find(name []byte) *property {
	if s.index != nil {
		if i, ok := s.index[string(name)]; ok {
			return &s.props[i]
		}
		return nil
	}
	var found *property
	for i := range s.props {
		p := &s.props[i]
		if p.name == string(name) {
			return p
		}
		if p.alias != "" && p.alias == string(name) {
			found = p
		}
	}
	return found
}

const (
	maxWork         = 400_000 // steps of a compiler; what is left then has nil shapes
	maxAlternatives = 64
	maxPrefix       = 64
)

// A compiler makes shapes of schemas. A state is what applies to one value: any
// of some alternatives, each of them all of some schemas. States are compiled
// one after the other, so recursion in a schema is none here.
type compiler struct {
	doc   *document
	names *renaming
	work  int
	ids   map[*node]int
	known map[string]*shape
	queue []pending
}

type pending struct {
	shape *shape
	state
}

type state struct {
	sure [][]located // the alternatives; without any, nothing is certain
	may  []located   // all schemas that may apply, for their names; none where no name is new
}

// located is a schema and the resource it belongs to.
type located struct{ schema, base *node }

func (c *compiler) compile() *shape {
	at := located{c.doc.root, c.doc.root}
	sure, _ := c.closure(at, 0)
	root := c.shape(state{sure, c.reach(nil, at)})
	for len(c.queue) > 0 {
		next := c.queue[0]
		c.queue = c.queue[1:]
		c.fill(next.shape, next.state)
	}
	return root
}

// shape returns the shape of a state, to be filled later.
func (c *compiler) shape(st state) *shape {
	if slices.ContainsFunc(st.sure, func(all []located) bool { return len(all) == 0 }) {
		st.sure = nil
	}
	if c.work <= 0 || len(st.sure)+len(st.may) == 0 {
		return nil
	}
	var key []byte
	for _, all := range append(slices.Clip(st.sure), st.may) {
		for _, l := range all {
			id, ok := c.ids[l.schema]
			if !ok {
				id = len(c.ids)
				c.ids[l.schema] = id
			}
			key = append(strconv.AppendInt(key, int64(id), 36), ' ')
		}
		key = append(key, '|')
	}
	c.work -= len(key)
	s, ok := c.known[string(key)]
	if !ok {
		s = &shape{}
		c.known[string(key)] = s
		c.queue = append(c.queue, pending{s, st})
	}
	return s
}

// reach adds l to the schemas that may apply, and those that then may, too.
func (c *compiler) reach(all []located, l located) []located {
	if c.work -= len(all); c.names == nil || c.work <= 0 || !l.schema.is('{') ||
		slices.ContainsFunc(all, func(known located) bool { return known.schema == l.schema }) {
		return all
	}
	l.base = baseOf(l.schema, l.base)
	all = append(all, l)
	if ref, ok := reference(l.schema); ok {
		if target, base := c.doc.find(ref, l.base); target != nil {
			all = c.reach(all, located{target, base})
		}
	}
	for k, sub := range l.schema.schemas {
		if has(inPlaceKeywords, k) {
			all = c.reach(all, located{sub.value, l.base})
		}
	}
	return all
}

// telling are the keywords that say something about types or names.
const telling = objectKeywords | arrayKeywords | 1<<kwType | 1<<kwEnum | 1<<kwConst | 1<<kwNullable |
	1<<kwThen | 1<<kwElse | 1<<kwDependencies

// closure is the state of a schema with all that apply in place. ok is false
// where that is too much to tell.
func (c *compiler) closure(l located, depth int) (state [][]located, ok bool) {
	n := l.schema
	if c.work--; depth > maxChain || c.work <= 0 {
		return nil, false
	}
	switch n.kind {
	case 'f':
		return nil, true
	case '{':
	default:
		return [][]located{{}}, true
	}
	base := baseOf(n, l.base)
	state = [][]located{{}}
	if keywordsIn(n)&telling != 0 {
		state = [][]located{{{n, base}}}
	}
	join := func(other [][]located) bool {
		state = c.product(state, other)
		return len(state) <= maxAlternatives
	}
	if ref, isRef := reference(n); isRef {
		target, targetBase := c.doc.find(ref, base)
		if c.doc.old {
			state = [][]located{{}}
		}
		if target != nil {
			other, ok := c.closure(located{target, targetBase}, depth+1)
			if !ok || !join(other) {
				return nil, false
			}
		}
		if c.doc.old {
			return state, true
		}
	}
	for _, m := range n.members {
		k := keywordOf(m.name)
		if !has(unions, k) || !m.value.is('[') || len(m.value.members) == 0 {
			continue
		}
		var union [][]located
		for _, branch := range m.value.members {
			other, ok := c.closure(located{branch.value, base}, depth+1)
			if !ok || k == kwAllOf && !join(other) {
				return nil, false
			}
			if union = append(union, other...); len(union) > maxAlternatives {
				return nil, false
			}
		}
		if k != kwAllOf && !join(union) {
			return nil, false
		}
	}
	if n.get("nullable").is('t') && c.allowed(n)&isNull != 0 {
		// Null is let in beside whatever the schemas in place say.
		state = append(state, []located{{newObject(member{"type", newString("null")}), base}})
	}
	return state, true
}

// product is what holds where both states do.
func (c *compiler) product(a, b [][]located) [][]located {
	var product [][]located
	for _, x := range a {
		for _, y := range b {
			product = append(product, slices.Concat(x, y))
			c.work -= len(x) + len(y)
		}
	}
	return product
}

// allowed is what the schema's own keywords allow.
func (c *compiler) allowed(n *node) types {
	allowed := typeMask(n.get("type"))
	nullable := n.get("nullable").is('t')
	if nullable {
		allowed |= isNull
	}
	if list := n.get("enum"); list.is('[') && len(list.members) > 0 {
		var listed types
		for _, m := range list.members {
			listed |= typeOf(m.value.kind, m.value.text)
		}
		if nullable {
			listed |= isNull
		}
		if listed&allowed != 0 {
			allowed &= listed
		}
	}
	if v := n.get("const"); v != nil && !nullable {
		if t := typeOf(v.kind, v.text); t&allowed != 0 {
			allowed &= t
		}
	}
	return allowed
}

// fill says in s what is certain about the values of the state. When the work
// runs out, that is nothing.
func (c *compiler) fill(s *shape, st state) {
	defer func() {
		if c.work <= 0 {
			*s = shape{allowed: anyType}
		}
	}()
	objects, arrays := state{may: st.may}, state{may: st.may}
	for _, all := range st.sure {
		allowed := anyType
		for _, l := range all {
			allowed &= c.allowed(l.schema)
			c.work--
		}
		s.allowed |= allowed
		if allowed&isObject != 0 {
			objects.sure = append(objects.sure, all)
		}
		if allowed&isArray != 0 {
			arrays.sure = append(arrays.sure, all)
		}
	}
	if s.allowed == 0 {
		s.allowed = anyType
	}
	c.fillObject(s, objects)
	longest := 0
	for l := range arrays.schemas {
		prefix, _ := arrayParts(l.schema)
		longest = max(longest, len(prefix))
	}
	for i := range min(longest, maxPrefix) {
		s.prefix = append(s.prefix, c.part(arrays, step{item: i}))
	}
	if longest <= maxPrefix {
		s.items = c.part(arrays, step{item: longest})
	}
}

// schemas yields all schemas of a state.
func (st state) schemas(yield func(located) bool) {
	for _, all := range append(slices.Clip(st.sure), st.may) {
		for _, l := range all {
			if !yield(l) {
				return
			}
		}
	}
}

func (c *compiler) fillObject(s *shape, objects state) {
	required := map[string]bool{}
	seen := map[string]bool{}
	add := func(name string) {
		alias := ""
		if c.names != nil {
			alias = c.names.names[name]
		}
		if c.work -= 2; c.work <= 0 || seen[name] {
			return
		}
		seen[name] = true
		s.aliased = s.aliased || alias != ""
		s.props = append(s.props, property{name: name, alias: alias, shape: c.part(objects, step{name: name, item: -1, named: true})})
	}
	for l := range objects.schemas {
		demands(l.schema, required, 0)
		for _, m := range l.schema.get("properties").list('{') {
			add(m.name)
		}
	}
	for i := range objects.may { // what is required only has a new name, too
		for name := range objects.may[i].schema.get("required").strings {
			if c.names.names[name] != "" {
				add(name)
			}
		}
	}
	for i := range s.props {
		s.props[i].required = required[s.props[i].name]
	}
	s.rest = c.part(objects, step{item: -1})
	if len(s.props) > fewNames {
		s.index = make(map[string]int, len(s.props))
		for i, p := range s.props {
			if p.alias != "" {
				s.index[p.alias] = i
			}
		}
		for i, p := range s.props {
			s.index[p.name] = i
		}
	}
}

// A step leads from a value to a part of it: an item, or else the property of a
// name, or one that no schema names.
type step struct {
	item  int // -1 for properties
	name  string
	named bool
}

// part is the shape of a part of a value.
func (c *compiler) part(of state, to step) *shape {
	var may []located
	for _, l := range of.may {
		for _, sub := range c.may(l.schema, to) {
			may = c.reach(may, located{sub, l.base})
		}
	}
	return c.shape(state{c.surePart(of.sure, to), may})
}

func (c *compiler) surePart(of [][]located, to step) (union [][]located) {
alternatives:
	for _, all := range of {
		product := [][]located{{}}
		for _, l := range all {
			c.work--
			sub := c.sure(l.schema, to)
			if sub == nil {
				continue
			}
			if sub.is('f') {
				continue alternatives
			}
			other, ok := c.closure(located{sub, l.base}, 0)
			if !ok || len(other)*len(product) > maxAlternatives {
				return nil
			}
			product = c.product(product, other)
		}
		if union = append(union, product...); len(union) > maxAlternatives {
			return nil
		}
	}
	return union
}

// sure is what n says for certain about a part: nil when nothing, false when it
// cannot be there.
func (c *compiler) sure(n *node, to step) *node {
	if to.item >= 0 {
		prefix, rest := arrayParts(n)
		if to.item < len(prefix) {
			return prefix[to.item].value
		}
		return rest
	}
	if props := n.get("properties"); to.named && props.is('{') {
		if v := c.doc.member(props, to.name); v != nil {
			return v
		}
	}
	if n.get("patternProperties") != nil {
		return nil
	}
	return n.get("additionalProperties")
}

// may is all that n says about a part, if only in some cases.
func (c *compiler) may(n *node, to step) []*node {
	if to.item >= 0 {
		return []*node{c.sure(n, to), n.get("contains"), n.get("unevaluatedItems")}
	}
	subs := []*node{c.sure(n, to), n.get("additionalProperties"), n.get("unevaluatedProperties")}
	for _, m := range n.get("patternProperties").list('{') {
		subs = append(subs, m.value)
	}
	return subs
}

// arrayParts is what a schema of any draft says about items: the first ones,
// and those after them.
func arrayParts(n *node) (prefix []member, rest *node) {
	items := n.get("items")
	if prefix = n.get("prefixItems").list('['); len(prefix) > 0 {
		return prefix, items
	}
	if items.is('[') {
		return items.members, n.get("additionalItems")
	}
	return nil, items
}

// demands notes the properties that n requires, if only in some cases.
func demands(n *node, required map[string]bool, depth int) {
	if !n.is('{') || depth > maxInPlace {
		return
	}
	for name := range n.get("required").strings {
		required[name] = true
	}
	if only := n.get("required"); only.is('"') {
		required[only.string()] = true
	}
	for _, keyword := range []string{"dependentRequired", "dependencies"} {
		for _, dependent := range n.get(keyword).list('{') {
			for name := range dependent.value.strings {
				required[name] = true
			}
		}
	}
	var cases uint64 = 1<<kwThen | 1<<kwElse | 1<<kwDependentSchemas | 1<<kwDependencies
	if depth > 0 { // else they are in the state themselves
		cases |= unions
	}
	for k, sub := range n.schemas {
		if has(cases, k) {
			demands(sub.value, required, depth+1)
		}
		// Older drafts have a boolean in the property.
		if k == kwProperties && depth == 0 && sub.value.get("required").is('t') {
			required[sub.name] = true
		}
	}
}

// expected tells a model which parameters there are, in at most about 1 KiB.
func (p *Plan) expected() string {
	s := p.shape()
	if s == nil || len(s.props) == 0 {
		return "expected a JSON object"
	}
	text := []byte("expected a JSON object with ")
	for i, prop := range s.props {
		if i > 0 {
			text = append(text, ", "...)
		}
		if len(text) > 1000 {
			text = append(text, "and more"...)
			break
		}
		name := prop.name
		if prop.alias != "" {
			name = prop.alias
		}
		if legalName(name) {
			text = append(text, name...)
		} else {
			text = raw.AppendQuote(text, briefly(name, maxName))
		}
		text = append(text, " ("...)
		if prop.shape == nil || prop.shape.allowed == anyType {
			text = append(text, "any"...)
		} else {
			text = append(text, strings.Join(prop.shape.allowed.words(), " or ")...)
		}
		if prop.required {
			text = append(text, ", required"...)
		}
		text = append(text, ')')
	}
	return string(text)
}
