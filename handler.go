package mcp

// This file calls tools.

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/streamable"
)

// A handler calls one tool, as it was listed in one session. Its methods take it
// by value, so that the function of a tool holds it and a tool costs one
// allocation here.
type handler struct {
	c           *Connection
	name        string // the server's own
	fingerprint string
	number      int // of the session
	plan        *schema.Plan
	params      *streamable.Params // that a call repeats in headers; nil for none
}

// handler returns the Handler of a tool that was listed in a session.
func (c *Connection) handler(s *start, tool *Tool, plan *schema.Plan) func(context.Context, json.RawMessage) (ToolResult, error) {
	h := handler{c: c, name: tool.ServerTool, fingerprint: tool.Fingerprint, number: s.number, plan: plan}
	if c.repeatsArguments(s) {
		h.params, _ = streamable.ReadParams(tool.ServerSchema)
	}
	return h.handle
}

func (h handler) handle(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
	limits := h.c.config().limits()
	repaired, err := h.plan.Repair(ctx, arguments)
	if err != nil && ctx.Err() != nil {
		return ToolResult{}, h.failed(fmt.Errorf("%w: %w", ErrNotSent, err))
	}
	if err != nil {
		return toolResult(result.Refuse(limits, err.Error())), nil
	}
	s, response, err := h.call(ctx, repaired)
	if err != nil {
		return ToolResult{}, h.failed(err)
	}
	defer response.Release()
	var code int64
	if response.Error != nil {
		code = rpc.ParseError(response.Error).Code
	}
	if code == sdk.CodeURLElicitationRequired { // before it takes the call
		told, err := h.openURLs(ctx, response.Error)
		if err != nil {
			return ToolResult{}, h.failed(fmt.Errorf("asking the user: %w", h.c.quoter.Error(err, maxFault)))
		}
		if told != "" {
			return toolResult(result.Refuse(limits, told)).after(s.answer(), limits.MaxOutput), nil
		}
	}
	// A server that expects other arguments in the headers of a call has not read it.
	if h.params != nil && code == sdk.CodeHeaderMismatch {
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

func (h handler) failed(err error) error {
	return h.c.failed(fmt.Sprintf("calling tool %q", h.c.quoter.Quote(h.name, maxNameShown)), err)
}

// call sends one call, again with the answers where the server asks for something,
// and returns the session that it went out in. The caller releases the response.
func (h handler) call(ctx context.Context, arguments []byte) (*start, rpc.Response, error) {
	meta, err := protocol.EncodeMeta(metaOf(ctx))
	if err == nil {
		err = ctx.Err() // before anything is made of a name that may be long
	}
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
	call := rpc.NewCall(rpc.MethodCallTool, nil)
	call.Header = h.params.Header(arguments)
	ctx, done := h.c.follow(ctx, call)
	defer done()
	call.Params = rpc.CallParams(h.name, arguments, call.Token, s.Meta, meta)
	first, busy := call, 0
	for round := 1; ; round++ {
		done := h.asks(ctx, s, call)
		response, err := s.Call(ctx, call)
		if fault := done(); fault != nil && err == nil {
			response.Release()
			err = fmt.Errorf("asking the user: %w", h.c.quoter.Error(fault, maxFault))
		}
		if err != nil || response.Error != nil {
			return s, response, err
		}
		members, asked, err := h.respond(ctx, response.Result)
		if err == nil && members == nil {
			return s, response, nil
		}
		response.Release()
		if !asked {
			busy++
		}
		switch {
		case err != nil:
			return s, rpc.Response{}, fmt.Errorf("asking the user: %w", h.c.quoter.Error(err, maxFault))
		case round == maxRounds, busy > maxBusy:
			return s, rpc.Response{}, fmt.Errorf("giving up a tool that needed input %d times over", round)
		}
		if !asked && !patience.Sleep(ctx, busyWait<<busy) {
			return s, rpc.Response{}, ctx.Err()
		}
		call = first.Again(append(append(append(first.Params[:len(first.Params)-1:len(first.Params)-1], ','), members...), '}'))
	}
}

// busyWait is doubled for each wait before a call is sent again that asked
// nothing.
const busyWait = 50 * time.Millisecond

type againKey struct{} // of the context of a call that is sent again

// listedAnew lists the tools anew and returns the Handler of the tool, if the
// server describes it differently now; nil where sending the call again would
// change nothing.
func (h handler) listedAnew(ctx context.Context) func(context.Context, json.RawMessage) (ToolResult, error) {
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
