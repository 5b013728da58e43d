package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

// The gateway serves at once, and tools come and go with their server.
func TestGateway(t *testing.T) {
	behind := sdk.NewServer(&sdk.Implementation{Name: "behind", Version: "1"}, nil)
	require.NoError(t, mcp.AddTools(behind, mcp.NewTool("hello", "Greets.", func(context.Context, struct{}) (string, error) { return "hi", nil })))
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return behind }, nil))
	t.Cleanup(web.Close)
	for _, searched := range []bool{false, true} {
		g := newGateway(searched)
		changed := make(chan struct{}, 10)
		here, there := sdk.NewInMemoryTransports()
		_, err := g.server.Connect(t.Context(), there, nil)
		require.NoError(t, err)
		client, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, &sdk.ClientOptions{
			ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
		}).Connect(t.Context(), here, nil)
		require.NoError(t, err)
		names := func() (names []string) {
			list, err := client.ListTools(t.Context(), nil)
			require.NoError(t, err)
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			return names
		}
		first := names()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			g.follow(ctx, []mcp.Server{{Name: "b", URL: web.URL}, {Name: "none", Command: "there-is-no-such-program"}})
			close(done)
		}()
		if searched {
			assert.Equal(t, []string{"execute_tool", "tool_search"}, first)
		} else {
			assert.Empty(t, first)
			<-changed
			assert.Equal(t, []string{"mcp__b__hello"}, names())
			result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "mcp__b__hello"})
			require.NoError(t, err)
			assert.Equal(t, "hi", result.Content[0].(*sdk.TextContent).Text)
		}
		cancel()
		<-done
		assert.Empty(t, g.all())
		client.Close()
	}
}
