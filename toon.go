package mcp

// This file shortens JSON for models.

import (
	"bytes"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/toon"
)

// maxTOON bounds what is made shorter than its JSON, in bytes: more than that is
// nothing for a model.
const maxTOON = 1 << 20

// TOON returns a text that is a JSON object or array in a form of fewer tokens:
// as TOON (Token-Oriented Object Notation, 4.0) where that is the shortest, as
// with a list of many objects of one shape, and else as JSON without white
// space. All other text is returned as it is. A document of more than 1 MiB, or of
// more than 128 levels, only loses white space. Nothing else is lost: order, digits,
// and members that share a name stay. Its time is linear in the length of the text.
//
// On 34 results of four real servers (everything, filesystem, memory, 0nmcp) with 28,086
// tokens in all, as the encoding o200k_base counts, it was 48 percent fewer tokens than
// as sent, of which JSON without white space alone gives 39. Fewer bytes are not always
// fewer tokens: with five of them TOON took 1 to 55 tokens more than that.
//
// It is meant for ToolResult.Content, in a Handler around that of a tool:
//
//	call := tool.Handler
//	tool.Handler = func(ctx context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
//		result, err := call(ctx, arguments)
//		result.Content = mcp.TOON(result.Content)
//		return result, err
//	}
func TOON(text string) string {
	data := bytes.TrimSpace([]byte(text))
	if len(data) == 0 || data[0] != '{' && data[0] != '[' || !raw.Valid(data) || raw.HasNaN(data) {
		return text
	}
	data = raw.Compact(data)
	if len(data) <= maxTOON {
		if short, ok := toon.Encode(data, len(data)-1); ok && short != "" {
			return short
		}
	}
	return string(data)
}
