package mcp

// This file makes tools of the application's own functions.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/seed94b59a13/mcp/internal/gotype"
	"github.com/seed94b59a13/mcp/internal/names"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/text"
)

// maxFault bounds what a model is told of wrong arguments, in bytes.
const maxFault = 1 << 10

// NewTool makes a tool of a function of the application, for one list with the
// tools of servers.
//
// In is a struct, or a map with string keys. Its schema is that which
// github.com/google/jsonschema-go infers, as encoding/json reads the type:
// properties have the names that encoding/json uses, a tag jsonschema:"…" describes
// one, and those without omitempty or omitzero are required. A type that decodes
// itself is a string if it does so from text, and else any JSON, unless it says what
// it is, with enum and default, by a method JSONSchema() *jsonschema.Schema: the one that
// jsonschema-go is to have, whose tags are kept for descriptions. Arguments are repaired
// as those for a server are, then checked against the schema, then decoded with all
// digits of their numbers, those in an any as json.Number. f gets the defaults of
// optional parameters that are not given. It is not called with wrong arguments, and
// the model is told what is wrong.
//
// What f returns is the result: a string is Content, an [Image] or []Image is
// Images, a [ToolResult] is taken as it is, and all else is Structured, with its
// JSON as Content. Texts are cleaned as those of servers are. An error is a result
// with IsError and its text, as a tool of a server fails; the Handler returns it as an
// error only when ctx has ended, and then it wraps that of ctx. A panic of f is not
// recovered.
//
// Name has 1 to 64 characters of A-Z, a-z, 0-9, _ and -, and starts with a
// letter; the form of [ToolName] is kept for servers. Server is empty, and the
// other fields may be set, but Fingerprint does not follow. NewTool panics for
// another name, for an In without a schema, and for one that no schema describes as
// encoding/json reads it, as with the option string of a tag: these are faults of the
// program.
func NewTool[In, Out any](name, description string, f func(ctx context.Context, in In) (Out, error)) Tool {
	if len(name) > names.MaxTool || !names.IsText(name) || !isLetter(name[0]) || IsToolName(name) {
		panic(fmt.Sprintf("mcp: NewTool: %q is not a name for a tool: it takes 1 to %d of A-Z, a-z, 0-9, _ and -, a letter first, and not the form of ToolName", name, names.MaxTool))
	}
	in, err := gotype.Arguments(reflect.TypeFor[In]())
	var normal json.RawMessage
	var plan *schema.Plan
	if err == nil {
		normal, plan, err = schema.Normalize(in.Schema)
	}
	if err != nil {
		panic(fmt.Sprintf("mcp: NewTool %q: %v", name, err))
	}
	tool := Tool{Name: name, ServerTool: name, Description: description, ServerDescription: description, InputSchema: normal, ServerSchema: in.Schema}
	switch any(*new(Out)).(type) {
	case ToolResult, Image, struct{}:
	default:
		tool.OutputSchema = gotype.Result(reflect.TypeFor[Out]())
	}
	tool.Fingerprint = fingerprint(&tool)
	tool.Handler = func(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
		arguments, err := plan.Repair(ctx, arguments)
		if err != nil && ctx.Err() != nil {
			return ToolResult{}, ended(ctx, name, err)
		}
		if err != nil {
			return refusal(err.Error()), nil
		}
		var value In
		if err := in.Decode(arguments, &value); err != nil {
			return refusal(fmt.Sprintf("reading the arguments: %s; the tool's parameters are %s",
				text.Start(err.Error(), maxFault), text.Start(string(normal), maxFault))), nil
		}
		out, err := f(ctx, value)
		switch {
		case err != nil && ctx.Err() != nil:
			return ToolResult{}, ended(ctx, name, err)
		case err != nil && strings.TrimSpace(err.Error()) == "":
			return refusal("the tool failed and did not say why"), nil
		case err != nil:
			return refusal(err.Error()), nil
		}
		return localResult(out), nil
	}
	return tool
}

// ended is the error of a call whose context has ended.
func ended(ctx context.Context, name string, err error) error {
	if !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return fmt.Errorf("calling tool %q: %w", name, err)
}

// localResult makes a result of what a function returned.
func localResult(out any) (r ToolResult) {
	switch out := out.(type) {
	case ToolResult:
		r = out
	case Image:
		r.Images = []Image{out}
	case []Image:
		r.Images = out
	case string:
		r.Content = out
	case struct{}:
	default:
		if v := reflect.ValueOf(out); v.Kind() == reflect.Map && v.IsNil() {
			out = struct{}{} // what has members is an object without any
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(out); err != nil {
			return refusal("encoding the result: " + err.Error())
		}
		if data := bytes.TrimSuffix(b.Bytes(), []byte("\n")); string(data) != "null" {
			r.Structured, r.Content = data, string(data)
		}
	}
	clean, hidden := text.Result(r.Content)
	if r.Content = clean; hidden > 0 {
		r.Content += "\n[" + text.Count(hidden, "invisible character") + " removed]"
	}
	if strings.TrimSpace(r.Content) == "" && len(r.Images) == 0 {
		r.Content = "[the tool returned nothing]"
	}
	return r
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
