// Package result turns the raw result of a tools/call into what a model can
// read, and into its parts for a program.
//
// Servers send more than their schema allows, and less. Whatever is wrong with
// a part costs only that part; what cannot be shown is a note in brackets.
package result

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// Limits bound what a result may have; 0 means no bound. They are the host's, and
// not the server's to widen.
type Limits struct {
	MaxOutput     int // bytes of Content, text.Shortest at least
	MaxImages     int
	MaxImageBytes int // of the file of each image
}

// A Result is what there is of a call, as mcp.ToolResult says.
type Result struct {
	Content    string
	Images     []Image
	Parts      []Part
	IsError    bool
	Structured json.RawMessage
}

// An Image is a picture of a type that providers take.
type Image struct {
	MIMEType string
	Data     []byte
}

// A Part is one part of the content, as mcp.Part says.
type Part struct {
	Type     string
	Text     string
	MIMEType string
	Data     []byte
	URI      string
	Audience []string
	Raw      json.RawMessage
}

// maxParts bounds the parts of a result. Nobody means more, and a note on each
// of millions would need many times the memory of the result.
const maxParts = 100_000

// large is how long a result is of which no text and no file is kept twice, in
// bytes. What the transports lend is longer.
const large = 32 << 10

// Read reads the result of a call of the tool, a JSON value that was checked.
// Where it is lent or large, nothing of it is kept; else the Result aliases it.
//
//  1. The members are found, in whatever order they come.
//  2. The parts of the content that a model may see are read, and if they give
//     nothing, those that are for the user alone.
//  3. Only if there is no text then, other members give it: structured content,
//     what an old server wraps, anything unknown.
//  4. What the tool lacks and what was left out is said.
func Read(limits Limits, tool string, result []byte, lent bool) Result {
	var (
		r   Result
		few [4]string
		c   = contents{limits: limits, lent: lent || len(result) >= large, shown: shown{texts: few[:0]}}
		m   = c.members(result)
	)
	// Very old servers put the members of the result into another one. It goes
	// one level deep.
	if raw.Null(m.content) && raw.Null(m.structured) && len(m.wrapped) > 0 && m.wrapped[0] == '{' {
		outer := m
		m = c.members(m.wrapped)
		if !m.isError {
			m.isError, m.failure, m.trouble = outer.isError, outer.failure, outer.trouble
		}
	}
	// It is in notes only, and a server may have given it any length.
	tool = text.Start(tool, maxName)
	// What a tool lacks is an error to a model, whatever the flag says: the work is
	// not done.
	lacking := m.lacking(tool)
	r.IsError = m.isError || lacking != ""
	if !raw.Null(m.structured) {
		r.Structured = c.keep(m.structured)
	}
	// What is meant for the user alone is better than nothing, but not better than
	// structured content; only a failure is told by all that there is.
	if !c.readable() && len(c.images) == 0 && (r.Structured == nil || r.IsError) {
		c.shown.append(c.forUser)
		c.userOnly = 0
	}
	if r.Structured != nil && len(c.texts) == c.blank {
		c.forget() // notes on nothing must not stand before something
	}
	if !c.readable() {
		c.forget()
	}
	// Servers should repeat structured content as a text for clients that know no
	// other (server/tools, Structured Content). Where they do not, a model would
	// see nothing of it.
	if r.Structured != nil && c.spoken == 0 {
		c.write(c.clean(text.Bytes(r.Structured))) // also beside notes
	}
	if !c.readable() {
		switch {
		case lacking != "":
		case !raw.Null(m.wrapped):
			c.write(c.whole(m.wrapped))
		case m.unknown != nil:
			c.note("unknown result", c.whole(m.unknown))
			m.trouble = nil // it is in there
			// A client must take a type that it does not know for an error.
			r.IsError = r.IsError || m.kind != "" && m.kind != "complete"
		}
	}
	if !c.readable() && lacking == "" {
		c.forget()
		if r.IsError {
			c.write(fmt.Sprintf("[the tool %q failed without a message]", tool))
		} else if len(c.images) == 0 {
			c.write("[the tool returned nothing]")
		}
	}
	c.notes(&m, lacking)
	r.Content, r.Images, r.Parts = c.content(), c.images, c.parts
	return r
}

// notes adds what is said of the result as a whole.
func (c *contents) notes(m *members, lacking string) {
	// This is not a text of the server: an image before it needs no mark.
	spoken := c.spoken
	c.write(c.clean(lacking))
	c.spoken = spoken
	// A flag that is a text mostly says what has failed.
	if m.failure != nil {
		c.note("isError", c.whole(m.failure))
	}
	if m.trouble != nil {
		c.note("error", c.whole(m.trouble))
	}
	if c.nan {
		c.note("NaN or an infinity is null here")
	}
	if c.userOnly > 0 {
		c.note("left out " + text.Count(c.userOnly, "part") + " meant only for the user")
	}
	if n := c.number - maxParts; n > 0 {
		c.note("left out " + text.Count(n, "more part"))
	}
}

// The members of a result, as they came.
type members struct {
	content, structured []byte // the parts of content are taken already
	wrapped             []byte // toolResult, where servers of 2024 put the answer
	task, requests      []byte
	kind                string // resultType
	isError             bool
	failure             []byte // isError, if it is something else than true and false
	trouble             []byte // a member error, which no version of the protocol has
	unknown             []byte // the result itself, if it has any other member or is not an object
}

// members reads the members of a result, and takes the parts of its content: a
// large one is gone over once.
func (c *contents) members(result []byte) (m members) {
	if raw.Null(result) {
		return m
	}
	if result[0] != '{' { // it has no members, and is shown as it is
		m.unknown = result
	}
	cursor := raw.Read(result)
	for name := range cursor.Object() {
		start := cursor.At()
		if raw.Named(name, "content") {
			c.takeAll(cursor)
			m.content = cursor.Since(start)
			continue
		}
		switch value := cursor.Value(); {
		case raw.Named(name, "structuredContent"):
			m.structured = value
		case raw.Named(name, "isError"):
			m.failed(value)
		// It is for programs. Without the underscore it would be a member of the
		// server's own.
		case string(name) == "_meta":
		case raw.Named(name, "toolResult"):
			m.wrapped = value
		case raw.Named(name, "resultType"):
			if m.kind, _ = raw.String(value); m.kind != "complete" {
				m.unknown = result
			}
		case raw.Named(name, "task"):
			m.task, m.unknown = value, result
		case raw.Named(name, "inputRequests"):
			m.requests, m.unknown = value, result
		case raw.Named(name, "error") && !raw.Empty(value) && string(value) != `""`:
			m.isError, m.trouble, m.unknown = true, value, result
		default:
			m.unknown = result
		}
	}
	return m
}

// failed takes a flag. Where a result has several, one is enough: a failure must
// never read as a success.
func (m *members) failed(value []byte) {
	if flag, odd := readFlag(value); flag {
		m.isError, m.failure = true, odd
	}
}

// readFlag reads a boolean as servers write it. Anything else that says something
// is true, and given back to be shown. No more of it is looked at than the longest
// word has: it may be most of the message.
func readFlag(value []byte) (flag bool, odd []byte) {
	switch strings.ToLower(strings.Trim(string(value[:min(len(value), len(`"false"`))]), `"`)) {
	case "true", "1":
		return true, nil
	case "", "false", "0", "null", "{}", "[]":
		return false, nil
	}
	return true, value
}
