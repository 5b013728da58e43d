// Package result turns the raw result of a tools/call into what a model can
// read.
//
// Servers send more than their schema allows, and less. Whatever is wrong with
// a part costs only that part; what cannot be shown is a note in brackets.
package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// Limits bound what a result may have; 0 means no bound.
type Limits struct {
	MaxOutput     int // bytes of Content, text.Shortest at least
	MaxImages     int
	MaxImageBytes int // of the file of each image
}

// A Result is what a model gets to see of a call, as mcp.ToolResult says.
type Result struct {
	Content    string
	Images     []Image
	IsError    bool
	Structured json.RawMessage
}

// An Image is a picture of a type that providers take.
type Image struct {
	MIMEType string
	Data     []byte
}

// maxParts bounds the parts of a result. Nobody means more, and a note on each
// of millions would need many times the memory of the result.
const maxParts = 100_000

// Read reads the result of a call of the tool, a JSON value that was checked.
// It keeps nothing of result.
//
//  1. The members are found, in whatever order they come.
//  2. The parts of the content that a model may see are read, and if they give
//     nothing, those that are for the user alone.
//  3. Only if there is no text then, other members give it: structured content,
//     what an old server wraps, anything unknown.
//  4. What the tool lacks and what was left out is said.
func Read(limits Limits, tool string, result []byte) Result {
	var (
		r   Result
		few [4]string
		c   = contents{limits: limits, texts: few[:0]}
		m   = c.members(result)
	)
	// Very old servers put the members of the result into another one. It goes
	// one level deep.
	if raw.Null(m.content) && raw.Null(m.structured) && len(m.wrapped) > 0 && m.wrapped[0] == '{' {
		outer := m
		m = c.members(m.wrapped)
		if !m.isError {
			m.isError, m.failure = outer.isError, outer.failure
		}
	}
	lacking := m.lacking(tool)
	r.IsError = m.isError || lacking != ""
	if !raw.Null(m.structured) {
		r.Structured = bytes.Clone(raw.Repair(m.structured))
	}
	if !c.readable() && len(c.images) == 0 && (r.Structured == nil || r.IsError) {
		for _, p := range c.forUser {
			c.add(p)
		}
		c.forUser = nil
	}
	r.Images = c.images
	if r.Structured != nil && len(c.texts) == c.blank {
		c.texts = nil // notes on nothing must not stand before something
	}
	if !c.readable() {
		c.texts = nil
		switch {
		case r.Structured != nil:
			c.write(c.clean(string(r.Structured)))
		case lacking != "":
		case !raw.Null(m.wrapped):
			c.write(c.shown(m.wrapped))
		case m.unknown != nil:
			c.note("unknown result", c.excerpt(m.unknown))
			// A client must take a type that it does not know for an error.
			r.IsError = r.IsError || m.kind != "" && m.kind != "complete"
		}
	}
	if !c.readable() && lacking == "" {
		c.texts = nil
		if r.IsError {
			c.write(fmt.Sprintf("[the tool %q failed without a message]", tool))
		} else if len(r.Images) == 0 {
			c.write("[the tool returned nothing]")
		}
	}
	c.write(c.clean(lacking))
	if m.failure != nil {
		c.note("isError", c.excerpt(m.failure))
	}
	if n := len(c.forUser); n > 0 {
		c.note("left out " + Count(n, "part") + " meant only for the user")
	}
	if n := c.parts - maxParts; n > 0 {
		c.note("left out " + Count(n, "more part"))
	}
	r.Content = c.content()
	return r
}

// The members of a result, as they came.
type members struct {
	content, structured []byte // the parts of content are taken already
	wrapped             []byte // toolResult, where servers of 2024 put the answer
	task, requests      []byte
	kind                string // resultType
	isError             bool
	failure             []byte // isError, if it is something else than true and false
	unknown             []byte // the result itself, if it has any other member or is no object
}

// members reads the members of a result, and takes the parts of its content: a
// large one is gone over once.
func (c *contents) members(result []byte) (m members) {
	if raw.Null(result) {
		return m
	}
	if result[0] != '{' {
		m.unknown = result
	}
	cursor := raw.Read(result)
	for name := range cursor.Object() {
		start := cursor.At()
		if string(name) == "content" {
			c.takeAll(cursor)
			m.content = cursor.Since(start)
			continue
		}
		switch value := cursor.Value(); string(name) {
		case "structuredContent":
			m.structured = value
		case "isError":
			m.isError, m.failure = readFlag(value)
		case "_meta":
		case "toolResult":
			m.wrapped = value
		case "resultType":
			if m.kind, _ = raw.String(value); m.kind != "complete" {
				m.unknown = result
			}
		case "task":
			m.task, m.unknown = value, result
		case "inputRequests":
			m.requests, m.unknown = value, result
		default:
			m.unknown = result
		}
	}
	return m
}

// readFlag reads a boolean as servers write it. Anything else that says
// something is true, and given back to be shown.
func readFlag(value []byte) (flag bool, odd []byte) {
	switch strings.ToLower(strings.Trim(string(value[:min(len(value), len(`"false"`))]), `"`)) {
	case "true", "1":
		return true, nil
	case "", "false", "0", "null", "{}", "[]":
		return false, nil
	}
	return true, value
}
