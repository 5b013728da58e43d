package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed94b59a13/mcp"
)

func TestCall(t *testing.T) {
	answers := func(r mcp.ToolResult, err error) func(context.Context, json.RawMessage) (mcp.ToolResult, error) {
		return func(_ context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
			r.Content += string(arguments)
			return r, err
		}
	}
	tools := []mcp.Tool{
		{Name: "mcp__files__read_file", Handler: answers(content("read "), nil)},
		{Name: "mcp__files__read_files", Handler: answers(content(""), errors.New("no answer came"))},
		{Name: "mcp__files__write_file", Handler: answers(failure("full "), nil)},
		{Name: "mcp__mail__send", Handler: answers(content("sent "), nil)},
		{Name: "mcp__mail__send", Handler: answers(content("never"), nil)},
		{Name: "not_callable"},
	}
	none := func(name, near string) mcp.ToolResult { return failure(`there is no tool "` + name + `"` + near) }
	for name, want := range map[string]mcp.ToolResult{
		"mcp__files__read_file":  content("read {}"),
		"mcp__files__read_files": failure("no answer came"),
		"mcp__files__write_file": failure("full {}"),
		"mcp__mail__send":        content("sent {}"),
		"mcp__files__read_fiel":  none("mcp__files__read_fiel", `; the nearest are "mcp__files__read_file", "mcp__files__read_files", "mcp__files__write_file"`),
		"send":                   none("send", `; the nearest is "mcp__mail__send"`),
		"Write-File":             none("Write-File", `; the nearest is "mcp__files__write_file"`),
		"not_callable":           none("not_callable", ""),
		"xyz":                    none("xyz", ""),
		"":                       none("", ""),
		"a\x1b[1m\u202eb":        none("ab", ""),
	} {
		assert.Equal(t, want, mcp.Call(t.Context(), tools, name, json.RawMessage(`{}`)), name)
	}
	assert.Equal(t, none("a", ""), mcp.Call(t.Context(), nil, "a", nil))
	long := mcp.Call(t.Context(), tools, strings.Repeat("send", 10_000), nil)
	assert.Less(t, len(long.Content), 300)
}

func TestText(t *testing.T) {
	assert.Equal(t, "a", content("a").Text())
	assert.Equal(t, "The tool failed: a", failure("a").Text())
	assert.Equal(t, "The tool failed.", failure("").Text())
	assert.Equal(t, "", content("").Text())
}

func TestDataURL(t *testing.T) {
	image := mcp.Image{MIMEType: "image/gif", Data: []byte("GIF89a")}
	assert.Equal(t, "data:image/gif;base64,R0lGODlh", image.DataURL())
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { image.DataURL() }), 2.0)
	assert.Equal(t, "data:;base64,", mcp.Image{}.DataURL())
}
