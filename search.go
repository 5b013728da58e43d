package mcp

// This file lets two tools stand for many.

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed94b59a13/mcp/internal/listing"
	"github.com/seed94b59a13/mcp/internal/rank"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/text"
)

const (
	shownTools = 5        // with their definitions; the best one is among them for 19 of 20 queries
	namedTools = 10       // more, by name
	maxServers = 1 << 10  // bytes of the names of servers
	maxFound   = 64 << 10 // bytes of an answer
	maxNames   = 4 << 10  // of which are kept for names
)

// SearchTools returns two tools that stand for all those that list returns, so
// that the definitions a model has to read are few however many tools there are.
// With search (tool_search) it finds tools by what they do: the result has the
// definitions of the five that share most with the words of the query, one JSON
// object a line, and up to ten more names, in 64 KiB at most; what does not fit is
// named with its length. A tool whose texts have all kinds of words, as if they were
// there for the sake of searches, is among the names alone, unless the query has its
// name. With execute (execute_tool) it calls one by its name.
//
//	search, execute := mcp.SearchTools(connections.Tools)
//	tools := []mcp.Tool{search, execute} // and those that the model should always see
//
// Both call list each time, so they follow [Connections.RefreshTools] while
// their own bytes, and with them a provider's prompt cache, stay: the
// description of search names the servers of the tools there were at first. list
// may be called concurrently. What is changed in the list it returned before is
// seen too, but for the bytes of a schema. The first search reads all tools, a
// later one those that are new. Names and schemas are as list returns them, and
// execute calls the Handler there: wrap the Handlers in list to ask for approval,
// since execute itself has the hints of none.
//
// A provider that searches by itself, or loads what the client has found, needs
// no execute: ToolResult.Structured of search is {"tools":["<name>",…]}, the
// names of those whose definitions are shown.
func SearchTools(list func() []Tool) (search, execute Tool) {
	c := &catalog{list, rank.NewCatalog()}
	yes, no := true, false
	search = Tool{
		Name: "tool_search",
		Description: "Finds tools by what they do. There are more tools than you see: search before you say that something cannot be done. " +
			"The result has the definitions of those that fit best." + origins(list()),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":` +
			`"What the tool should do: a few words that its name and description may have, with synonyms, such as \"delete remove git branch\". Or the name of a tool."}},"required":["query"]}`),
		Annotations: &Annotations{ReadOnly: &yes, OpenWorld: &no},
	}
	execute = Tool{
		Name:        "execute_tool",
		Description: "Calls a tool that tool_search has found.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The name of the tool, as found."},` +
			`"arguments":{"type":"object","description":"The arguments, as the tool's own parameters say.","properties":{}}},"required":["name","arguments"]}`),
	}
	ownTool(&search, c.search)
	ownTool(&execute, c.execute)
	return search, execute
}

// ownTool completes a tool that f is the Handler of, once its arguments are
// repaired.
func ownTool(tool *Tool, f func(ctx context.Context, arguments json.RawMessage) (ToolResult, error)) {
	_, plan, _ := schema.Normalize(tool.InputSchema)
	tool.ServerTool, tool.ServerSchema, tool.ServerDescription = tool.Name, tool.InputSchema, tool.Description
	tool.Fingerprint = fingerprint(tool)
	tool.Handler = func(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
		arguments, err := plan.Repair(ctx, arguments)
		if err != nil && ctx.Err() != nil {
			return ToolResult{}, fmt.Errorf("calling tool %q: %w", tool.Name, err)
		}
		if err != nil {
			return refusal(err.Error()), nil
		}
		return f(ctx, arguments)
	}
}

// fingerprint is that of a tool which is not a server's.
func fingerprint(tool *Tool) string {
	var hints []byte
	if a := tool.Annotations; a != nil {
		hints = raw.AppendQuote(nil, fmt.Sprint(said(a.ReadOnly), said(a.Destructive), said(a.Idempotent), said(a.OpenWorld)))
	}
	return listing.Fingerprint(tool.Name, raw.AppendQuote(nil, tool.Description), tool.ServerSchema, tool.OutputSchema, hints)
}

// said is what a hint says, in words.
func said(hint *bool) string {
	switch {
	case hint == nil:
		return " unsaid"
	case *hint:
		return " yes"
	}
	return " no"
}

func refusal(reason string) ToolResult {
	return toolResult(result.Refuse(result.Limits{}, reason))
}

// A catalog finds the tools of a list.
type catalog struct {
	list  func() []Tool
	index *rank.Catalog
}

// origins tells where tools come from.
func origins(tools []Tool) string {
	var servers []string
	size := 0
	for i := range tools {
		if server := tools[i].Server; server != "" && size <= maxServers && !slices.Contains(servers, server) {
			servers = append(servers, server)
			size += len(server)
		}
	}
	if servers == nil {
		return ""
	}
	names, _ := text.Prompt(strings.Join(servers, ", "))
	return " They come from these servers: " + text.Start(names, maxServers) + "."
}

func (c *catalog) search(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
	query, ok := raw.String(raw.Member(arguments, "query"))
	if !ok {
		return refusal(`reading the arguments: "query" is not a string; say in a few words what the tool should do`), nil
	}
	tools := c.list()
	found, n, err := c.index.Find(ctx, len(tools), func(i int) rank.Tool {
		t := &tools[i]
		return rank.Tool{Name: t.Name, Server: t.Server, ServerTool: t.ServerTool, Title: t.Title, Description: t.Description, Schema: t.InputSchema}
	}, query, shownTools, shownTools+namedTools)
	if err != nil {
		return ToolResult{}, fmt.Errorf("searching tools: %w", err)
	}
	if len(found) == 0 {
		return refusal("no tool has a word of the query: try other words." + origins(tools)), nil
	}
	shown := found[:n]
	b := []byte("Call one of these with execute_tool:\n")
	if n == 0 {
		b = []byte("No tool fits well.")
	}
	var names []byte
	for _, i := range shown {
		entry := definition(&tools[i])
		if len(b)+len(entry) > maxFound-maxNames {
			entry = raw.AppendMember(nil, "name", raw.AppendQuote(nil, tools[i].Name))
			entry = object(raw.AppendMember(entry, "note", raw.AppendQuote(nil, tooLong(&tools[i]))))
		}
		if len(b)+len(entry) <= maxFound-maxNames/2 { // no name of a server is so long
			b = append(append(b, '\n'), entry...)
			if names != nil {
				names = append(names, ',')
			}
			names = raw.AppendQuote(names, tools[i].Name)
		}
	}
	b = appendNames(b, tools, found[len(shown):])
	structured := append(append([]byte(`{"tools":[`), names...), `]}`...)
	return ToolResult{Content: string(b), Structured: structured}, nil
}

// definition is the entry of a tool in an answer: a line of JSON, so that no text
// in it can look like another entry.
func definition(t *Tool) []byte {
	description, _ := text.Prompt(t.Description)
	b := raw.AppendMember(nil, "name", raw.AppendQuote(nil, t.Name))
	b = raw.AppendMember(b, "description", raw.AppendQuote(nil, description))
	parameters := []byte(`{"type":"object"}`)
	if len(t.InputSchema) > 0 && raw.Valid(t.InputSchema) {
		parameters = raw.Compact(t.InputSchema)
	}
	return object(raw.AppendMember(b, "parameters", parameters))
}

func object(members []byte) []byte { return append(append([]byte{'{'}, members...), '}') }

func tooLong(t *Tool) string {
	return fmt.Sprintf("its definition does not fit here: its description has %d bytes, its parameters %d; search for its name alone", len(t.Description), len(t.InputSchema))
}

// appendNames appends the names of more tools, as many as fit.
func appendNames(b []byte, tools []Tool, found []int) []byte {
	for n, i := range found {
		name := raw.AppendQuote(nil, tools[i].Name)
		before := ", "
		if n == 0 {
			before = "\n\nThese may fit, too; search for a name to see its definition: "
		}
		if len(b)+len(before)+len(name) > maxFound {
			break
		}
		b = append(append(b, before...), name...)
	}
	return b
}

func (c *catalog) execute(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
	name, ok := raw.String(raw.Member(arguments, "name"))
	if !ok {
		return refusal(`reading the arguments: "name" is not a string; name a tool that tool_search has found`), nil
	}
	tools := c.list()
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 || tools[i].Handler == nil {
		return refusal(noTool(tools, name) + ". Find tools with tool_search."), nil
	}
	return tools[i].Handler(ctx, raw.Member(arguments, "arguments"))
}
