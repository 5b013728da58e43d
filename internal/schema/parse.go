package schema

// This file makes trees of text.

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// maxNesting bounds the text that is made a tree, and so the recursion of all
// that goes over trees.
const maxNesting = 1000

var errDeep = errors.New("nests too deeply to be read")

// A parser makes nodes and their lists of members out of slabs. One that is used
// again makes a tree for next to nothing; the tree before is gone then.
type parser struct {
	meter
	rewriter rewriter // of the tree
	data     []byte
	text     string // the same
	at       int
	depth    int

	seen   uint64 // keywords, anywhere
	spaced bool   // there is white space between tokens
	odd    bool   // it is not all plain ASCII without escapes
	nan    bool   // a value is NaN or infinite

	nodes   []node
	used    int
	members []member
	open    []member // those of the containers around
}

var parsers = sync.Pool{New: func() any { return &parser{nodes: make([]node, 128)} }}

// pooled bounds what is kept for the next tree.
const pooled = 1 << 12

// begin returns a parser whose meter is for size bytes of schema: that of the
// budget, which has room from the schema before.
func begin(ctx context.Context, budget *Budget, size int) (p *parser) {
	if budget != nil && budget.parser != nil {
		p, budget.parser = budget.parser, nil
	} else {
		p = parsers.Get().(*parser)
	}
	p.meter = newMeter(ctx, budget, size)
	return p
}

// read returns the tree of the value that data, which [raw.Scan] has accepted,
// starts with. It is gone when the parser reads again or is released, and its
// strings are parts of data. Of members with one name the last value counts, in
// the place of the first.
func (p *parser) read(data []byte) *node {
	p.data, p.text, p.at, p.depth = data, unsafe.String(unsafe.SliceData(data), len(data)), 0, 0
	p.seen, p.spaced, p.odd, p.nan = 0, false, false, false
	p.used, p.members, p.open = 0, p.members[:0], p.open[:0]
	return p.value()
}

// release keeps the room of the parser, if that is not much, for the next schema.
// What is in it stays until then, or until the end of the listing.
func (p *parser) release() {
	if len(p.nodes) > pooled || cap(p.members) > pooled || cap(p.open) > pooled {
		return
	}
	if p.budget != nil {
		p.budget.parser = p
		return
	}
	p.clear()
}

// clear gives the room to whoever comes next.
func (p *parser) clear() {
	nodes, members, open := p.nodes, p.members[:cap(p.members)], p.open[:cap(p.open)]
	clear(nodes)
	clear(members)
	clear(open)
	*p = parser{nodes: nodes, members: members[:0], open: open[:0]}
	parsers.Put(p)
}

func (p *parser) node() *node {
	if p.used == len(p.nodes) {
		size := min(2*len(p.nodes), 1<<12)
		p.room(nodeSize * size)
		p.nodes, p.used = make([]node, size), 0
	}
	p.used++
	return &p.nodes[p.used-1]
}

// keep returns a copy of members that nothing else shares room with.
func (p *parser) keep(members []member) []member {
	if len(members) == 0 {
		return nil
	}
	if cap(p.members)-len(p.members) < len(members) {
		size := max(64, len(members), min(2*cap(p.members), 1<<12))
		p.room(memberSize * size)
		p.members = make([]member, 0, size)
	}
	start := len(p.members)
	p.members = append(p.members, members...)
	return p.members[start:len(p.members):len(p.members)]
}

// space passes white space and returns the byte after it, 0 at the end.
func (p *parser) space() byte {
	for p.at < len(p.text) {
		if c := p.text[p.at]; c > ' ' {
			return c
		}
		p.at++
		p.spaced = true
	}
	return 0
}

// string passes the string at hand and returns its text, and whether it is plain
// ASCII without escapes.
func (p *parser) string() (text string, plain bool) {
	const (
		ones    = 0x0101010101010101
		high    = 0x8080808080808080
		quotes  = ones * '"'
		escapes = ones * '\\'
		spaces  = ones * ' '
	)
	start := p.at
	i := start + 1
	for ; i+8 <= len(p.data); i += 8 {
		// A byte of one of these has its high bit where it is a quote, an escape,
		// a control character or not ASCII. Of all that then borrow, only the
		// lowest counts.
		x := binary.LittleEndian.Uint64(p.data[i:])
		q, e := x^quotes, x^escapes
		if found := ((q-ones)&^q | (e-ones)&^e | (x - spaces) | x | (x + ones)) & high; found != 0 {
			i += bits.TrailingZeros64(found) / 8
			if p.data[i] == '"' {
				p.at = i + 1
				return p.text[start:p.at], true
			}
			break
		}
	}
	for ; i < len(p.data) && p.data[i] >= ' ' && p.data[i] < 0x7f && p.data[i] != '\\'; i++ {
		if p.data[i] == '"' {
			p.at = i + 1
			return p.text[start:p.at], true
		}
	}
	p.odd = true
	p.at = start + raw.Skip(p.data[start:])
	return p.text[start:p.at], false
}

func (p *parser) value() *node {
	n := p.node()
	c := p.space()
	switch start := p.at; c {
	case '"':
		text, plain := p.string()
		*n = node{kind: c, text: text, plain: plain}
	case '{', '[':
		*n = node{kind: c}
		p.container(n)
		n.text = p.text[start:p.at]
	case 't', 'f', 'n':
		if p.at += len("true"); c == 'f' {
			p.at++
		}
		*n = node{kind: c, text: p.text[start:p.at]}
	case 0:
		panic(stopped{raw.ErrShort})
	default:
		if p.at += raw.Skip(p.data[start:]); c == 'N' || c == 'I' || p.text[start:p.at] == "-Infinity" {
			*n = node{kind: 'n', text: "null", changed: true}
			p.nan = true
			break
		}
		*n = node{kind: '0', text: p.text[start:p.at]}
	}
	return n
}

// container reads the members of the object or the array at hand into n.
func (p *parser) container(n *node) {
	if p.depth++; p.depth >= maxNesting {
		panic(stopped{errDeep})
	}
	p.step(1)
	outer := len(p.open)
	p.at++
	for c := p.space(); c != n.kind+2; c = p.space() { // the closing bracket, in ASCII
		if c == 0 {
			panic(stopped{raw.ErrShort})
		}
		if c == ',' {
			p.at++
			p.space()
		}
		var m member
		if n.kind == '{' {
			text, plain := p.string()
			if m.name = text[1 : len(text)-1]; !plain {
				m.name = unquote(text)
				n.respell = true
			}
			m.k = keywordOf(m.name)
			n.seen |= 1 << m.k
			p.space()
			p.at++
		}
		m.value = p.value()
		n.changed = n.changed || m.value.changed
		n.respell = n.respell || m.value.respell
		p.open = append(p.open, m)
	}
	p.at++
	p.step(len(p.open) - outer)
	n.members = p.keep(p.open[outer:])
	p.open = p.open[:outer]
	p.seen |= n.seen
	n.lastWins()
	p.depth--
}
