package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of the Gemini API.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"github.com/seed94b59a13/mcp"
)

// call calls the tool that the model names. Earlier turns may name tools that
// are gone: that, and a call without an answer, is for the model to read.
func call(ctx context.Context, tools map[string]mcp.Tool, name string, arguments map[string]any) mcp.ToolResult {
	tool, ok := tools[name]
	if !ok {
		return mcp.ToolResult{Content: fmt.Sprintf("there is no tool %q", name), IsError: true}
	}
	encoded, err := json.Marshal(arguments) // no arguments are null, which a Handler takes
	if err != nil {
		return mcp.ToolResult{Content: err.Error(), IsError: true}
	}
	result, err := tool.Handler(ctx, encoded)
	if err != nil {
		return mcp.ToolResult{Content: err.Error(), IsError: true}
	}
	return result
}

// definition does not use Parameters: that takes a small part of JSON Schema
// and refuses the request for the rest.
func definition(tool mcp.Tool) *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: tool.Name, Description: tool.Description, ParametersJsonSchema: tool.InputSchema}
}

// answer returns the part that answers a call. The text stays a string: in an
// object, a member $ref would be taken for a reference to a file. Models before
// Gemini 3 take no Parts in it: give them the images as parts of their own.
func answer(call *genai.FunctionCall, result mcp.ToolResult) *genai.Part {
	response := &genai.FunctionResponse{ID: call.ID, Name: call.Name}
	content := result.Content
	for _, image := range result.Images {
		if image.MIMEType == "image/gif" {
			content += "\n[a GIF image was left out]" // the API takes none
			continue
		}
		response.Parts = append(response.Parts, genai.NewFunctionResponsePartFromBytes(image.Data, image.MIMEType))
	}
	if result.IsError {
		response.Response = map[string]any{"error": cmp.Or(content, "The tool failed.")}
	} else {
		response.Response = map[string]any{"output": content}
	}
	return &genai.Part{FunctionResponse: response}
}
