package mcp

// This file calls tools. What a model reads of an answer is made by the
// package result.

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/streamable"
)

// handler returns the Handler of a tool.
func (c *Connection) handler(tool *Tool, plan *schema.Plan) func(context.Context, json.RawMessage) (ToolResult, error) {
	name := tool.ServerTool // the closure holds what it needs, not the tool
	var params *streamable.Params
	if c.repeatsArguments() {
		params, _ = streamable.ReadParams(tool.ServerSchema)
	}
	return func(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
		failed := func(err error) (ToolResult, error) {
			return ToolResult{}, c.failed(fmt.Sprintf("calling tool %q", name), err)
		}
		limits := c.server.limits()
		arguments, err := plan.Repair(arguments)
		if err != nil {
			return toolResult(result.Refuse(limits, err.Error())), nil
		}
		meta, err := requestMeta(ctx)
		if err != nil {
			return failed(fmt.Errorf("%w: %w", ErrNotSent, err))
		}
		call := rpc.NewCall("tools/call", nil)
		call.Header = params.Header(arguments)
		ctx, done := c.follow(ctx, call)
		defer done()
		call.Params = rpc.CallParams(name, arguments, call.Token, c.meta, meta)
		answer, err := c.call(ctx, call)
		if err != nil {
			return failed(err)
		}
		defer answer.Release()
		if answer.Error != nil {
			return toolResult(result.Refuse(limits, result.Refusal(answer.Error))), nil
		}
		return toolResult(result.Read(limits, name, answer.Result)), nil
	}
}

// limits are those of what the server's tools return.
func (s *Server) limits() result.Limits {
	return result.Limits{MaxOutput: s.MaxOutput, MaxImages: s.MaxImages, MaxImageBytes: s.MaxImageBytes}
}

// toolResult makes a result public. It copies no text and no file.
func toolResult(r result.Result) ToolResult {
	t := ToolResult{Content: r.Content, IsError: r.IsError, Structured: r.Structured}
	for _, image := range r.Images {
		t.Images = append(t.Images, Image(image))
	}
	return t
}
