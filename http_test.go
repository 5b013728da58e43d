package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

type echoArguments struct {
	Text string `json:"text"`
}

// officialServer is a server of the official SDK with the tool echo.
func officialServer(t testing.TB, server *sdk.ServerOptions, options *sdk.StreamableHTTPOptions) *httptest.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, server)
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoArguments) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo: " + in.Text}}}, nil, nil
	})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, options))
	t.Cleanup(h.Close)
	return h
}

func TestOfficialServers(t *testing.T) {
	legacy := &sdk.ServerOptions{SupportedProtocolVersions: []string{"2025-06-18", "2025-03-26"}}
	for _, test := range []struct {
		name    string
		server  *sdk.ServerOptions
		options *sdk.StreamableHTTPOptions
	}{
		{"stateful", nil, nil},
		{"stateless", nil, &sdk.StreamableHTTPOptions{Stateless: true}},
		{"JSON", nil, &sdk.StreamableHTTPOptions{JSONResponse: true}},
		{"stateless JSON", nil, &sdk.StreamableHTTPOptions{JSONResponse: true, Stateless: true}},
		{"stateful, old versions", legacy, nil},
		{"stateless, old versions", legacy, &sdk.StreamableHTTPOptions{Stateless: true}},
		{"JSON, old versions", legacy, &sdk.StreamableHTTPOptions{JSONResponse: true}},
		{"only the newest version", &sdk.ServerOptions{SupportedProtocolVersions: []string{"2026-07-28"}}, &sdk.StreamableHTTPOptions{Stateless: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := officialServer(t, test.server, test.options)
			c := connect(t, mcp.Server{Name: "test", URL: h.URL})
			tools := c.Tools()
			require.Len(t, tools, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			result, err := tools[0].Handler(ctx, []byte(`{"text":"hi"}`))
			require.NoError(t, err)
			assert.Equal(t, mcp.ToolResult{Content: "echo: hi"}, result)
			require.NoError(t, c.RefreshTools(ctx))
			assert.Empty(t, c.Warnings())
		})
	}
}
