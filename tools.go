package mcp

// This file reads the entries of a list of tools.

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/streamable"
	"github.com/seed94b59a13/mcp/internal/text"
)

// A listing collects the tools of all pages. What is not of use afterwards is
// gone when it is finished.
type listing struct {
	tools    []Tool
	entries  []uint64 // hashes of what each tool was made of; 0 if there was a warning about it
	warnings []string
	hash     uint64 // of the answers

	server  *Server
	headers bool // calls repeat arguments in headers
	seed    maphash.Seed
	last    *listing          // the one before, or an empty one
	next    int               // the index there of the tool that is expected next
	known   map[uint64]int    // the indexes there, by entry; nil before it is needed
	strange int               // entries in a row that are not there
	index   int               // of the next entry
	names   map[string]string // by Tool.Name, the server's names of the tools kept
	matched map[string]bool   // the entries of Server.Tools and ExcludeTools that matched
	plans   []*schema.Plan    // for the arguments of each tool; nil where it has a Handler
	more    int               // warnings left out
	full    bool              // maxTools are there
	hidden  int               // characters that were removed from the tool at hand
	scratch []byte            // for what is put together
}

// newListing returns an empty listing that follows the last one.
func (c *Connection) newListing(last *listing) *listing {
	return &listing{server: &c.server, headers: c.repeatsArguments(), seed: c.seed, last: last}
}

// grow makes room for about as many tools as there were last time.
func (l *listing) grow() {
	size := len(l.last.tools)
	l.tools = make([]Tool, 0, size)
	l.entries = make([]uint64, 0, size)
	l.names = make(map[string]string, size)
	l.matched = map[string]bool{}
	l.plans = make([]*schema.Plan, 0, size)
}

// maxStrange is how many entries in a row may be new before all that follow are
// taken to be.
const maxStrange = 64

func (l *listing) warn(format string, args ...any) {
	if len(l.warnings) == maxWarnings {
		l.more++
		return
	}
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

// clean returns what the server says without what a model must not see.
func (l *listing) clean(s string) string {
	s, n := text.Prompt(s)
	l.hidden += n
	return s
}

// page takes the tools of one page and returns the cursor of the next.
func (l *listing) page(result []byte) (next string) {
	if raw.Null(result) {
		return ""
	}
	c := raw.Read(result)
	if c.Kind() != '{' {
		l.list(c) // the list itself
	}
	for name := range c.Object() {
		switch string(name) {
		case "tools":
			l.list(c)
		case "nextCursor":
			value := c.Value()
			var ok bool
			if next, ok = raw.String(value); !ok && !raw.Empty(value) {
				l.warn("the list of tools goes on after a cursor that is no text: the rest is left out")
			}
		}
	}
	return next
}

func (l *listing) list(c *raw.Cursor) {
	if kind := c.Kind(); kind != '[' && kind != 'n' {
		l.warn("a page of the list of tools has no list in it")
	}
	for range c.Array() {
		l.entry(c)
	}
}

// entry takes one tool of a list. Whatever is wrong with it costs only the
// tool, and a wrong optional member only the member.
func (l *listing) entry(c *raw.Cursor) {
	if len(l.tools) == maxTools {
		if !l.full {
			l.full = true
			l.warn("the list has more than %d tools: the rest is left out", maxTools)
		}
		return
	}
	e := toolEntry{index: l.index}
	l.index++
	start := c.At()
	var hash uint64
	if len(l.last.tools) > 0 {
		if hash = maphash.Bytes(l.seed, c.Value()); l.again(hash) {
			return
		}
		c.Back(start)
	}
	if c.Kind() != '{' {
		l.warn("dropped entry %d of the list of tools: it is no object", e.index)
		return
	}
	kept, warned := len(l.tools), len(l.warnings)+l.more
	for name := range c.Object() {
		e.member(name, c)
	}
	l.add(&e)
	if len(l.tools) == kept {
		return
	}
	switch {
	case len(l.warnings)+l.more > warned:
		hash = 0
	case hash == 0:
		hash = maphash.Bytes(l.seed, c.Since(start))
	}
	l.entries = append(l.entries, hash)
}

// again takes a tool over from the last listing, if there was one with the
// same entry: of a long list that has changed, most has not.
func (l *listing) again(hash uint64) bool {
	at := l.next
	l.next++ // this may be the one that has changed
	if at >= len(l.last.entries) || l.last.entries[at] != hash {
		if l.known == nil {
			l.known = make(map[uint64]int, len(l.last.entries))
			for i, entry := range l.last.entries {
				l.known[entry] = i
			}
		}
		var ok bool
		if at, ok = l.known[hash]; !ok {
			if l.strange++; l.strange == maxStrange {
				l.last = &listing{} // another list: looking on would take longer than it saves
			}
			return false
		}
	}
	l.strange = 0
	tool := l.last.tools[at]
	if _, ok := l.names[tool.Name]; ok || hash == 0 || !l.selected(tool.ServerTool) {
		return false
	}
	l.next = at + 1
	l.names[tool.Name] = tool.ServerTool
	l.tools, l.plans, l.entries = append(l.tools, tool), append(l.plans, nil), append(l.entries, hash)
	return true
}

// add takes a tool.
func (l *listing) add(e *toolEntry) {
	name, ok := raw.String(e.name)
	if !ok || name == "" {
		l.warn("dropped entry %d of the list of tools: it has no name", e.index)
		return
	}
	if !l.selected(name) {
		return
	}
	if e.hidden() {
		l.warn("left out tool %q: the server means it for its user interface, not for a model", name)
		return
	}
	if value, _ := raw.String(raw.Member(e.execution, "taskSupport")); value == "required" {
		l.warn("left out tool %q: it can only be called as a task, which is not supported", name)
		return
	}
	tool := Tool{Name: ToolName(l.server.Name, name), Server: l.server.Name, ServerTool: name}
	if first, ok := l.names[tool.Name]; ok {
		l.warn("dropped tool %q: the list has %q before it, under the same name", name, first)
		return
	}
	l.hidden = 0
	plan := e.plan
	tool.ServerSchema, tool.InputSchema = e.serverSchema, e.normal
	if e.normal == nil {
		var err error
		if tool.ServerSchema, tool.InputSchema, plan, err = l.normalize(e.inputSchema); err != nil {
			l.warn("dropped tool %q: %v", name, err)
			return
		}
	}
	if l.headers {
		if _, err := streamable.ReadParams(tool.ServerSchema); err != nil {
			l.warn("dropped tool %q: %v", name, err)
			return
		}
	}
	if !raw.Null(e.outputSchema) {
		if e.outputSchema[0] == '{' {
			tool.OutputSchema = raw.Compact(e.outputSchema)
		} else {
			l.warn("left out the output schema of tool %q: it is no object", name)
		}
	}
	tool.Annotations = e.hints()
	for _, title := range [][]byte{e.title, raw.Member(e.annotations, "title")} {
		if tool.Title == "" {
			title, _ := raw.String(title)
			tool.Title = l.clean(title)
		}
	}
	tool.Description = l.clean(l.describe(name, e.description))
	if l.hidden > 0 {
		l.warn("removed %s from what the server says of tool %q", result.Count(l.hidden, "invisible character"), name)
	}
	tool.Fingerprint = l.fingerprint(name, e.description, tool.ServerSchema, tool.OutputSchema, e.annotations)
	l.names[tool.Name] = name
	l.tools, l.plans = append(l.tools, tool), append(l.plans, plan)
}

// selected reports whether the Server wants the tool. Exclusion wins.
func (l *listing) selected(name string) bool {
	matches := func(entries []string) (any bool) {
		for _, entry := range entries {
			if text.Match(entry, name) {
				l.matched[entry], any = true, true
			}
		}
		return any
	}
	keep := matches(l.server.Tools) || len(l.server.Tools) == 0
	return !matches(l.server.ExcludeTools) && keep
}

// describe puts a description together.
func (l *listing) describe(name string, given []byte) string {
	s := append(l.scratch[:0], "Tool "...)
	s = append(s, name...)
	s = append(s, " from the MCP server "...)
	s = append(s, l.server.Name...)
	s = append(s, ". "...)
	l.scratch = raw.AppendString(s, given)
	if len(l.scratch) == len(s) {
		return string(s[:len(s)-1]) // the server says nothing
	}
	return string(l.scratch)
}

// normalize returns the schema as the server gave it, without white space, and
// its normal form.
func (l *listing) normalize(given []byte) (server, normal json.RawMessage, plan *schema.Plan, err error) {
	if !raw.Null(given) {
		server = bytes.Clone(raw.Repair(given)) // the page is not kept
	}
	normalizer := schema.Normalizer{Clean: l.clean}
	if normal, plan, err = normalizer.Normalize(server); err != nil {
		return nil, nil, nil, err
	}
	// A schema that stayed as it was has no white space to take out.
	if server != nil && &normal[0] != &server[0] {
		if tight := raw.Compact(server); len(tight) < len(server) {
			server = tight
			normal, plan, _ = normalizer.Normalize(tight)
		}
	}
	return server, normal, plan, nil
}

// finish tells what concerns the list as a whole, and lets go of the rest but
// for plans.
func (l *listing) finish() {
	for _, field := range []struct {
		name    string
		entries []string
	}{{"Tools", l.server.Tools}, {"ExcludeTools", l.server.ExcludeTools}} {
		for _, entry := range field.entries {
			if !l.matched[entry] {
				l.warn("the server offers no tool that %q in Server.%s means", entry, field.name)
			}
		}
	}
	if l.more > 0 {
		l.warnings = append(l.warnings, fmt.Sprintf("and %d more warnings about the list of tools", l.more))
	}
	*l = listing{tools: l.tools, entries: l.entries, warnings: l.warnings, hash: l.hash, plans: l.plans}
}

// A toolEntry holds the members of an entry of a list, as they came, and the
// schema where it is already known to be normal.
type toolEntry struct {
	index int // in the list

	name, title, description, inputSchema, outputSchema, annotations, execution, meta []byte

	serverSchema, normal json.RawMessage
	plan                 *schema.Plan
}

// member takes a member. Of duplicates the last one counts.
func (e *toolEntry) member(name []byte, c *raw.Cursor) {
	switch string(name) {
	case "name":
		e.name = c.Value()
	case "title":
		e.title = c.Value()
	case "description":
		e.description = c.Value()
	case "inputSchema":
		start := c.At()
		var n int
		if e.serverSchema, e.normal, e.plan, n = reader.Read(c.Rest()); n > 0 {
			c.Back(start + n)
		} else {
			e.inputSchema = c.Value()
		}
	case "outputSchema":
		e.outputSchema = c.Value()
	case "annotations":
		e.annotations = c.Value()
	case "execution":
		e.execution = c.Value()
	case "_meta":
		e.meta = c.Value()
	}
}

// reader reads schemas that have nothing to clean.
var reader = schema.Normalizer{Clean: func(s string) string {
	s, _ = text.Prompt(s)
	return s
}}

// hidden reports whether the tool is for an app in the host's user interface
// (MCP Apps, _meta.ui.visibility).
func (e *toolEntry) hidden() bool {
	visibility := raw.Member(raw.Member(e.meta, "ui"), "visibility")
	if len(visibility) == 0 || visibility[0] != '[' {
		return false
	}
	for audience := range raw.Elements(visibility) {
		if string(audience) == `"model"` {
			return false
		}
	}
	return true
}

func (e *toolEntry) hints() *Annotations {
	if len(e.annotations) == 0 || e.annotations[0] != '{' {
		return nil
	}
	var a Annotations
	for name, value := range raw.Members(e.annotations) {
		var hint **bool
		switch string(name) {
		case "readOnlyHint":
			hint = &a.ReadOnly
		case "destructiveHint":
			hint = &a.Destructive
		case "idempotentHint":
			hint = &a.Idempotent
		case "openWorldHint":
			hint = &a.OpenWorld
		default:
			continue
		}
		switch string(value) {
		case "true":
			*hint = new(bool)
			**hint = true
		case "false":
			*hint = new(bool)
		}
	}
	if a == (Annotations{}) {
		return nil
	}
	return &a
}

// fingerprint digests what a server says of a tool. Each part is preceded by
// its length, so that no text can move from one to the next unseen.
func (l *listing) fingerprint(name string, description, inputSchema, outputSchema, annotations []byte) string {
	if annotations != nil {
		annotations = raw.Compact(annotations)
	}
	b := l.scratch[:0]
	part := func(add func(dst, text []byte) []byte, text []byte) {
		start := len(b)
		b = add(append(b, make([]byte, 8)...), text)
		binary.BigEndian.PutUint64(b[start:], uint64(len(b)-start-8))
	}
	plain := func(dst, text []byte) []byte { return append(dst, text...) }
	part(func(dst, _ []byte) []byte { return append(dst, name...) }, nil)
	part(raw.AppendString, description)
	part(plain, inputSchema)
	part(plain, outputSchema)
	part(plain, annotations)
	sum := sha256.Sum256(b)
	l.scratch = hex.AppendEncode(append(b[:0], "v1:"...), sum[:])
	return string(l.scratch)
}
