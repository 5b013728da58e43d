package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of the Gemini API.

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/seed94b59a13/mcp"
)

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
	// The documents and sounds for which Content has only a note.
	for _, part := range result.Parts {
		if slices.Equal(part.Audience, []string{"user"}) || part.Data == nil {
			continue
		}
		if part.MIMEType == "application/pdf" || strings.HasPrefix(part.MIMEType, "audio/") {
			response.Parts = append(response.Parts, genai.NewFunctionResponsePartFromBytes(part.Data, part.MIMEType))
		}
	}
	if result.IsError {
		response.Response = map[string]any{"error": cmp.Or(content, "The tool failed.")}
	} else {
		response.Response = map[string]any{"output": content}
	}
	return &genai.Part{FunctionResponse: response}
}
