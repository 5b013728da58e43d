package mcp

// This file makes results public. What a model reads of an answer is made by
// the package result.

import (
	"unsafe"

	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/text"
)

// maxNameShown bounds what an error shows of the name of a tool, in bytes.
const maxNameShown = 128

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

// toolResult makes a result public. It copies nothing: the types differ only in
// their names, or the conversions would not compile.
func toolResult(r result.Result) ToolResult {
	_, _ = Image(result.Image{}), Part(result.Part{})
	return ToolResult{
		Content:    r.Content,
		Images:     *(*[]Image)(unsafe.Pointer(&r.Images)),
		IsError:    r.IsError,
		Structured: r.Structured,
		Parts:      *(*[]Part)(unsafe.Pointer(&r.Parts)),
	}
}
