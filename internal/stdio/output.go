package stdio

// This file reads messages from the output of a server, whatever else it
// prints there.

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/lines"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

// lendSize is the size from which on a message is lent to its call, not copied.
const lendSize = 32 << 10

// An output is standard output while it is read.
type output struct {
	*Conn
	lines *lines.Reader

	// A message that is spread over several lines, which the specification
	// forbids and some servers write all the same, is held by the reader.
	open int // its brackets that are not closed yet; 0 where nothing is held
	held int // its bytes so far

	unfinished balance // of the line that is being read
	kept       int     // how much of it was kept for quotes
}

// receive reads until the output ends. A line that is too long costs nothing but
// itself, and what was held of a message before it.
func (c *Conn) receive() {
	o := &output{Conn: c, lines: lines.NewReader(&lines.Pool{}, c.Limit)}
	o.lines.Partial = o.partial
	o.lines.Reset(newUTF16Reader(c.Stdout))
	for {
		line, err := o.lines.Line()
		if o.kept > 0 {
			o.kept = 0
			c.unread.reset()
		}
		if errors.Is(err, lines.ErrTooLong) {
			head, tail, size, _ := o.lines.Skip()
			o.open, o.unfinished = 0, balance{}
			c.tooLong(head, tail, size)
			continue
		}
		o.line(line)
		o.unfinished = balance{depth: o.open}
		if err != nil {
			if o.open > 0 {
				o.giveUp()
			}
			return
		}
	}
}

// line takes one line of output.
func (o *output) line(whole []byte) {
	line := rpc.Trim(whole)
	if len(line) == 0 {
		return
	}
	m, rest, err := rpc.Parse(line)
	if o.open > 0 {
		// A whole message on one line ends one that was spread over several.
		if err != nil && o.add(line) {
			if o.held = len(o.lines.Held()); o.open == 0 {
				piece := rpc.Trim(o.lines.Held())
				m, rest, err := rpc.Parse(piece)
				o.take(piece, m, rest, err)
				o.lines.Drop()
			}
			return
		}
		o.giveUp()
	}
	if (errors.Is(err, raw.ErrShort) || line[0] == '[') && o.add(line) && o.open > 0 {
		o.lines.Hold(len(whole))
		o.held = len(whole)
		return
	}
	o.take(line, m, rest, err)
}

// take takes a piece of output that is complete as far as line ends go, with
// what [rpc.Parse] says of it: one message mostly, or any output.
func (o *output) take(piece []byte, m rpc.Message, rest []byte, err error) {
	if err == nil && len(rest) == 0 {
		var release func()
		if len(piece) >= lendSize {
			release = o.lines.Lend()
		}
		if took := o.message(m, release); release != nil && !took {
			release()
		}
		return
	}
	for m, skipped := range rpc.Messages(piece) {
		if skipped == nil {
			o.message(m, nil)
		} else {
			o.broken(skipped)
		}
	}
}

// add counts the brackets of a line that may be a part of a message. It reports
// false, and counts none, where it is not: JSON has no line end within a string,
// and a log line has words outside of strings.
func (o *output) add(line []byte) bool {
	b := balance{depth: o.open}
	b.add(line)
	if b.depth < 0 || b.text || b.other {
		return false
	}
	o.open = b.depth
	return true
}

// giveUp ends the wait for the rest of a message.
func (o *output) giveUp() {
	o.broken(rpc.Trim(o.lines.Held()[:o.held]))
	o.lines.Drop()
	o.open = 0
}

// partial looks at a line whose end has not come. A message that is complete
// does not wait for it: some servers end their messages with something else, or
// with nothing.
func (o *output) partial(line []byte) bool {
	if o.kept < tailSize {
		o.unread.reset()
		o.unread.Write(line[:min(len(line), tailSize)])
		o.kept = len(line)
	}
	b := &o.unfinished
	if last := b.end(line); last != '}' && last != ']' {
		return false
	}
	if b.add(line); b.depth != 0 || b.text {
		return false
	}
	if o.open > 0 || line[0] == '{' || line[0] == '[' {
		return true
	}
	// What only looks complete must not be read again and again.
	if b.spent += len(line); b.spent > maxLooks*len(line) {
		return false
	}
	complete := false
	for _, skipped := range rpc.Messages(line) {
		complete = skipped == nil
	}
	return complete
}

// maxLooks bounds the attempts to find a message in a line without an end, in
// lengths of that line.
const maxLooks = 8

// A balance counts the brackets of a text that comes in parts. Its work is in
// proportion to the text, however many parts there are.
type balance struct {
	at    int  // how much of the text was looked at
	depth int  // brackets that are open
	text  bool // within a string
	other bool // there are characters that JSON has in strings alone
	spent int  // see partial
	seen  int  // see end
	last  byte // see end
}

// end returns the last byte of a text that was longer since, but for
// [rpc.Space], and 0 where the text ends within a character. It does not look
// at what it has seen: there may be nothing but space, and much of it.
func (b *balance) end(text []byte) byte {
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= n
			}
			break
		}
	}
	if fresh := bytes.TrimRight(text[min(b.seen, whole):whole], rpc.Space); len(fresh) > 0 {
		b.last = fresh[len(fresh)-1]
	}
	if b.seen = whole; whole < len(text) {
		return 0
	}
	return b.last
}

// add goes on with a text that was longer since.
func (b *balance) add(text []byte) {
	quote := -1
	for b.at < len(text) {
		if b.text {
			if quote < b.at { // not looked for yet, or it was an escaped one
				if quote = bytes.IndexByte(text[b.at:], '"') + b.at; quote < b.at {
					quote = len(text)
				}
			}
			if e := bytes.IndexByte(text[b.at:quote], '\\'); e >= 0 {
				b.at += e + 2 // the second character may be of a later part
			} else {
				b.text = quote == len(text)
				b.at = min(quote+1, len(text))
			}
			continue
		}
		switch c := text[b.at]; {
		case c == '{' || c == '[':
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		case c == '"':
			b.text = true
		case strings.IndexByte(outside, c) < 0:
			b.other = true
		}
		b.at++
	}
}

// outside are the characters outside of strings, but for brackets: of numbers,
// of the words that are values, and between them.
const outside = ",: \t\r\n0123456789-+.eEtrufalsnNIity"

// message takes a message.
func (o *output) message(m rpc.Message, release func()) (took bool) {
	o.heard.Add(1)
	if o.Pending.Elicit != nil && o.Pending.Asks(m, nil, o.answer) { // else o.answer is made for nothing
		return false
	}
	reply, took := o.Pending.Receive(m, release)
	o.reply(reply)
	return took
}

// broken takes a piece that is not a message. If it was to be the answer of a
// call, the call ends now rather than at its deadline.
func (c *Conn) broken(piece []byte) {
	if piece[0] == '{' {
		if id, ok := rpc.FindID(piece, piece[max(0, len(piece)-lines.Edge):]); ok {
			_, err := raw.Scan(piece)
			if err == nil || errors.Is(err, raw.ErrShort) {
				err = errors.New("the message is incomplete")
			}
			if c.Pending.Fail(id, fmt.Errorf("decoding the server's answer: %w", err)) {
				return
			}
		}
	}
	c.skip(piece)
}

// tooLong takes the ends of a line over the limit. The id stands in one of them
// with all servers: before the result, or behind it, as with encoders that sort
// the members or write them as they were declared.
func (c *Conn) tooLong(head, tail []byte, size int) {
	err := fmt.Errorf("the server's answer of %d bytes is longer than the %d allowed", size, c.Limit)
	if id, ok := rpc.FindID(rpc.Trim(head), rpc.Trim(tail)); !ok || !c.Pending.Fail(id, err) {
		c.skip(head)
	}
}

// skip counts a piece that is not a message, and keeps it for quotes.
func (c *Conn) skip(piece []byte) {
	c.skipped.Add(piece, c.Quoter)
	if heard := c.heard.Load(); c.saidAt.Swap(heard) != heard && c.called.Load() {
		c.said.reset()
	}
	c.said.Write(piece)
	c.said.Write([]byte{'\n'})
}

// reply queues the answer to a request of the server. A server that asks
// without reading the answers gets no more of them.
func (c *Conn) reply(reply []byte) {
	if reply == nil {
		return
	}
	select {
	case c.replies <- append(reply, '\n'):
	default:
	}
}

// answer queues the answer of a person, which is not to be lost. The reader does
// not wait here: who asks the person does.
func (c *Conn) answer(reply []byte) {
	select {
	case c.replies <- append(reply, '\n'):
	case <-c.over:
	}
}
