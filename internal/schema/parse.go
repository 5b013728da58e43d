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

// maxNesting bounds the text that is made a tree, and so the recursion of all that
// goes over trees. [raw.Scan], which does not recurse, lets in a hundred times as
// many.
const maxNesting = 1000

var errDeep = errors.New("nests too deeply to be read")

// A parser makes nodes and their lists of members out of slabs. One that is used again
// makes a tree for next to nothing; the tree before is gone then. Places in the text
// are passed from one method to the next, which is much faster than one kept here. A
// slab that is full is held by the nodes in it alone; of each kind the parser has the
// last. So a node must not be used past the next read; what is kept of a tree is its
// text.
type parser struct {
	meter
	rewriter rewriter // of the tree
	data     []byte
	text     string // the same
	end      int    // of what was read
	depth    int

	seen    uint64 // keywords, anywhere
	spaced  bool   // there is white space between tokens
	odd     bool   // it is not all plain ASCII without escapes
	nan     bool   // a value is NaN or infinite
	apart   bool   // some node is changed or respelled
	illegal bool   // a property may have a name that is not legal; seldom where none has

	nodes   []node
	used    int // of these
	full    int // nodes before these
	most    int // of which there may be
	members []member
	open    []member // those of the containers around
}

var parsers = sync.Pool{New: func() any { return &parser{nodes: make([]node, 128)} }}

// pooled bounds what is kept for the next tree. That is at most 224 KiB of nodes, and
// 128 KiB for each of the other two.
const pooled = 1 << 12

// begin returns a parser whose meter is for size bytes of schema: that of the
// budget, which has room from the schema before.
func begin(ctx context.Context, budget *Budget, size int) (p *parser) {
	if budget != nil && budget.parser != nil {
		// It is taken out, so that one that grew too large is not there again.
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
func (p *parser) read(data []byte) (root *node) {
	// The strings of the tree share the bytes, which nobody may write to while it is in use.
	p.data, p.text, p.depth = data, unsafe.String(unsafe.SliceData(data), len(data)), 0
	p.seen, p.spaced, p.odd, p.nan, p.apart, p.illegal = 0, false, false, false, false, false
	p.used, p.members, p.open = 0, p.members[:0], p.open[:0]
	// A container is counted at its end, and a hostile one may not end soon: its nodes are
	// bounded by what the meter has left now.
	p.full, p.most = 0, 1+p.bytes/memberAndNode
	root, p.end = p.value(0, kwUnknown)
	return root
}

// release keeps the room of the parser, if that is not much, for the next schema.
// What is in it stays until then, or until the end of the listing.
func (p *parser) release() {
	// One large schema must not leave its room with a program for good.
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
	// Old members point into the text of a server: it would stay as long as the pool.
	nodes, members, open := p.nodes, p.members[:cap(p.members)], p.open[:cap(p.open)]
	clear(nodes)
	clear(members)
	clear(open)
	*p = parser{nodes: nodes, members: members[:0], open: open[:0]}
	parsers.Put(p)
}

func (p *parser) node() *node {
	if p.used == len(p.nodes) {
		p.grow()
	}
	p.used++
	return &p.nodes[p.used-1]
}

// grow makes another slab, unless those that are full have more than [parser.took]
// will count, which is when a container ends.
func (p *parser) grow() {
	// A list of a million numbers has no step before its end.
	p.look()
	if p.full += len(p.nodes); p.full > p.most {
		p.stop(errBytes)
	}
	p.nodes, p.used = make([]node, min(2*len(p.nodes), 1<<12)), 0
}

// took counts n members and their values. It does so whether there was room for
// them in the slabs or not: a schema costs the same each time.
func (p *parser) took(n int) {
	p.step(1 + n)
	if p.bytes -= memberAndNode * n; p.bytes < 0 {
		p.stop(errBytes)
	}
}

// keep returns a copy of members that nothing else shares room with. Its capacity is
// its length: what appends to one object moves it, and never writes over the members
// of the next.
func (p *parser) keep(members []member) []member {
	if len(members) == 0 {
		return nil
	}
	if cap(p.members)-len(p.members) < len(members) {
		size := max(64, len(members), min(2*cap(p.members), 1<<12))
		p.members = make([]member, 0, size)
	}
	start := len(p.members)
	p.members = append(p.members, members...)
	return p.members[start:len(p.members):len(p.members)]
}

// space returns where the white space at a place ends, and the byte there, 0 at the
// end of the text. It is small to be inlined: there is seldom any white space.
func (p *parser) space(at int) (after int, c byte) {
	if at < len(p.text) && p.text[at] > ' ' {
		return at, p.text[at]
	}
	return p.blank(at)
}

// blank is space where there may be some, and notes that there was.
func (p *parser) blank(at int) (after int, c byte) {
	for ; at < len(p.text); at++ {
		if c := p.text[at]; c > ' ' {
			return at, c
		}
		p.spaced = true
	}
	return at, 0
}

// stringEnd returns where the string at a place ends, and whether it is plain ASCII
// without escapes.
func (p *parser) stringEnd(at int) (end int, plain bool) {
	const (
		ones    = 0x0101010101010101
		high    = 0x8080808080808080
		quotes  = ones * '"'
		escapes = ones * '\\'
		spaces  = ones * ' '
	)
	i, data := at+1, p.data
	for ; i+8 <= len(data); i += 8 {
		// A byte of one of these has its high bit where it is a quote, an escape,
		// a control character or not ASCII. Of all that then borrow, only the
		// lowest counts.
		x := binary.LittleEndian.Uint64(data[i:])
		q, e := x^quotes, x^escapes
		if found := ((q-ones)&^q | (e-ones)&^e | (x - spaces) | x | (x + ones)) & high; found != 0 {
			i += bits.TrailingZeros64(found) / 8
			if data[i] == '"' {
				return i + 1, true
			}
			break
		}
	}
	for ; i < len(data) && data[i] >= ' ' && data[i] < 0x7f && data[i] != '\\'; i++ {
		if data[i] == '"' {
			return i + 1, true
		}
	}
	// What is not plain is seldom, and [raw.Skip] knows it all.
	p.odd = true
	return at + raw.Skip(data[at:]), false
}

// value reads the value at a place, which is that of the keyword, and returns
// where it ends.
func (p *parser) value(at int, of keyword) (n *node, end int) {
	n = p.node()
	at, c := p.space(at)
	switch c {
	case '"':
		end, plain := p.stringEnd(at)
		*n = node{kind: c, text: p.text[at:end], plain: plain}
		return n, end
	case '{', '[':
		*n = node{kind: c}
		end = p.container(n, at+1, of)
		n.text = p.text[at:end]
		return n, end
	case 't', 'f', 'n':
		// The text was checked: the first letter tells which word it is.
		if end = at + len("true"); c == 'f' {
			end++
		}
	// Not behind a scan of the text; if ever, it costs the schema and not the program.
	case 0:
		panic(stopped{raw.ErrShort})
	default:
		if end = at + raw.Skip(p.data[at:]); c == 'N' || c == 'I' || p.text[at:end] == "-Infinity" {
			// Python writes NaN and Infinity, which JSON does not have.
			*n = node{kind: 'n', text: "null", changed: true}
			p.nan, p.apart = true, true
			return n, end
		}
		c = '0'
	}
	*n = node{kind: c, text: p.text[at:end]}
	return n, end
}

// container reads the members of an object or an array into n.
func (p *parser) container(n *node, at int, of keyword) (end int) {
	if p.depth++; p.depth >= maxNesting {
		panic(stopped{errDeep})
	}
	outer := len(p.open)
	seen, twice := uint64(0), false // twice: a keyword, or another name
	for {
		var c byte
		if at, c = p.space(at); c == ',' {
			at, c = p.space(at + 1)
		}
		if c == n.kind+2 { // the closing bracket, in ASCII
			break
		}
		if c == 0 {
			panic(stopped{raw.ErrShort})
		}
		var m member
		if n.kind == '{' {
			at = p.name(&m, n, at)
			twice = twice || seen>>m.k&1 != 0
			seen |= 1 << m.k
		}
		m.value, at = p.value(at, m.k)
		p.open = append(p.open, m)
	}
	// They grew behind those of the containers around, and move together now: how many there
	// are is known at the end alone.
	members := p.open[outer:]
	p.took(len(members))
	n.members = p.keep(members)
	n.seen = seen
	p.open = p.open[:outer]
	p.seen |= seen
	// A parameter may be called properties as well; [meter.newRenaming] then finds nothing.
	if of == kwProperties || of == kwRequired {
		p.illegal = p.illegal || p.hasIllegal(n)
	}
	// Seldom: most schemas are written plainly.
	if p.apart {
		for i := range n.members {
			v := n.members[i].value
			n.changed = n.changed || v.changed
			n.respell = n.respell || v.respell
		}
	}
	if twice {
		n.lastWins()
		p.apart = p.apart || n.changed
	}
	p.depth--
	return at + 1
}

// name reads the name of a member of n, and returns where its colon ends.
func (p *parser) name(m *member, n *node, at int) (end int) {
	end, plain := p.stringEnd(at)
	switch m.name = p.text[at+1 : end-1]; {
	case !plain:
		m.name = unquote(p.text[at:end])
		m.k = keywordOf(m.name)
		// It is written plainly, so that equal names have equal bytes.
		n.respell, p.apart = true, true
	case at+9 <= len(p.data):
		// Eight bytes at once: what is behind a shorter name is masked out.
		word := binary.LittleEndian.Uint64(p.data[at+1:])
		if len(m.name) < 8 {
			word &= 1<<(8*len(m.name)) - 1
		}
		m.k = keywordAt(word, m.name)
	default:
		m.k = keywordOf(m.name)
	}
	end, _ = p.space(end)
	return end + 1
}
