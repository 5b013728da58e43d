package main

// This file lets the Responses API load the definitions of tools late, free to
// paste: those that its own search has found, or that of mcp.SearchTools.

import (
	"encoding/json"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/seed94b59a13/mcp"
)

// deferred returns the definitions of tools, which the model reads once the search
// of the API has found them, but for those that it should always see.
func deferred(tools []mcp.Tool, always ...string) []responses.ToolUnionParam {
	definitions := []responses.ToolUnionParam{{OfToolSearch: &responses.ToolSearchToolParam{}}}
	for _, tool := range tools {
		d := responsesTool(tool)
		if !slices.Contains(always, tool.Name) {
			d.OfFunction.DeferLoading = openai.Bool(true)
		}
		definitions = append(definitions, d)
	}
	return definitions
}

// clientSearch offers the search tool of mcp.SearchTools as the search of the API.
// The model calls it with an item of type tool_search_call, whose arguments are
// those of the tool, and loaded is the answer.
func clientSearch(search mcp.Tool) responses.ToolUnionParam {
	return responses.ToolUnionParam{OfToolSearch: &responses.ToolSearchToolParam{
		Execution: "client", Description: openai.String(search.Description), Parameters: search.InputSchema,
	}}
}

// loaded returns the answer to a tool_search_call: the definitions of the tools
// that were found, which the model then calls by their names. They need not be in
// the request.
func loaded(callID string, found mcp.ToolResult, tools map[string]mcp.Tool) responses.ResponseInputItemUnionParam {
	var names struct{ Tools []string }
	if !found.IsError {
		// What does not decode has found nothing.
		_ = json.Unmarshal(found.Structured, &names)
	}
	definitions := []responses.ResponseToolSearchOutputItemParamToolUnion{} // never null
	for _, name := range names.Tools {
		tool, ok := tools[name]
		if !ok {
			continue // the list has changed since
		}
		d := responsesTool(tool)
		d.OfFunction.DeferLoading = openai.Bool(true)
		definitions = append(definitions, responses.ResponseToolSearchOutputItemParamToolUnion{OfFunction: d.OfFunction})
	}
	item := responses.ResponseInputItemParamOfToolSearchOutput(definitions)
	item.OfToolSearchOutput.CallID = openai.String(callID)
	item.OfToolSearchOutput.Execution = "client"
	item.OfToolSearchOutput.Status = "completed"
	return item
}
