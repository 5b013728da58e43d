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
	"github.com/seed94b59a13/mcp/internal/text"
)

// maxNameShown bounds what an error shows of the name of a tool, in bytes.
const maxNameShown = 128

// handler returns the Handler of a tool that was listed in a session.
func (c *Connection) handler(listed *session, tool *Tool, plan *schema.Plan) func(context.Context, json.RawMessage) (ToolResult, error) {
	name, fingerprint, number := tool.ServerTool, tool.Fingerprint, listed.number // the closure holds what it needs, not the tool
	var params *streamable.Params
	if c.repeatsArguments(listed) {
		params, _ = streamable.ReadParams(tool.ServerSchema)
	}
	return func(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
		failed := func(err error) (ToolResult, error) {
			return ToolResult{}, c.failed(fmt.Sprintf("calling tool %q", c.quoter.Quote(name, maxNameShown)), err)
		}
		limits := c.config().limits()
		arguments, err := plan.Repair(arguments)
		if err != nil {
			return toolResult(result.Refuse(limits, err.Error())), nil
		}
		meta, err := requestMeta(ctx)
		if err != nil {
			return failed(fmt.Errorf("%w: %w", ErrNotSent, err))
		}
		s, err := c.live(ctx)
		if err == nil && s.number > number {
			err = c.checkTool(s, name, fingerprint)
		}
		if err != nil {
			return failed(err)
		}
		call := rpc.NewCall("tools/call", nil)
		call.Header = params.Header(arguments)
		ctx, done := c.follow(ctx, call)
		defer done()
		call.Params = rpc.CallParams(name, arguments, call.Token, s.meta, meta)
		answer, err := s.call(ctx, call)
		if err != nil {
			return failed(err)
		}
		defer answer.Release()
		note := s.answer()
		if answer.Error != nil {
			return toolResult(result.Refuse(limits, result.Refusal(answer.Error))).after(note, limits.MaxOutput), nil
		}
		return toolResult(result.Read(limits, name, answer.Result)).after(note, limits.MaxOutput), nil
	}
}

// after returns the result with a note before its text.
func (r ToolResult) after(note string, limit int) ToolResult {
	if note == "" {
		return r
	}
	if r.Content != "" {
		note += "\n"
	}
	if r.Content = note + r.Content; limit > 0 {
		r.Content = text.Middle(r.Content, limit)
	}
	return r
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
