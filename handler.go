package mcp

// This file calls tools.

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/streamable"
)

// A handler calls one tool, as it was listed in one session.
type handler struct {
	c           *Connection
	name        string // the server's own
	fingerprint string
	number      int // of the session
	plan        *schema.Plan
	params      *streamable.Params // that a call repeats in headers; nil for none
}

// handler returns the Handler of a tool that was listed in a session.
func (c *Connection) handler(s *session, tool *Tool, plan *schema.Plan) func(context.Context, json.RawMessage) (ToolResult, error) {
	h := &handler{c: c, name: tool.ServerTool, fingerprint: tool.Fingerprint, number: s.number, plan: plan}
	if c.repeatsArguments(s) {
		h.params, _ = streamable.ReadParams(tool.ServerSchema)
	}
	return h.handle
}

func (h *handler) handle(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
	limits := h.c.config().limits()
	repaired, err := h.plan.Repair(ctx, arguments)
	if err != nil && ctx.Err() != nil {
		return ToolResult{}, h.c.failed(fmt.Sprintf("calling tool %q", h.c.quoter.Quote(h.name, maxNameShown)), fmt.Errorf("%w: %w", ErrNotSent, err))
	}
	if err != nil {
		return toolResult(result.Refuse(limits, err.Error())), nil
	}
	s, response, err := h.call(ctx, repaired)
	if err != nil {
		return ToolResult{}, h.c.failed(fmt.Sprintf("calling tool %q", h.c.quoter.Quote(h.name, maxNameShown)), err)
	}
	defer response.Release()
	if response.Error != nil && h.params != nil && rpc.ParseError(response.Error).Code == codeHeaderMismatch {
		if now := h.listedAnew(ctx); now != nil {
			return now(context.WithValue(ctx, againKey{}, true), arguments)
		}
	}
	note := s.answer()
	if response.Error != nil {
		return toolResult(result.Refuse(limits, result.Refusal(response.Error))).after(note, limits.MaxOutput), nil
	}
	return toolResult(result.Read(limits, h.name, response.Result, response.Lent)).after(note, limits.MaxOutput), nil
}

// call sends one call, and returns the session that it went out in. The caller
// releases the response.
func (h *handler) call(ctx context.Context, arguments []byte) (*session, rpc.Response, error) {
	meta, err := requestMeta(ctx)
	if err != nil {
		return nil, rpc.Response{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	s, err := h.c.live(ctx)
	if err == nil && s.number > h.number {
		err = h.c.checkTool(s, h.name, h.fingerprint)
	}
	if err != nil {
		return nil, rpc.Response{}, err
	}
	call := rpc.NewCall("tools/call", nil)
	call.Header = h.params.Header(arguments)
	ctx, done := h.c.follow(ctx, call)
	defer done()
	call.Params = rpc.CallParams(h.name, arguments, call.Token, s.meta, meta)
	response, err := s.call(ctx, call)
	return s, response, err
}

// codeHeaderMismatch is the error of a server of protocol 2026-07-28 that
// expects other arguments in the headers of a call. It has not read the call.
const codeHeaderMismatch = -32020

type againKey struct{} // of the context of a call that is sent again

// listedAnew lists the tools anew and returns the Handler of the tool, if the
// server describes it differently now; nil where sending the call again would
// change nothing.
func (h *handler) listedAnew(ctx context.Context) func(context.Context, json.RawMessage) (ToolResult, error) {
	if ctx.Value(againKey{}) != nil {
		return nil
	}
	h.c.toolsChanged() // whatever it says of how long the list stays the same
	if h.c.refresh(ctx) != nil {
		return nil
	}
	for _, tool := range h.c.lastList().tools {
		if tool.ServerTool == h.name && tool.Fingerprint != h.fingerprint {
			return tool.Handler
		}
	}
	return nil
}
