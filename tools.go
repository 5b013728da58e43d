package mcp

// This file lists the tools of a server.

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/tap"
	"github.com/seed94b59a13/mcp/internal/text"
)

const (
	maxListBytes = 64 << 20 // over all pages
	maxTools     = 20_000
	maxPages     = 1_000
	maxWarnings  = 100
	maxRestarts  = 3 // of a listing whose session was lost on the way
)

// RefreshTools lists the tools anew and replaces the list in one step. On an
// error the previous list stays. Tools that are gone stay callable: the server
// answers for them.
func (c *Connection) RefreshTools(ctx context.Context) error {
	return c.list(ctx)
}

func (c *Connection) list(ctx context.Context) error {
	capabilities := c.session.InitializeResult().Capabilities
	if capabilities != nil && capabilities.Tools == nil {
		return nil // a server of prompts or resources alone
	}
	l := listing{server: &c.server, mirrors: c.mirrors(), names: map[string]string{}}
	l.hash.SetSeed(c.seed)
	var pages []tap.Answer
	var lists [][]byte // the tools of each page
	defer func() {
		for _, page := range pages {
			page.Release()
		}
	}()
	var (
		params   sdk.ListToolsParams
		cursors  = map[string]bool{}
		size     int
		session  int // that the pages are from
		restarts int
	)
	for {
		slot := tap.NewSlot()
		answer, err := c.call(ctx, slot, "listing tools", func(ctx context.Context) error {
			_, err := c.session.ListTools(ctx, &params)
			return err
		})
		if err != nil {
			return err
		}
		// A cursor of a session that was lost means nothing to its successor.
		if len(pages) > 0 && slot.Generation != session {
			answer.Release()
			if restarts++; restarts > maxRestarts {
				return fmt.Errorf("mcp server %q: listing tools: the server forgot the session %d times", c.server.Name, restarts)
			}
			for _, page := range pages {
				page.Release()
			}
			pages, lists, size, l.warnings = nil, nil, 0, nil
			clear(cursors)
			params.Cursor = ""
			l.hash.Reset()
			continue
		}
		session = slot.Generation
		pages = append(pages, answer)
		if answer.Error != nil {
			refusal := tap.ParseError(answer.Error)
			if refusal.Code == jsonrpc.CodeMethodNotFound && len(pages) == 1 {
				break
			}
			return fmt.Errorf("mcp server %q: listing tools: %w", c.server.Name, errors.New(errorText(refusal)))
		}
		l.hash.Write(answer.Result)
		var tools, next []byte
		for name, value := range raw.Members(answer.Result) {
			switch string(name) {
			case "tools":
				tools = value
			case "nextCursor":
				next = value
			}
		}
		lists = append(lists, tools)
		if size += len(answer.Result); size > maxListBytes {
			l.warn("the list of tools is longer than %d bytes: the rest is left out", maxListBytes)
			break
		}
		cursor, ok := raw.String(next)
		if !ok || cursor == "" {
			break
		}
		if cursors[cursor] {
			l.warn("the list of tools comes back to a page that was there before: it is taken to end here")
			break
		}
		if len(pages) == maxPages {
			l.warn("the list of tools has more than %d pages: the rest is left out", maxPages)
			break
		}
		cursors[cursor], params.Cursor = true, cursor
	}
	hash := l.hash.Sum64()
	c.mu.Lock()
	unchanged := c.tools != nil && c.listHash == hash
	c.mu.Unlock()
	if unchanged {
		return nil
	}
	for _, list := range lists {
		l.page(list)
	}
	for _, name := range c.server.Tools {
		if _, ok := l.offered[name]; !ok {
			l.warn("the server does not offer the tool %q, which Server.Tools names", name)
		}
	}
	if l.more > 0 {
		l.warnings = append(l.warnings, fmt.Sprintf("and %d more warnings about the list of tools", l.more))
	}
	for i := range l.tools {
		l.tools[i].Handler = c.handler(l.tools[i], l.plans[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools, c.listWarnings, c.listHash = l.tools, l.warnings, hash
	return nil
}

// A listing collects the tools of all pages.
type listing struct {
	server   *Server
	mirrors  bool // calls repeat arguments in headers
	hash     maphash.Hash
	index    int
	names    map[string]string   // by Tool.Name, the server's names of the tools kept
	offered  map[string]struct{} // the server's names that Server.Tools asks for
	tools    []Tool
	plans    []*schema.Plan // for the arguments of each tool
	warnings []string
	more     int // warnings left out
}

func (l *listing) warn(format string, args ...any) {
	if len(l.warnings) == maxWarnings {
		l.more++
		return
	}
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

func (l *listing) page(tools []byte) {
	if !raw.Null(tools) && tools[0] != '[' {
		l.warn("a page of the list of tools has no list in it")
	}
	for entry := range raw.Elements(tools) {
		if len(l.tools) == maxTools {
			l.warn("the list has more than %d tools: the rest is left out", maxTools)
			return
		}
		l.entry(entry)
		l.index++
	}
}

// entry takes one tool of a list. Whatever is wrong with it costs only the
// tool, and a wrong optional member only the member.
func (l *listing) entry(entry []byte) {
	if entry[0] != '{' {
		l.warn("dropped entry %d of the list of tools: it is no object", l.index)
		return
	}
	var e toolEntry
	for name, value := range raw.Members(entry) {
		e.set(string(name), value)
	}
	name, ok := raw.String(e.name)
	if !ok || name == "" {
		l.warn("dropped entry %d of the list of tools: it has no name", l.index)
		return
	}
	if len(l.server.Tools) > 0 {
		if !slices.Contains(l.server.Tools, name) {
			return
		}
		if l.offered == nil {
			l.offered = map[string]struct{}{}
		}
		l.offered[name] = struct{}{}
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
	if !raw.Null(e.inputSchema) {
		tool.ServerSchema = raw.Compact(e.inputSchema)
	}
	hidden := 0
	clean := func(s string) string {
		s, n := text.Prompt(s)
		hidden += n
		return s
	}
	var plan *schema.Plan
	var err error
	if tool.InputSchema, plan, err = (schema.Normalizer{Clean: clean}).Normalize(tool.ServerSchema); err != nil {
		l.warn("dropped tool %q: %v", name, err)
		return
	}
	if l.mirrors {
		if _, err := mirrorsOf(tool.ServerSchema); err != nil {
			l.warn("dropped tool %q: %v", name, err)
			return
		}
	}
	if !raw.Null(e.outputSchema) {
		tool.OutputSchema = raw.Compact(e.outputSchema)
	}
	tool.Annotations = e.hints()
	for _, title := range [][]byte{e.title, raw.Member(e.annotations, "title")} {
		if tool.Title == "" {
			title, _ := raw.String(title)
			tool.Title = clean(title)
		}
	}
	tool.Description = "Tool " + clean(name) + " from the MCP server " + l.server.Name + "."
	if description, _ := raw.String(e.description); description != "" {
		tool.Description += " " + clean(description)
	}
	if hidden > 0 {
		l.warn("removed %s from what the server says of tool %q", count(hidden, "invisible character"), name)
	}
	l.names[tool.Name] = name
	l.tools, l.plans = append(l.tools, tool), append(l.plans, plan)
}

// A toolEntry holds the members of an entry of a list, as they came.
type toolEntry struct {
	name, title, description, inputSchema, outputSchema, annotations, execution, meta []byte
}

func (e *toolEntry) set(name string, value []byte) {
	switch name {
	case "name":
		e.name = value
	case "title":
		e.title = value
	case "description":
		e.description = value
	case "inputSchema":
		e.inputSchema = value
	case "outputSchema":
		e.outputSchema = value
	case "annotations":
		e.annotations = value
	case "execution":
		e.execution = value
	case "_meta":
		e.meta = value
	}
}

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

// errorText shows an error that a server answered with.
func errorText(e jsonrpc.Error) string {
	var b strings.Builder
	b.WriteString(e.Message)
	if e.Message == "" {
		b.WriteString("the server gave no message")
	}
	if e.Code != 0 {
		fmt.Fprintf(&b, " (code %d)", e.Code)
	}
	if len(e.Data) > 0 {
		fmt.Fprintf(&b, ": %s", text.Start(string(e.Data), maxNote))
	}
	return b.String()
}
