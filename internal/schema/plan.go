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
			doc:   newDocument(parse(string(p.schema))),
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
	for i := range s.props {
		if s.props[i].name == string(name) {
			return &s.props[i]
		}
	}
	if s.aliased {
		for i := range s.props {
			if alias := s.props[i].alias; alias != "" && alias == string(name) {
				return &s.props[i]
			}
		}
	}
	return nil
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
	state [][]located
}

// located is a schema and the resource it belongs to.
type located struct{ schema, base *node }

func (c *compiler) compile() *shape {
	state, ok := c.closure(located{c.doc.root, c.doc.root}, 0)
	if !ok {
		return nil
	}
	root := c.state(state)
	for len(c.queue) > 0 {
		next := c.queue[0]
		c.queue = c.queue[1:]
		c.fill(next.shape, next.state)
	}
	return root
}

// state returns the shape of a state, to be filled later.
func (c *compiler) state(state [][]located) *shape {
	if c.work <= 0 {
		return nil
	}
	var key []byte
	for _, all := range state {
		if len(all) == 0 {
			return nil
		}
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
		c.queue = append(c.queue, pending{s, state})
	}
	return s
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
		if k != kwAllOf && k != kwAnyOf && k != kwOneOf || !m.value.is('[') || len(m.value.members) == 0 {
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
func (c *compiler) fill(s *shape, state [][]located) {
	defer func() {
		if c.work <= 0 {
			*s = shape{allowed: anyType}
		}
	}()
	var objects, arrays [][]located
	for _, all := range state {
		allowed := anyType
		for _, l := range all {
			allowed &= c.allowed(l.schema)
			c.work--
		}
		s.allowed |= allowed
		if allowed&isObject != 0 {
			objects = append(objects, all)
		}
		if allowed&isArray != 0 {
			arrays = append(arrays, all)
		}
	}
	if s.allowed == 0 {
		s.allowed = anyType
	}
	if len(objects) > 0 {
		c.fillObject(s, objects)
	}
	if len(arrays) > 0 {
		longest := 0
		for _, all := range arrays {
			for _, l := range all {
				prefix, _ := arrayParts(l.schema)
				longest = max(longest, len(prefix))
			}
		}
		for i := range min(longest, maxPrefix) {
			s.prefix = append(s.prefix, c.part(arrays, func(n *node) *node { return item(n, i) }))
		}
		if longest <= maxPrefix {
			s.items = c.part(arrays, func(n *node) *node { return item(n, longest) })
		}
	}
}

func (c *compiler) fillObject(s *shape, objects [][]located) {
	seen := map[string]bool{}
	required := map[string]bool{}
	for _, all := range objects {
		for _, l := range all {
			demands(l.schema, required, 0)
			for _, m := range l.schema.get("properties").list('{') {
				if seen[m.name] {
					continue
				}
				if c.work -= 2; c.work <= 0 {
					return
				}
				seen[m.name] = true
				p := property{name: m.name}
				if c.names != nil {
					p.alias = c.names.names[m.name]
					s.aliased = s.aliased || p.alias != ""
				}
				p.shape = c.part(objects, func(n *node) *node { return c.property(n, m.name) })
				s.props = append(s.props, p)
			}
		}
	}
	for i := range s.props {
		s.props[i].required = required[s.props[i].name]
	}
	s.rest = c.part(objects, func(n *node) *node {
		if n.get("patternProperties") != nil {
			return nil
		}
		return n.get("additionalProperties")
	})
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

// part is the shape of a part of a value. The function returns what one schema
// says about the part: nil when nothing, false when it cannot be there.
func (c *compiler) part(state [][]located, of func(*node) *node) *shape {
	var union [][]located
alternatives:
	for _, all := range state {
		product := [][]located{{}}
		for _, l := range all {
			c.work--
			sub := of(l.schema)
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
	if len(union) == 0 {
		return nil
	}
	return c.state(union)
}

// property is what n says about a property.
func (c *compiler) property(n *node, name string) *node {
	if props := n.get("properties"); props.is('{') {
		if v := c.doc.member(props, name); v != nil {
			return v
		}
	}
	if n.get("patternProperties") != nil {
		return nil
	}
	return n.get("additionalProperties")
}

// list is the members of a value of the kind, none for another.
func (n *node) list(kind byte) []member {
	if !n.is(kind) {
		return nil
	}
	return n.members
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

func item(n *node, i int) *node {
	prefix, rest := arrayParts(n)
	if i < len(prefix) {
		return prefix[i].value
	}
	return rest
}

// demands notes the properties that n requires, if only in some cases.
func demands(n *node, required map[string]bool, depth int) {
	if !n.is('{') || depth > maxInPlace {
		return
	}
	for _, m := range n.members {
		switch keywordOf(m.name) {
		case kwRequired:
			for _, name := range m.value.list('[') {
				required[name.value.string()] = true
			}
		case kwThen, kwElse:
			demands(m.value, required, depth+1)
		case kwAllOf, kwAnyOf, kwOneOf:
			if depth > 0 { // else they are in the state themselves
				for _, branch := range m.value.members {
					demands(branch.value, required, depth+1)
				}
			}
		case kwDependentSchemas, kwDependentRequired, kwDependencies:
			for _, dependent := range m.value.list('{') {
				demands(dependent.value, required, depth+1)
				for _, name := range dependent.value.list('[') {
					required[name.value.string()] = true
				}
			}
		case kwProperties:
			if depth == 0 { // a boolean required of older drafts
				for _, p := range m.value.list('{') {
					if p.value.get("required").is('t') {
						required[p.name] = true
					}
				}
			}
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
		text = append(text, prop.shape.typeNames()...)
		if prop.required {
			text = append(text, ", required"...)
		}
		text = append(text, ')')
	}
	return string(text)
}

func (s *shape) typeNames() string {
	if s == nil || s.allowed == anyType {
		return "any"
	}
	var names []string
	for _, name := range []string{"string", "number", "integer", "boolean", "array", "object", "null"} {
		t := typeNamed(name)
		if s.allowed&t == t && (name != "integer" || s.allowed&isNumber == 0) {
			names = append(names, name)
		} else if name == "number" && s.allowed&t == isNumber {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}
