package mcp

// This file calls tools and turns raw results into what a model can read.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/tap"
	"github.com/seed94b59a13/mcp/internal/text"
)

// handler returns the Handler of a tool.
func (c *Connection) handler(tool Tool, plan *schema.Plan) func(context.Context, json.RawMessage) (ToolResult, error) {
	name := tool.ServerTool // the closure holds what it needs, not the tool
	var mirrors []mirror
	if c.mirrors() {
		mirrors, _ = mirrorsOf(tool.ServerSchema)
	}
	failed := func(err error) (ToolResult, error) {
		return ToolResult{}, c.failed(fmt.Sprintf("calling tool %q", name), err)
	}
	return func(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
		arguments, err := plan.Repair(arguments)
		if err != nil {
			return c.server.refuse(err.Error()), nil
		}
		params := &sdk.CallToolParams{Name: name, Arguments: arguments}
		if params.Meta, err = requestMeta(ctx); err != nil {
			return failed(fmt.Errorf("%w: %w", ErrNotSent, err))
		}
		slot := tap.NewSlot()
		if len(mirrors) > 0 {
			slot.Header = headerOf(mirrors, arguments)
		}
		ctx, done := c.follow(ctx, slot, params)
		defer done()
		answer, err := c.call(ctx, slot, func(ctx context.Context) error {
			_, err := c.session.CallTool(ctx, params)
			return err
		})
		if err != nil {
			return failed(err)
		}
		defer answer.Release()
		if answer.Error != nil {
			return c.server.refuse(refusal(answer.Error)), nil
		}
		return readResult(&c.server, name, answer.Result), nil
	}
}

// refuse returns the result of a call that has no other.
func (s *Server) refuse(content string) ToolResult {
	c := contents{server: s}
	c.write(c.clean(content))
	return ToolResult{Content: c.content(), IsError: true}
}

// maxParts bounds the parts of a result. Nobody means more, and a note on each
// of millions would need many times the memory of the result.
const maxParts = 100_000

// readResult reads the result of a tools/call, a JSON value that was checked.
// It keeps nothing of result.
//
//  1. The members are found, in whatever order they come.
//  2. The parts of the content that a model may see are read, and if they give
//     nothing, those that are for the user alone.
//  3. Only if there is no text then, other members give it: structured content,
//     what an old server wraps, anything unknown.
//  4. What the tool lacks and what was left out is said.
func readResult(server *Server, tool string, result []byte) ToolResult {
	var (
		r       ToolResult
		few     [4]string
		c       = contents{server: server, texts: few[:0]}
		m       = readMembers(result).unwrapped()
		lacking = m.lacking(tool)
	)
	r.IsError = m.isError || lacking != ""
	if !raw.Null(m.structured) {
		r.Structured = bytes.Clone(raw.Repair(m.structured))
	}
	if len(m.content) > 0 && m.content[0] == '[' {
		for value := range raw.Elements(m.content) {
			c.take(value)
		}
	} else if !raw.Null(m.content) {
		c.take(m.content) // a string or one object, meant as a list of it
	}
	if !c.readable() && len(c.images) == 0 && (r.Structured == nil || r.IsError) {
		for _, p := range c.forUser {
			c.add(p)
		}
		c.forUser = nil
	}
	r.Images = c.images
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
		case r.IsError:
			c.write(fmt.Sprintf("[the tool %q failed without a message]", tool))
		case len(r.Images) == 0:
			c.write("[the tool returned nothing]")
		}
	}
	c.write(c.clean(lacking))
	if n := len(c.forUser); n > 0 {
		c.note("left out " + count(n, "part") + " meant only for the user")
	}
	if n := c.parts - maxParts; n > 0 {
		c.note("left out " + count(n, "more part"))
	}
	r.Content = c.content()
	return r
}

// The members of a result, as they came.
type members struct {
	content, structured []byte
	wrapped             []byte // toolResult, where servers of 2024 put the answer
	task, requests      []byte
	kind                string // resultType
	isError             bool
	unknown             []byte // the result itself, if it has any other member or is no object
}

func readMembers(result []byte) (m members) {
	if raw.Null(result) {
		return m
	}
	if result[0] != '{' {
		m.unknown = result
	}
	for name, value := range raw.Members(result) {
		switch string(name) {
		case "content":
			m.content = value
		case "structuredContent":
			m.structured = value
		case "isError":
			m.isError = string(value) == "true" || string(value) == `"true"`
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

// unwrapped returns the members of the result that very old servers put into
// another one. It goes one level deep.
func (m members) unwrapped() members {
	if !raw.Null(m.content) || !raw.Null(m.structured) || len(m.wrapped) == 0 || m.wrapped[0] != '{' {
		return m
	}
	inner := readMembers(m.wrapped)
	inner.isError = inner.isError || m.isError
	return inner
}

// contents collects what a model gets to see.
type contents struct {
	server  *Server
	texts   []string
	images  []Image
	forUser []part // not in texts and images
	parts   int    // of the result, so far
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
		c.note("removed " + count(c.hidden, "invisible character"))
	}
	content := strings.Join(c.texts, "\n")
	if c.server.MaxOutput > 0 {
		content = text.Middle(content, c.server.MaxOutput)
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

// take takes one part of the content, unless it is for the user.
func (c *contents) take(value []byte) {
	if c.parts++; c.parts > maxParts {
		return
	}
	if p := readPart(value); p.isForUser() {
		c.forUser = append(c.forUser, p)
	} else {
		c.add(p)
	}
}

// add reads one part of the content. A member of a wrong type counts as
// absent: it must not cost the part.
func (c *contents) add(p part) {
	if raw.IsString(p.whole) {
		c.write(c.string(p.whole))
		return
	}
	switch kind := c.string(p.kind); {
	case kind == "text" && p.text == nil && p.other:
		c.note("text without text", c.excerpt(p.whole))
	case kind == "text", kind == "" && p.text != nil:
		c.write(c.shown(p.text))
	case kind == "image":
		c.image(p)
	case kind == "audio":
		c.audio(p)
	case kind == "resource_link":
		name := c.brief(p.name)
		if name == "" {
			name = c.brief(p.title)
		}
		size := ""
		if n, ok := tap.ParseID(p.size); ok && n >= 0 {
			size = count(int(n), "byte")
		}
		c.note("resource link", c.brief(p.uri), name, c.brief(p.mimeType), size, c.brief(p.description))
	case kind == "resource":
		c.resource(p.resource)
	case kind != "" && raw.IsString(p.text):
		c.write(fmt.Sprintf("[unknown content %q: %s]", kind, c.string(p.text)))
	default:
		c.note("unknown content", c.excerpt(p.whole))
	}
}

// A part is one part of the content, its members as they came.
type part struct {
	whole []byte

	kind, text, data, mimeType, uri, url, name, title, description, size, resource, annotations []byte

	other bool // there are more members
}

func readPart(value []byte) part {
	p := part{whole: value}
	for name, value := range raw.Members(value) {
		switch string(name) {
		case "type":
			p.kind = value
		case "text":
			p.text = value
		case "data":
			p.data = value
		case "mimeType":
			p.mimeType = value
		case "uri":
			p.uri = value
		case "url":
			p.url = value
		case "name":
			p.name = value
		case "title":
			p.title = value
		case "description":
			p.description = value
		case "size":
			p.size = value
		case "resource":
			p.resource = value
		case "annotations":
			p.annotations = value
		case "_meta":
		default:
			p.other = true
		}
	}
	return p
}

// isForUser reports whether the server means the part for the user and not for
// a model.
func (p *part) isForUser() bool {
	user := false
	for role := range raw.Elements(raw.Member(p.annotations, "audience")) {
		if user = string(role) == `"user"`; !user {
			return false
		}
	}
	return user
}

// resource takes an embedded resource: a text or a file that came with the
// result. Its address stands before its text, since a model asks for it by
// that.
func (c *contents) resource(resource []byte) {
	var (
		uri      = c.brief(raw.Member(resource, "uri"))
		mimeType = c.brief(raw.Member(resource, "mimeType"))
		body     = raw.Member(resource, "text")
		blob     = raw.Member(resource, "blob")
	)
	if !raw.Null(body) {
		c.document(uri, c.shown(body))
		return
	}
	if raw.Null(blob) {
		c.note("resource without content", uri, mimeType)
		return
	}
	data, err := decodeBase64(blob)
	switch kind := sniff(data); {
	case err != nil:
		c.note("resource that cannot be decoded", uri, mimeType)
	case isText(mimeType) && utf8.Valid(data):
		c.document(uri, c.clean(string(data)))
	case isPicture(kind):
		c.picture(kind, data)
	default:
		c.note("resource", uri, mimeType, count(len(data), "byte"))
	}
}

func (c *contents) document(uri, body string) {
	if uri != "" {
		c.note("resource", uri)
	}
	c.write(body)
}

// isText reports whether files of the type are text.
func isText(mimeType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(mimeType), ";")
	kind = strings.TrimSpace(kind)
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(kind, "application/"), "x-") {
	case "json", "ndjson", "jsonl", "json-seq", "xml", "yaml", "toml", "javascript", "ecmascript", "typescript", "sh", "shellscript",
		"sql", "graphql", "www-form-urlencoded", "csv", "markdown", "tex", "latex", "python", "httpd-php", "pem-file":
		return true
	}
	return false
}

// count returns a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
