package result

// This file collects the texts and notes of a result.

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// contents collects what a model gets to see.
type contents struct {
	limits  Limits
	texts   []string
	images  []Image
	forUser []part // not in texts and images
	parts   int    // of the result, so far
	blank   int    // texts that are notes on a part which says nothing
	hidden  int    // characters that were removed
}

// maxNote bounds the JSON in a note, and the parts of other notes, in bytes.
const maxNote = 2 << 10

// write adds a text, unless it is empty.
func (c *contents) write(s string) {
	if s != "" {
		c.texts = append(c.texts, s)
	}
}

// note adds what is said in place of something, with what is known of it.
func (c *contents) note(what string, known ...string) {
	separator := ": "
	for _, s := range known {
		if s != "" {
			what += separator + s
			separator = ", "
		}
	}
	c.write("[" + what + "]")
}

// readable reports whether there is text: providers refuse a message of white
// space as they do an empty one.
func (c *contents) readable() bool {
	return slices.ContainsFunc(c.texts, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// content returns the texts as one, under the cap. A single text, which may be
// large, is not copied.
func (c *contents) content() string {
	if c.hidden > 0 {
		c.note("removed " + Count(c.hidden, "invisible character"))
	}
	content := strings.Join(c.texts, "\n")
	if c.limits.MaxOutput > 0 {
		content = text.Middle(content, c.limits.MaxOutput)
	}
	return content
}

// clean cleans a text that was decoded already.
func (c *contents) clean(s string) string {
	s, hidden := text.Result(s)
	c.hidden += hidden
	return s
}

// string decodes a JSON string; anything else gives "".
func (c *contents) string(value []byte) string {
	s, hidden, _ := text.Decode(value)
	c.hidden += hidden
	return s
}

// brief is string for a note, which must not be long.
func (c *contents) brief(value []byte) string {
	return text.Start(c.string(value), maxNote)
}

// shown is a value as text: that of a string, the JSON of anything else.
func (c *contents) shown(value []byte) string {
	if raw.Null(value) || raw.IsString(value) {
		return c.string(value)
	}
	return c.clean(string(raw.Repair(value)))
}

// excerpt is the start of a value as text.
func (c *contents) excerpt(value []byte) string {
	if raw.IsString(value) {
		return c.brief(value)
	}
	if len(value) <= maxNote {
		return c.clean(string(raw.Repair(value)))
	}
	n := maxNote
	for n > 0 && !utf8.RuneStart(value[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d bytes)", c.clean(string(raw.Repair(value[:n]))), len(value))
}

// Count returns a number of things in words.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
