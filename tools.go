package mcp

// This file reads the entries of a list of tools.

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/text"
)

// A listing collects the tools of all pages.
type listing struct {
	server   *Server
	mirrors  bool // calls repeat arguments in headers
	index    int
	names    map[string]string // by Tool.Name, the server's names of the tools kept
	matched  map[string]bool   // the entries of Server.Tools and ExcludeTools that matched
	tools    []Tool
	plans    []*schema.Plan // for the arguments of each tool
	warnings []string
	more     int // warnings left out
	digest   hash.Hash
	scratch  []byte // of fingerprint
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
	if !raw.Null(e.inputSchema) {
		tool.ServerSchema = bytes.Clone(raw.Repair(e.inputSchema)) // the page is not kept
	}
	hidden := 0
	clean := func(s string) string {
		s, n := text.Prompt(s)
		hidden += n
		return s
	}
	var plan *schema.Plan
	var err error
	normalizer := schema.Normalizer{Clean: clean}
	if tool.InputSchema, plan, err = normalizer.Normalize(tool.ServerSchema); err != nil {
		l.warn("dropped tool %q: %v", name, err)
		return
	}
	// A schema that stayed as it was has no white space to take out.
	if tool.ServerSchema != nil && &tool.InputSchema[0] != &tool.ServerSchema[0] {
		if tight := raw.Compact(tool.ServerSchema); len(tight) < len(tool.ServerSchema) {
			tool.ServerSchema = tight
			tool.InputSchema, plan, _ = normalizer.Normalize(tight)
		}
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
		l.warn("removed %s from what the server says of tool %q", result.Count(hidden, "invisible character"), name)
	}
	tool.Fingerprint = l.fingerprint(name, e.description, tool.ServerSchema, tool.OutputSchema, e.annotations)
	l.names[tool.Name] = name
	l.tools, l.plans = append(l.tools, tool), append(l.plans, plan)
}

// selected reports whether the Server wants the tool. Exclusion wins.
func (l *listing) selected(name string) bool {
	matches := func(entries []string) (any bool) {
		for _, entry := range entries {
			if matchName(entry, name) {
				l.matched[entry], any = true, true
			}
		}
		return any
	}
	keep := matches(l.server.Tools) || len(l.server.Tools) == 0
	return !matches(l.server.ExcludeTools) && keep
}

// matchName reports whether name is what pattern says, where each * stands for
// any characters or none.
func matchName(pattern, name string) bool {
	head, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	for ok && wild {
		head, rest, wild = strings.Cut(rest, "*")
		if !wild {
			return strings.HasSuffix(name, head)
		}
		_, name, ok = strings.Cut(name, head)
	}
	return false
}

// finish tells what concerns the list as a whole.
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

// fingerprint digests what a server says of a tool. Each part is preceded by
// its length, so that no text can move from one to the next unseen.
func (l *listing) fingerprint(name string, description, inputSchema, outputSchema, annotations []byte) string {
	const version = "v1:"
	l.digest.Reset()
	add := func(part []byte) {
		l.digest.Write(binary.BigEndian.AppendUint64(l.scratch[:0], uint64(len(part))))
		l.digest.Write(part)
	}
	add(append(l.scratch[8:8], name...))
	add(raw.AppendString(l.scratch[8:8], description))
	add(inputSchema)
	add(outputSchema)
	if annotations != nil {
		annotations = raw.Compact(annotations)
	}
	add(annotations)
	sum := l.digest.Sum(l.scratch[:0]) // its text goes behind it
	return string(hex.AppendEncode(append(l.scratch[:sha256.Size], version...), sum)[sha256.Size:])
}
