package result

// This file collects the texts and notes of a result.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// contents collects what a model gets to see, and the parts.
type contents struct {
	limits Limits
	lent   bool // nothing of the result may be kept, as its bytes are somebody else's or too many

	shown
	forUser shown // of the parts that are meant only for the user

	parts    []Part
	number   int  // of the parts, so far
	userOnly int  // of them, those meant only for the user
	nan      bool // a value was NaN or an infinity

	// Of the part at hand:
	at      int    // its index
	payload []byte // the JSON string that its Text or Data is made of
}

// shown is what a model gets to see of some parts.
type shown struct {
	texts  []string
	images []Image
	places []int // for each image, how many texts stand before it
	spoken int   // how many texts there are up to the last one that is not a note
	blank  int   // texts that are notes on a part which says nothing
	hidden int   // characters that were removed
}

// append adds what is shown of other parts.
func (s *shown) append(other shown) {
	for _, place := range other.places {
		s.places = append(s.places, len(s.texts)+place)
	}
	if other.spoken > 0 {
		s.spoken = len(s.texts) + other.spoken
	}
	s.texts = append(s.texts, other.texts...)
	s.images = append(s.images, other.images...)
	s.blank += other.blank
	s.hidden += other.hidden
}

const (
	maxNote = 2 << 10 // bytes of each thing that a note tells
	maxName = 128     // bytes of the name of a tool
)

// write adds a text of the server, unless it is empty.
func (c *contents) write(s string) {
	if s != "" {
		c.texts = append(c.texts, s)
		c.spoken = len(c.texts)
	}
}

// note adds what is said in place of something, with what is known of it.
func (c *contents) note(what string, known ...string) {
	var b strings.Builder
	size := len("[]") + len(what) // what is known may be a whole part of the result
	for _, s := range known {
		size += len(", ") + len(s)
	}
	b.Grow(size)
	b.WriteString("[" + what)
	separator := ": "
	for _, s := range known {
		if s != "" {
			b.WriteString(separator)
			b.WriteString(s)
			separator = ", "
		}
	}
	b.WriteByte(']')
	c.texts = append(c.texts, b.String())
}

// readable reports whether there is text: providers refuse a message of white
// space as they do an empty one.
func (c *contents) readable() bool {
	return slices.ContainsFunc(c.texts, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// forget drops the texts. Where the images stood among them is of no interest
// then.
func (c *contents) forget() { c.texts, c.places, c.spoken = nil, nil, 0 }

// content returns the texts as one, under the cap. A single text, which may be
// large, is not copied.
func (c *contents) content() string {
	// What was removed comes last: it is said of all that stands before.
	if c.hidden > 0 {
		c.note("removed " + text.Count(c.hidden, "invisible character"))
	}
	content := strings.Join(c.marked(), "\n")
	if c.limits.MaxOutput > 0 {
		content = text.Middle(content, c.limits.MaxOutput)
	}
	return content
}

// marked returns the texts with a mark where an image stood that has a text
// behind it: nothing else would tell a model which of them came first.
func (c *contents) marked() []string {
	if len(c.places) == 0 || c.places[0] >= c.spoken {
		return c.texts
	}
	marked := make([]string, 0, len(c.texts)+len(c.places))
	from := 0
	for i, place := range c.places {
		if place >= c.spoken {
			break
		}
		marked = append(marked, c.texts[from:place]...)
		marked = append(marked, fmt.Sprintf("[image %d]", i+1))
		from = place
	}
	return append(marked, c.texts[from:]...)
}

// clean cleans a text that was decoded already. What is removed is counted for a
// note: a text that hides something from people is not to be trusted.
func (c *contents) clean(s string) string {
	s, hidden := text.Result(s)
	c.hidden += hidden
	return s
}

// string decodes a JSON string; anything else gives "". A string that needs nothing
// stays where it is, unless the memory is lent: then the text is a copy.
func (c *contents) string(value []byte) string {
	decode := text.View
	if c.lent {
		decode = text.Decode
	}
	s, hidden, _ := decode(value)
	c.hidden += hidden
	return s
}

// quietly is string for what is not shown as it is: what is removed there does not
// count. Types and addresses are for programs.
func (c *contents) quietly(value []byte) string {
	defer func(hidden int) { c.hidden = hidden }(c.hidden)
	return c.string(value)
}

// brief is string for a note, which must not be long.
func (c *contents) brief(value []byte) string {
	// No more is decoded than is shown: the value may be most of a large message.
	const window = 6*maxNote + len(`""`) // an escape has six bytes
	if !raw.IsString(value) || len(value) <= window {
		return text.Start(c.string(value), maxNote)
	}
	return text.StartOf(c.string(value[:window]), maxNote, len(value)-len(`""`))
}

// payloadText is the text of the part at hand: that of a string, the JSON of
// anything else.
func (c *contents) payloadText(value []byte) string {
	if c.payload = value; raw.Null(value) {
		return ""
	}
	return c.whole(value)
}

// whole is a value as text: that of a string, the JSON of anything else.
func (c *contents) whole(value []byte) string {
	if raw.IsString(value) {
		return c.string(value)
	}
	return c.clean(text.Bytes(c.keep(value)))
}

// excerpt is the start of a value as text.
func (c *contents) excerpt(value []byte) string {
	if raw.IsString(value) {
		return c.brief(value)
	}
	start := text.Head(text.Bytes(value), maxNote)
	s := c.clean(string(raw.Repair([]byte(start))))
	if len(start) < len(value) {
		s = fmt.Sprintf("%s… (%d bytes)", s, len(value))
	}
	return s
}

// keep returns a value as JSON that every reader takes and that stays as it is.
// It copies what is lent.
func (c *contents) keep(value []byte) []byte {
	// JSON has no NaN, and strings of servers are not always UTF-8: the bytes go
	// to readers that are strict.
	repaired := raw.Repair(value)
	c.nan = c.nan || raw.HasNaN(value)
	if c.lent && len(repaired) > 0 && &repaired[0] == &value[0] {
		return slices.Clone(value)
	}
	return repaired
}
