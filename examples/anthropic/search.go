package main

// This file lets Claude load the definitions of tools late, free to paste: those
// that its own search has found, or that of mcp.SearchTools.

import (
	"encoding/json"
	"slices"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/seed94b59a13/mcp"
)

// deferred returns the definitions of tools, which Claude reads once a search has
// found them, but for those that it should always see. The API refuses a request
// that defers all: name the search tool of mcp.SearchTools, or append claudeSearch.
func deferred(tools []mcp.Tool, always ...string) []anthropic.ToolUnionParam {
	var definitions []anthropic.ToolUnionParam
	for _, tool := range tools {
		d := definition(tool)
		if !slices.Contains(always, tool.Name) {
			d.OfTool.DeferLoading = anthropic.Bool(true)
		}
		definitions = append(definitions, d)
	}
	return definitions
}

// claudeSearch is the search that the API runs itself.
func claudeSearch() anthropic.ToolUnionParam {
	return anthropic.ToolUnionParam{OfToolSearchToolBm25_20251119: &anthropic.ToolSearchToolBm25_20251119Param{
		Type: anthropic.ToolSearchToolBm25_20251119TypeToolSearchToolBm25_20251119,
	}}
}

// references returns the result of a call of the search tool of mcp.SearchTools:
// in place of its text, the API shows the definitions of what was found, and the
// model calls these by their names. ok is false where nothing was found: the text
// says so, and answer passes it on. Every tool of the list must be in the request.
func references(id string, found mcp.ToolResult) (block anthropic.ContentBlockParamUnion, ok bool) {
	var names struct{ Tools []string }
	if found.IsError || json.Unmarshal(found.Structured, &names) != nil || len(names.Tools) == 0 {
		return block, false
	}
	result := &anthropic.ToolResultBlockParam{ToolUseID: id}
	for _, name := range names.Tools {
		result.Content = append(result.Content, anthropic.ToolResultBlockParamContentUnion{
			OfToolReference: &anthropic.ToolReferenceBlockParam{ToolName: name},
		})
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: result}, true
}
