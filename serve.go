package mcp

// This file serves tools.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/served"
	"github.com/seed94b59a13/mcp/internal/text"
)

const maxOffer = 1 << 10 // bytes of why a tool cannot be offered

// AddTools adds tools to an MCP server of the official SDK: those of any number
// of connections and the application's own become tools of one server. A tool
// that the server has already, by its name, is replaced, and clients are told
// that the list has changed; take those that are gone out with RemoveTools.
//
// A client gets the Parts of a result one by one, as the first server sent them but
// for the cleaning of texts: audio, links, files, annotations, in their order. Where a
// cap of the [Server] or a wrapper of the Handler has made Content or Images something
// else than the Parts say, or there are no Parts, the client gets what a model would:
// one text, and images. Structured goes out byte for byte, but for what is not an
// object to a client of a protocol before 2026-07-28, which gets the text alone; such
// an OutputSchema is not listed.
//
// Progress, cancellation and metadata of a call pass through. A call without an
// answer is a result with IsError, and so is a Handler that panics.
//
// The error joins what the SDK refuses: a tool, or its OutputSchema, without which it
// is added. The others are added in any case.
func AddTools(server *sdk.Server, tools ...Tool) error {
	var errs []error
	for _, tool := range tools {
		if err := addTool(server, tool); err != nil {
			errs = append(errs, fmt.Errorf("adding tool %q: %w", tool.Name, err))
		}
	}
	return errors.Join(errs...)
}

func addTool(server *sdk.Server, tool Tool) error {
	if tool.Handler == nil {
		return errors.New("it has no Handler")
	}
	offer := &sdk.Tool{Name: tool.Name, Title: tool.Title, Description: tool.Description}
	if tool.InputSchema != nil { // nil in an any is not nil
		offer.InputSchema = tool.InputSchema
	}
	if raw.Valid(tool.OutputSchema) {
		if kind, _ := raw.String(raw.Member(tool.OutputSchema, "type")); kind == "object" {
			offer.OutputSchema = tool.OutputSchema
		}
	}
	if a := tool.Annotations; a != nil {
		offer.Annotations = &sdk.ToolAnnotations{
			ReadOnlyHint: a.ReadOnly != nil && *a.ReadOnly, DestructiveHint: a.Destructive,
			IdempotentHint: a.Idempotent != nil && *a.Idempotent, OpenWorldHint: a.OpenWorld,
		}
	}
	handler := func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if token := request.Params.GetProgressToken(); token != nil {
			ctx = WithProgress(ctx, func(p Progress) {
				// A client that takes no progress has its result still.
				_ = request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
					ProgressToken: token, Progress: p.Done, Total: p.Total, Message: p.Message,
				})
			})
		}
		meta := maps.Clone(map[string]any(request.Params.Meta))
		maps.DeleteFunc(meta, func(key string, _ any) bool { return protocol.IsReserved(key) })
		r := handled(WithMeta(ctx, meta), tool, request.Params.Arguments)
		answer := &sdk.CallToolResult{IsError: r.IsError, Content: r.contents()}
		if r.Structured != nil && (r.Structured[0] == '{' || speaks(request, protocol.Stateless)) {
			answer.StructuredContent = r.Structured
		}
		return answer, nil
	}
	err := offered(server, offer, handler)
	if err == nil || offer.OutputSchema == nil {
		return err
	}
	offer.OutputSchema = nil // what only describes a result costs no tool
	if offered(server, offer, handler) == nil {
		return fmt.Errorf("leaving out its output schema: %w", err)
	}
	return err
}

// offered adds a tool, and has an error where the SDK panics: a server may have put
// anything into a schema, and the words of the panic quote it.
func offered(server *sdk.Server, tool *sdk.Tool, handler sdk.ToolHandler) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = errors.New(text.Middle(text.Bare(fmt.Sprint(fault)), maxOffer))
		}
	}()
	server.AddTool(tool, handler)
	return nil
}

// handled calls a tool and has a result in any case: who serves many tools must not
// end with one.
func handled(ctx context.Context, tool Tool, arguments json.RawMessage) (r ToolResult) {
	defer func() {
		if recover() != nil { // what it says may be a secret of the program
			r = refusal(fmt.Sprintf("the tool %q failed by a fault of its own: tell those who run it", tool.Name))
		}
	}()
	r, err := tool.Handler(ctx, arguments)
	if err != nil {
		return refusal(err.Error())
	}
	r.Structured = bytes.TrimSpace(r.Structured)
	if len(r.Structured) > 0 && !raw.Valid(r.Structured) {
		return refusal(fmt.Sprintf("the tool %q returned structured content that is not JSON", tool.Name))
	}
	if len(r.Structured) == 0 {
		r.Structured = nil
	}
	return r
}

// speaks reports whether a client has a version of the protocol, or a later one.
func speaks(request *sdk.CallToolRequest, version string) bool {
	spoken, _ := request.Params.Meta[sdk.MetaKeyProtocolVersion].(string)
	if params := request.Session.InitializeParams(); spoken == "" && params != nil {
		spoken = params.ProtocolVersion
	}
	return spoken >= version
}

// contents is what a client gets of a result.
func (r ToolResult) contents() []sdk.Content {
	parts := make([]served.Part, len(r.Parts))
	for i, p := range r.Parts {
		parts[i] = served.Part(p)
	}
	images := make([]served.Image, len(r.Images))
	for i, image := range r.Images {
		images[i] = served.Image(image)
	}
	return served.Contents(r.Content, images, parts, startedAnew)
}
