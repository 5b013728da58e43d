package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of the Gemini API.

import (
	"cmp"
	"fmt"
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

// answers returns the parts that answer the calls of one turn. A text stays a
// string: in an object, a member $ref would be taken for a reference to a file.
// An answer may have images and PDF files in it, but no audio, which stands
// behind all answers. Models before Gemini 3 take no files in an answer: give
// them all files in that way.
func answers(turn []*genai.FunctionCall, results []mcp.ToolResult) (parts []*genai.Part) {
	var behind []*genai.Part
	for i, result := range results {
		response := &genai.FunctionResponse{ID: turn[i].ID, Name: turn[i].Name}
		content := result.Content
		for _, image := range result.Images {
			if image.MIMEType == "image/gif" {
				content += "\n[a GIF image was left out]" // the API takes none
				continue
			}
			response.Parts = append(response.Parts, genai.NewFunctionResponsePartFromBytes(image.Data, image.MIMEType))
		}
		for _, part := range result.Parts {
			switch {
			case len(part.Data) == 0 || len(part.Data) > maxFile || slices.Equal(part.Audience, []string{"user"}):
				// Content has a note on it.
			case strings.HasPrefix(part.MIMEType, "audio/"):
				behind = append(behind,
					genai.NewPartFromText(fmt.Sprintf("Audio of the tool call %q:", turn[i].Name)),
					genai.NewPartFromBytes(part.Data, part.MIMEType))
			case part.MIMEType == "application/pdf":
				response.Parts = append(response.Parts, genai.NewFunctionResponsePartFromBytes(part.Data, part.MIMEType))
			}
		}
		if result.IsError {
			response.Response = map[string]any{"error": cmp.Or(content, "The tool failed.")}
		} else {
			response.Response = map[string]any{"output": content}
		}
		parts = append(parts, &genai.Part{FunctionResponse: response})
	}
	return append(parts, behind...)
}

// maxFile is how long a PDF or audio file may be. A request may have 20 MB with
// all that is in it, and no cap of a Server holds for Parts.
const maxFile = 5 << 20
