package main

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type numbers struct {
	A float64 `json:"a" jsonschema:"the first number"`
	B float64 `json:"b" jsonschema:"the second number"`
}

type answer struct {
	Value float64 `json:"value"`
}

// runServer is an MCP server with three tools, written with the official SDK.
func runServer() error {
	server := sdk.NewServer(&sdk.Implementation{Name: "quickstart", Version: "1.0.0"}, nil)
	readOnly := &sdk.ToolAnnotations{ReadOnlyHint: true}
	sdk.AddTool(server, &sdk.Tool{Name: "add", Description: "Adds two numbers.", Annotations: readOnly},
		func(_ context.Context, _ *sdk.CallToolRequest, in numbers) (*sdk.CallToolResult, answer, error) {
			return nil, answer{in.A + in.B}, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "divide", Description: "Divides the first number by the second.", Annotations: readOnly},
		func(_ context.Context, _ *sdk.CallToolRequest, in numbers) (*sdk.CallToolResult, answer, error) {
			if in.B == 0 {
				return nil, answer{}, errors.New("division by zero")
			}
			return nil, answer{in.A / in.B}, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "picture", Description: "Draws a small picture.", Annotations: readOnly},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			canvas := image.NewRGBA(image.Rect(0, 0, 16, 16))
			for i := range 16 {
				canvas.Set(i, i, color.RGBA{R: 200, A: 255})
			}
			var file bytes.Buffer
			if err := png.Encode(&file, canvas); err != nil {
				return nil, nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{
				&sdk.TextContent{Text: "A red line:"},
				&sdk.ImageContent{MIMEType: "image/png", Data: file.Bytes()},
			}}, nil, nil
		})
	return server.Run(context.Background(), &sdk.StdioTransport{})
}
