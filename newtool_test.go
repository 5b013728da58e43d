package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

type size string

func (size) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"small", "large"}, Default: json.RawMessage(`"small"`)}
}

type base struct {
	Note string `json:"note,omitempty"`
}

type bookIn struct {
	base
	Who   string           `json:"who" jsonschema:"whom to meet"`
	When  time.Time        `json:"when"`
	Seats int              `json:"seats,omitempty"`
	Tags  []string         `json:"tags,omitempty"`
	ID    uint64           `json:"id,omitempty"`
	From  netip.Addr       `json:"from,omitzero"`
	File  []byte           `json:"file,omitempty"`
	Extra map[string]any   `json:"extra,omitempty"`
	Raw   *json.RawMessage `json:"raw,omitempty"`
	Big   *big.Int         `json:"big,omitempty"`
	Size  size             `json:"size,omitempty"`
}

func TestNewTool(t *testing.T) {
	var got bookIn
	book := func(_ context.Context, in bookIn) (map[string]any, error) {
		if got = in; in.Who == "nobody" {
			return nil, errors.New("nobody is free\x1b[31m")
		}
		return map[string]any{"place": in.Who + "<&>"}, nil
	}
	tool := mcp.NewTool("book", "Books a table.", book)
	assert.Equal(t, tool.Fingerprint, mcp.NewTool("book", "Books a table.", book).Fingerprint)
	assert.NotEqual(t, tool.Fingerprint, mcp.NewTool("book", "Books a seat.", book).Fingerprint)
	assert.Contains(t, string(tool.InputSchema), `"enum":["small","large"]`)
	start := `{"who":"Ana","when":"2026-01-02T03:04:05Z"`
	for _, c := range []struct {
		arguments, content string
		failed             bool
	}{
		{start + `,"seats":2}`, `{"place":"Ana<&>"}`, false},
		{start + `,"seats":"2"}`, `{"place":"Ana<&>"}`, false}, // repaired
		{start + `,"seats":2.0,"tags":"[\"x\"]"}`, `{"place":"Ana<&>"}`, false},
		{start + `,"tags":null,"seats":null}`, `{"place":"Ana<&>"}`, false},
		{start + `,"size":"large","note":"n"}`, `{"place":"Ana<&>"}`, false},
		{`{"who":"nobody","when":"2026-01-02T03:04:05Z"}`, "nobody is free", true},
		{`{"who":"Ana"}`, `missing properties: ["when"]`, true},
		{`{"who":"Ana","when":"tomorrow"}`, "reading the arguments: parsing time", true},
		{start + `,"Seats":2}`, "additional", true},
		{start + `,"size":"huge"}`, "enum", true},
		{start + `,"seats":1.5}`, "reading the arguments: ", true},
		{start + `,"seats":1e300}`, `"seats" cannot be number`, true},
		{start + `,"big":1e999999999}`, "reading the arguments: ", true},
		{start + `,"from":"nowhere"}`, "reading the arguments: ", true},
		{`{"who":null}`, "reading the arguments: ", true},
		{`[1]`, "reading the arguments: they are an array", true},
		{`{`, "reading the arguments: ", true},
		{``, "reading the arguments: ", true},
		{`{"` + strings.Repeat("x", 1<<20) + `":1}`, "reading the arguments: ", true},
	} {
		result, err := tool.Handler(t.Context(), json.RawMessage(c.arguments))
		require.NoError(t, err)
		assert.Contains(t, result.Content, c.content, c.arguments[:min(100, len(c.arguments))])
		assert.Equal(t, c.failed, result.IsError, c.arguments[:min(100, len(c.arguments))])
		assert.Less(t, len(result.Content), 4<<10)
		assert.NotContains(t, result.Content, "\x1b")
	}
	r := callTool(t, tool, start+`,"id":18446744073709551615,"from":"10.0.0.1","file":"QUI=","extra":{"n":9007199254740993},"raw":{"a": 1},"big":123456789012345678901234567890}`)
	require.False(t, r.IsError, r.Content)
	assert.Equal(t, uint64(math.MaxUint64), got.ID)
	assert.Equal(t, netip.MustParseAddr("10.0.0.1"), got.From)
	assert.Equal(t, "AB", string(got.File))
	assert.Equal(t, json.Number("9007199254740993"), got.Extra["n"], "all digits")
	assert.Equal(t, `{"a": 1}`, string(*got.Raw))
	assert.Equal(t, "123456789012345678901234567890", got.Big.String())
}

func TestNewToolResults(t *testing.T) {
	check := func(tool mcp.Tool, want mcp.ToolResult) {
		t.Helper()
		assert.Equal(t, want, callTool(t, tool, `{}`))
	}
	image := mcp.Image{MIMEType: "image/png", Data: []byte("\x89PNG")}
	nothing := mcp.ToolResult{Content: "[the tool returned nothing]"}
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (string, error) { return "te\x00xt", nil }), mcp.ToolResult{Content: "te\nxt"})
	check(mcp.NewTool("a", "", func(context.Context, map[string]any) (string, error) { return " ", nil }), nothing)
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (mcp.Image, error) { return image, nil }), mcp.ToolResult{Images: []mcp.Image{image}})
	check(mcp.NewTool("a", "", func(context.Context, struct{}) ([]mcp.Image, error) { return nil, nil }), nothing)
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (int, error) { return 3, nil }), mcp.ToolResult{Content: "3", Structured: json.RawMessage("3")})
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (any, error) { return nil, nil }), nothing)
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (*base, error) { return nil, nil }), nothing)
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }), nothing)
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (json.RawMessage, error) {
		return json.RawMessage(`{"a": 9007199254740993}`), nil
	}),
		mcp.ToolResult{Content: `{"a":9007199254740993}`, Structured: json.RawMessage(`{"a":9007199254740993}`)})
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (float64, error) { return math.NaN(), nil }), mcp.ToolResult{Content: "encoding the result: json: unsupported value: NaN", IsError: true})
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (string, error) { return "", errors.New("") }), mcp.ToolResult{Content: "the tool failed and did not say why", IsError: true})
	check(mcp.NewTool("a", "", func(context.Context, struct{}) (mcp.ToolResult, error) {
		return mcp.ToolResult{Content: "no", IsError: true}, nil
	}), mcp.ToolResult{Content: "no", IsError: true})
	empty := mcp.NewTool("a", "", func(context.Context, struct{}) (map[string]int, error) { return nil, nil })
	assert.JSONEq(t, `{"type":"object","additionalProperties":{"type":"integer"}}`, string(empty.OutputSchema))
	check(empty, mcp.ToolResult{Content: "{}", Structured: json.RawMessage("{}")})
	type tree struct{ Left *tree }
	assert.Nil(t, mcp.NewTool("a", "", func(context.Context, struct{}) (tree, error) { return tree{}, nil }).OutputSchema)
	type out struct {
		At   netip.Addr
		File []byte
		Map  map[string]int
	}
	assert.JSONEq(t, `{"type":"object","required":["At","File","Map"],"additionalProperties":false,"properties":{"At":{"type":"string"},
		"File":{"type":["null","string"],"contentEncoding":"base64"},"Map":{"type":["null","object"],"additionalProperties":{"type":"integer"}}}}`,
		string(mcp.NewTool("a", "", func(context.Context, struct{}) (out, error) { return out{}, nil }).OutputSchema))
}

func newToolOf[In any](name string) func() {
	return func() { mcp.NewTool(name, "", func(context.Context, In) (string, error) { return "", nil }) }
}

// Faults of the program show at its start.
func TestNewToolPanics(t *testing.T) {
	type Inner struct{ B int }
	type inner struct{ B int }
	type text string
	type self struct{ Next *self }
	for words, bad := range map[string]func(){
		`"" is not a name`:          newToolOf[struct{}](""),
		`"1" is not a name`:         newToolOf[struct{}]("1"),
		`"mcp__a__b" is not a name`: newToolOf[struct{}]("mcp__a__b"),
		`"a b" is not a name`:       newToolOf[struct{}]("a b"),
		"take a struct":             newToolOf[string]("a"),
		"type chan int":             newToolOf[struct{ C chan int }]("a"),
		"the option string": newToolOf[struct {
			N int `json:",string"`
		}]("a"),
		"has a name in its tag": newToolOf[struct {
			Inner `json:"x"`
		}]("a"),
		"is not a plain struct": newToolOf[struct{ text }]("a"),
		"not exported":          newToolOf[struct{ *inner }]("a"),
		"two fields": newToolOf[struct {
			A int
			B int `json:"A"`
		}]("a"),
		"contains itself":                   newToolOf[self]("a"),
		"are not strings":                   newToolOf[struct{ M map[int]string }]("a"),
		"can be decoded into the interface": newToolOf[struct{ E error }]("a"),
	} {
		func() {
			defer func() { assert.Contains(t, recover(), words) }()
			bad()
		}()
	}
}

// A Handler returns an error only when no answer came.
func TestNewToolCanceled(t *testing.T) {
	for _, fault := range []error{context.Canceled, errors.New("gave up")} {
		ctx, cancel := context.WithCancel(t.Context())
		tool := mcp.NewTool("a", "", func(ctx context.Context, _ struct{}) (string, error) {
			cancel()
			<-ctx.Done()
			return "", fault
		})
		_, err := tool.Handler(ctx, nil)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, fault)
	}
}
