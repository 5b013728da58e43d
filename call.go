package mcp

// This file is what a loop around a model needs to call tools.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed94b59a13/mcp/internal/text"
)

// maxNearest is how many names are offered in place of one that no tool has.
const maxNearest = 3

// Call calls the tool that a model names, and always has a result for it to
// read. A name that none of the tools has, as an earlier turn may have used, is
// a failure that offers the names which are spelled most like it. An error of
// the Handler, as when the context ended or the server stopped, is a failure
// with its text: a program that has to tell such errors calls the Handler
// itself. Of several tools with the name the first one is called. Arguments are
// those that a Handler takes. Call may be used concurrently.
func Call(ctx context.Context, tools []Tool, name string, arguments json.RawMessage) ToolResult {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 || tools[i].Handler == nil {
		return ToolResult{Content: noTool(tools, name), IsError: true}
	}
	result, err := tools[i].Handler(ctx, arguments)
	if err != nil {
		return ToolResult{Content: err.Error(), IsError: true}
	}
	return result
}

// noTool says that there is no tool of the name.
func noTool(tools []Tool, name string) string {
	names := func(yield func(string) bool) {
		for i := range tools {
			if tools[i].Handler != nil && !yield(tools[i].Name) {
				return
			}
		}
	}
	clean, _ := text.Prompt(name)
	said := fmt.Sprintf("there is no tool %q", text.Start(clean, maxNameShown))
	var near []string
	for _, name := range text.Nearest(name, names, maxNearest) {
		near = append(near, fmt.Sprintf("%q", name))
	}
	switch len(near) {
	case 0:
		return said
	case 1:
		return said + "; the nearest is " + near[0]
	}
	return said + "; the nearest are " + strings.Join(near, ", ")
}

// Text returns Content for an API that has no flag for a failure: it says so
// before the text of one. It is empty only for a result of images alone.
func (r ToolResult) Text() string {
	switch {
	case !r.IsError:
		return r.Content
	case r.Content == "":
		return "The tool failed."
	}
	return "The tool failed: " + r.Content
}

// DataURL returns the image as a data URL, such as "data:image/png;base64,iVBO…".
func (i Image) DataURL() string {
	start := "data:" + i.MIMEType + ";base64,"
	url := make([]byte, 0, len(start)+base64.StdEncoding.EncodedLen(len(i.Data)))
	return text.Bytes(base64.StdEncoding.AppendEncode(append(url, start...), i.Data))
}
