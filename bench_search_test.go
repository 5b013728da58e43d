package mcp_test

// This file measures search, own tools, served tools and TOON.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func BenchmarkSearch(b *testing.B) {
	tools := make([]mcp.Tool, 20_000)
	for i := range tools {
		server, tool := fmt.Sprintf("server%d", i%20), fmt.Sprintf("tool_%d", i)
		tools[i] = mcp.Tool{Name: "mcp__" + server + "__" + tool, Server: server, ServerTool: tool,
			Description: fmt.Sprintf("Does a thing of kind %d with %d parameters and says so, in %d words or more.", i%977, i%7, i%31),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"where it is"}}}`)}
	}
	list := func() []mcp.Tool { return tools }
	query := json.RawMessage(`{"query":"thing of kind 42"}`)
	find := func(b *testing.B, search mcp.Tool) {
		result, err := search.Handler(b.Context(), query)
		require.NoError(b, err)
		require.False(b, result.IsError)
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			search, _ := mcp.SearchTools(list)
			find(b, search)
		}
	})
	search, _ := mcp.SearchTools(list)
	find(b, search)
	b.Run("next", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			find(b, search)
		}
	})
	b.Run("one changed", func(b *testing.B) {
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			tools[7].Description = fmt.Sprint("Does a thing of kind 42 for the time ", n)
			find(b, search)
		}
	})
}

// An own tool, called by itself and through a server that serves it, beside the same
// call of a tool of the SDK alone.
func BenchmarkOwnTool(b *testing.B) {
	type in struct {
		Path  string `json:"path"`
		Limit int    `json:"limit"`
	}
	tool := mcp.NewTool("own", "Says where.", func(_ context.Context, in in) (string, error) { return in.Path, nil })
	arguments := json.RawMessage(`{"path":"/some/where","limit":10}`)
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			result, err := tool.Handler(b.Context(), arguments)
			require.NoError(b, err)
			require.Equal(b, "/some/where", result.Content)
		}
	})
	call := func(b *testing.B, server *sdk.Server) {
		ours, theirs := sdk.NewInMemoryTransports()
		go server.Run(b.Context(), ours)
		session, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil).Connect(b.Context(), theirs, nil)
		require.NoError(b, err)
		defer session.Close()
		b.ReportAllocs()
		for b.Loop() {
			result, err := session.CallTool(b.Context(), &sdk.CallToolParams{Name: "own", Arguments: arguments})
			require.NoError(b, err)
			require.False(b, result.IsError)
		}
	}
	b.Run("served", func(b *testing.B) {
		server := sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, nil)
		require.NoError(b, mcp.AddTools(server, tool))
		call(b, server)
	})
	b.Run("SDK alone", func(b *testing.B) {
		server := sdk.NewServer(&sdk.Implementation{Name: "plain", Version: "1"}, nil)
		sdk.AddTool(server, &sdk.Tool{Name: "own", Description: "Says where."}, func(_ context.Context, _ *sdk.CallToolRequest, in in) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Path}}}, nil, nil
		})
		call(b, server)
	})
}

func BenchmarkTOON(b *testing.B) {
	var rows []string
	for size := 0; size < 500_000; size += len(rows[len(rows)-1]) + 1 {
		i := len(rows)
		rows = append(rows, fmt.Sprintf(`{"id": %d, "name": "file %d", "size": %d.5, "open": %t, "note": "said, once"}`, i, i, i*37, i%2 == 0))
	}
	text := "[" + strings.Join(rows, ",") + "]"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		require.Less(b, len(mcp.TOON(text)), len(text))
	}
}
