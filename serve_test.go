package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

// gateway returns a client of a server that serves the tools of another one.
func gateway(t *testing.T, upstream *sdk.Server, options *sdk.ClientOptions) (*sdk.ClientSession, *sdk.Server, *mcp.Connection) {
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return upstream }, nil))
	t.Cleanup(web.Close)
	connection, err := mcp.Connect(t.Context(), mcp.Server{Name: "up", URL: web.URL})
	require.NoError(t, err)
	t.Cleanup(func() { connection.Close() })
	served := sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, nil)
	require.NoError(t, mcp.AddTools(served, connection.Tools()...))
	a, b := sdk.NewInMemoryTransports()
	go served.Run(t.Context(), a)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, options).Connect(t.Context(), b, nil)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	return session, served, connection
}

func TestAddTools(t *testing.T) {
	upstream := sdk.NewServer(&sdk.Implementation{Name: "up", Version: "1"}, nil)
	yes := true
	var meta sdk.Meta
	hanging, canceled := make(chan struct{}), make(chan struct{})
	upstream.AddTool(&sdk.Tool{
		Name: "all", Title: "All kinds", Description: "Returns everything.", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		OutputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &yes},
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		meta = r.Params.Meta
		if token := r.Params.GetProgressToken(); token != nil {
			r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "half"})
		}
		return &sdk.CallToolResult{
			Content: []sdk.Content{
				&sdk.TextContent{Text: "a" + string(r.Params.Arguments), Annotations: &sdk.Annotations{Audience: []sdk.Role{"assistant"}, Priority: 0.5}}, &sdk.TextContent{Text: "b"},
				&sdk.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")},
				&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF....WAVE")},
				&sdk.TextContent{Text: "for people", Annotations: &sdk.Annotations{Audience: []sdk.Role{"user"}}},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///r", MIMEType: "text/plain", Text: "in it"}},
				&sdk.ResourceLink{URI: "file:///x", Name: "x"},
			},
			StructuredContent: json.RawMessage(`{"n":9007199254740993}`),
		}, nil
	})
	upstream.AddTool(&sdk.Tool{Name: "hang", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(hanging)
		<-ctx.Done()
		close(canceled)
		return nil, ctx.Err()
	})
	progress := make(chan *sdk.ProgressNotificationParams, 1)
	changed := make(chan bool, 1)
	session, served, connection := gateway(t, upstream, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params },
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { changed <- true },
	})

	list, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 2)
	all := list.Tools[0]
	assert.Equal(t, "mcp__up__all", all.Name)
	assert.Equal(t, "All kinds", all.Title)
	assert.True(t, all.Annotations.ReadOnlyHint)
	assert.Equal(t, &yes, all.Annotations.OpenWorldHint)
	assert.NotNil(t, all.OutputSchema)

	params := &sdk.CallToolParams{Name: "mcp__up__all", Arguments: map[string]any{"n": "7"}, Meta: sdk.Meta{"traceparent": "00-1", "dev.mcp/x": 1}}
	params.SetProgressToken("mine")
	result, err := session.CallTool(t.Context(), params)
	require.NoError(t, err)
	assert.False(t, result.IsError)
	content, err := json.Marshal(result.Content)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"type":"text","text":"a{\"n\":7}","annotations":{"audience":["assistant"],"priority":0.5}},{"type":"text","text":"b"},
		{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"},
		{"type":"audio","mimeType":"audio/wav","data":"UklGRi4uLi5XQVZF"},
		{"type":"text","text":"for people","annotations":{"audience":["user"]}},
		{"type":"resource","resource":{"uri":"file:///r","mimeType":"text/plain","text":"in it"}},
		{"type":"resource_link","uri":"file:///x","name":"x"}]`, string(content), "as the first server sent it")
	assert.Equal(t, "00-1", meta["traceparent"])
	assert.NotContains(t, meta, "dev.mcp/x")
	p := <-progress
	assert.Equal(t, "mine", p.ProgressToken)
	assert.Equal(t, "half", p.Message)

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-hanging
		cancel()
	}()
	_, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "mcp__up__hang"})
	assert.ErrorIs(t, err, context.Canceled)
	<-canceled // the server behind was told

	upstream.RemoveTools("hang")
	require.NoError(t, connection.RefreshTools(t.Context()))
	served.RemoveTools("mcp__up__hang")
	require.NoError(t, mcp.AddTools(served, connection.Tools()...))
	<-changed
	list, err = session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	assert.Len(t, list.Tools, 1)

	connection.Close()
	result, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "mcp__up__all"})
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.Contains(t, result.Content[0].(*sdk.TextContent).Text, "closed")
}

// What a server puts into a schema cannot end the program.
func TestAddToolsRefused(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, nil)
	good := mcp.NewTool("good", "", func(context.Context, struct{}) (string, error) { return "", nil })
	bad, worse, none := good, good, good
	bad.Name, bad.InputSchema = "bad", json.RawMessage(`{"type":"object","properties":{"a":{"type":"array","items":{},"x-mcp-header":"A"}}}`)
	worse.Name, worse.InputSchema = "worse", json.RawMessage(`{"type":`)
	none.Name, none.InputSchema = "none", nil
	err := mcp.AddTools(server, bad, worse, none, good)
	assert.ErrorContains(t, err, `adding tool "bad": `)
	assert.ErrorContains(t, err, `adding tool "worse": `)
	assert.ErrorContains(t, err, `adding tool "none": `)
	assert.NotContains(t, err.Error(), `"good"`)
}

// A schema costs at most its tool, one of results not even that, and what it says
// stays short and clean.
func TestAddToolsHostile(t *testing.T) {
	nested := strings.Repeat(`{"type":"object","properties":{"a":`, 2000) + `{}` + strings.Repeat(`}}`, 2000)
	const object = `{"type":"object","properties":{"a":`
	good := mcp.NewTool("good", "", func(context.Context, struct{}) (string, error) { return "fine", nil })
	for schema, refused := range map[string]string{ // by the schema, whether it is refused for arguments and for results
		`null`: "in", `true`: "in", `[]`: "in", `"object"`: "in", `{}`: "in", ``: "in", `{"Type":"object"}`: "in",
		`{"type":"object"} x`: "in", `{"type":["object","null"]}`: "in", "{\"type\":\"a\x1b[2J\"}": "in", `{"type":"a\u001b[2J"}`: "in",
		`{"type":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`: "in",
		object + `{"maximum":1e999}}}`:                        "in out", nested: "in out",
		object + `{"type":"array","x-mcp-header":"A"}}}`:                                             "in",
		`{"type":"object","properties":{"` + strings.Repeat("y", 1<<20) + `":{"x-mcp-header":"A"}}}`: "in",
		`{"type":"object","properties":[],"required":7,"$ref":"#"}`:                                  "", "{\"type\":\"object\",\"title\":\"\xff\\ud800\"}": "",
	} {
		for _, where := range []string{"in", "out"} {
			server := sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, nil)
			bad, tools := good, 2
			bad.Name = "bad"
			if where == "in" {
				bad.InputSchema = json.RawMessage(schema)
			} else {
				bad.OutputSchema = json.RawMessage(schema)
			}
			err := mcp.AddTools(server, bad, good)
			label := where + " " + schema[:min(len(schema), 100)]
			switch {
			case !strings.Contains(refused, where):
				require.NoError(t, err, label)
			case where == "in":
				require.ErrorContains(t, err, `adding tool "bad": `, label)
				tools = 1
			default:
				require.ErrorContains(t, err, `adding tool "bad": leaving out its output schema: `, label)
			}
			if err != nil {
				assert.Less(t, len(err.Error()), 2<<10, label)
				assert.NotContains(t, err.Error(), "\x1b", label)
			}
			session := served(t, server)
			list, err := session.ListTools(t.Context(), nil)
			require.NoError(t, err, label)
			require.Len(t, list.Tools, tools, label)
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: list.Tools[0].Name})
			require.NoError(t, err, label)
			assert.False(t, result.IsError, label)
		}
	}
}

// served returns a client of a server.
func served(t *testing.T, server *sdk.Server) *sdk.ClientSession {
	a, b := sdk.NewInMemoryTransports()
	go server.Run(t.Context(), a)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), b, nil)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

// What is not an object goes to those who know it may.
func TestAddToolsStructured(t *testing.T) {
	for version, all := range map[string]bool{"2026-07-28": true, "2025-11-25": false} {
		server := sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, &sdk.ServerOptions{SupportedProtocolVersions: []string{version}})
		values := []string{`[1,{"a":9007199254740993}]`, `"text"`, `7`, `null`, `true`, " {\"a\":9007199254740993}"}
		for i, value := range values {
			require.NoError(t, mcp.AddTools(server, mcp.NewTool(fmt.Sprint("tool", i), "", func(context.Context, struct{}) (mcp.ToolResult, error) {
				return mcp.ToolResult{Content: "said", Structured: json.RawMessage(value)}, nil
			})))
		}
		session := served(t, server)
		require.Equal(t, version, session.InitializeResult().ProtocolVersion)
		for i, value := range values {
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: fmt.Sprint("tool", i)})
			require.NoError(t, err)
			require.False(t, result.IsError, value)
			require.Len(t, result.Content, 1)
			assert.Equal(t, "said", result.Content[0].(*sdk.TextContent).Text)
			got, err := json.Marshal(result.StructuredContent)
			require.NoError(t, err)
			want := "null"
			if all || i == len(values)-1 {
				want = strings.ReplaceAll(strings.TrimSpace(value), "9007199254740993", "9007199254740992") // the client's numbers
			}
			assert.JSONEq(t, want, string(got), "%s %s", version, value)
		}
	}
}

// What a wrapper makes of a result goes out, and nothing of what it was.
func TestAddToolsWrapped(t *testing.T) {
	picture := func(pixel byte) mcp.Image {
		return mcp.Image{MIMEType: "image/png", Data: []byte{0x89, 'P', 'N', 'G', pixel}}
	}
	given := mcp.ToolResult{
		Content: "secret\n[image 1]\nend", Images: []mcp.Image{picture(1)},
		Parts: []mcp.Part{{Type: "text", Text: "secret", Raw: json.RawMessage(`{"type":"text","text":"secret"}`)},
			{Type: "image", MIMEType: "image/png", Data: picture(1).Data, Raw: json.RawMessage(`{"type":"image","mimeType":"image/png","data":"iVBORwE="}`)},
			{Type: "text", Text: "end", Raw: json.RawMessage(`{"type":"text","text":"end"}`)}},
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, nil)
	own := func(name string, f func() mcp.ToolResult) mcp.Tool {
		return mcp.NewTool(name, "", func(context.Context, struct{}) (mcp.ToolResult, error) { return f(), nil })
	}
	inner := own("inner", func() mcp.ToolResult { return given })
	require.NoError(t, mcp.AddTools(server, inner,
		own("masked", func() mcp.ToolResult { r := given; r.Content = "[masked]\n[image 1]\nend"; return r }),
		own("added", func() mcp.ToolResult { r := given; r.Content += "\n[noted]"; return r }),
		own("painted", func() mcp.ToolResult { r := given; r.Images = []mcp.Image{picture(2)}; return r }),
		own("without", func() mcp.ToolResult { r := given; r.Images = nil; return r }),
		own("summary", func() mcp.ToolResult { inner.Handler(t.Context(), nil); return mcp.ToolResult{Content: "short"} }),
		own("panics", func() mcp.ToolResult { panic("password") }),
		own("list", func() mcp.ToolResult { return mcp.ToolResult{Content: "[1]", Structured: json.RawMessage("[1]")} }),
	))
	a, b := sdk.NewInMemoryTransports()
	go server.Run(t.Context(), a)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), b, nil)
	require.NoError(t, err)
	defer session.Close()
	for name, want := range map[string]string{
		"inner":   `[{"type":"text","text":"secret"},{"type":"image","mimeType":"image/png","data":"iVBORwE="},{"type":"text","text":"end"}]`,
		"masked":  `[{"type":"text","text":"[masked]\n[image 1]\nend"},{"type":"image","mimeType":"image/png","data":"iVBORwE="}]`,
		"added":   `[{"type":"text","text":"secret\n[image 1]\nend\n[noted]"},{"type":"image","mimeType":"image/png","data":"iVBORwE="}]`,
		"painted": `[{"type":"text","text":"secret\n[image 1]\nend"},{"type":"image","mimeType":"image/png","data":"iVBORwI="}]`,
		"without": `[{"type":"text","text":"secret\n[image 1]\nend"}]`,
		"summary": `[{"type":"text","text":"short"}]`,
		"panics":  `[{"type":"text","text":"the tool \"panics\" failed by a fault of its own: tell those who run it"}]`,
		"list":    `[{"type":"text","text":"[1]"}]`,
	} {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name})
		require.NoError(t, err, name)
		content, err := json.Marshal(result.Content)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(content), name)
		assert.Equal(t, name == "panics", result.IsError, name)
		if name == "list" && session.InitializeResult().ProtocolVersion < "2026-07-28" {
			assert.Nil(t, result.StructuredContent)
		}
	}
}
