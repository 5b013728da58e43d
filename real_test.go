package mcp_test

// This file runs real servers, which .ci/servers installs.

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// cacheDir is where .ci/servers installs real servers.
func cacheDir() string {
	if dir := os.Getenv("MCP_TEST_CACHE"); dir != "" {
		return dir
	}
	dir, _ := os.UserCacheDir()
	return filepath.Join(dir, "mcp-test")
}

// realServer returns the server that name stands for, or skips the test: a
// program that .ci/servers installed, or npx with such a package.
func realServer(t testing.TB, name string, args ...string) mcp.Server {
	t.Helper()
	if testing.Short() {
		t.Skip("real servers take their time")
	}
	npm := filepath.Join(cacheDir(), "npm")
	s := mcp.Server{
		Name:        "real",
		Args:        args,
		StopTimeout: time.Second, // some never leave by themselves
		Env: []string{
			"PATH=" + filepath.Join(npm, "node_modules", ".bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
			"HOME=" + t.TempDir(),
			"npm_config_cache=" + filepath.Join(cacheDir(), "npx"),
			"npm_config_offline=true",
			"npm_config_update_notifier=false",
			mcptest.MarkVariable + "=" + mcptest.Mark(t),
		},
	}
	if pkg, ok := strings.CutPrefix(name, "npx "); ok {
		if _, err := exec.LookPath("npx"); err != nil {
			t.Skip("npx is not there")
		}
		// With a package that is installed where it runs, npx asks no registry.
		folder := pkg[:strings.LastIndex(pkg, "@")]
		if _, err := os.Stat(filepath.Join(npm, "node_modules", folder)); err != nil {
			t.Skipf("%s is not installed: run .ci/servers", pkg)
		}
		s.Command, s.Args, s.Dir = "npx", append([]string{"-y", pkg}, args...), npm
		return s
	}
	for _, file := range []string{filepath.Join(npm, "node_modules", ".bin", name), filepath.Join(npm, "node_modules", name), filepath.Join(cacheDir(), "bin", name)} {
		if _, err := os.Stat(file); err == nil {
			s.Command = file
			return s
		}
	}
	t.Skipf("%s is not installed: run .ci/servers", name)
	return s
}

// realCall calls a tool of a real server by the server's name for it.
func realCall(t testing.TB, c *mcp.Connection, tool string, arguments any) mcp.ToolResult {
	t.Helper()
	raw, err := json.Marshal(arguments)
	require.NoError(t, err)
	for _, candidate := range c.Tools() {
		if candidate.ServerTool == tool {
			result, err := candidate.Handler(t.Context(), raw)
			require.NoError(t, err)
			return result
		}
	}
	t.Fatalf("there is no tool %q among %q", tool, serverNames(c.Tools()))
	return mcp.ToolResult{}
}

type m = map[string]any

func TestRealServers(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("Grüße\n"), 0o600))
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte("Grüße\n")))
	var picture bytes.Buffer
	picture.Write(tinyPNG(t))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "dot.png"), picture.Bytes(), 0o600))
	module := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(module, "go.mod"), []byte("module example.test/m\n\ngo 1.25\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(module, "m.go"), []byte("package m\n\n// Answer is known.\nconst Answer = 42\n"), 0o600))

	for _, c := range []struct {
		name  string // of the test
		start []string
		env   []string
		dir   string
		tools int // at least
		check func(t *testing.T, c *mcp.Connection)
	}{
		{"everything", []string{"@modelcontextprotocol/server-everything@2026.8.31", "mcp-server-everything"}, nil, "", 10, checkEverything},
		{"filesystem", []string{"@modelcontextprotocol/server-filesystem@2026.8.31", "mcp-server-filesystem", folder}, nil, "", 10, func(t *testing.T, c *mcp.Connection) {
			assert.Equal(t, "Grüße\n", realCall(t, c, "read_text_file", m{"path": filepath.Join(folder, "notes.txt")}).Content)
			result := realCall(t, c, "read_media_file", m{"path": filepath.Join(folder, "dot.png")})
			require.Len(t, result.Images, 1)
			assert.Equal(t, "image/png", result.Images[0].MIMEType)
			config, _, err := image.DecodeConfig(bytes.NewReader(result.Images[0].Data))
			require.NoError(t, err)
			assert.Equal(t, 1, config.Width)
			result = realCall(t, c, "read_text_file", m{"path": filepath.Join(folder, "missing")})
			assert.True(t, result.IsError)
			assert.Contains(t, result.Content, "ENOENT")
		}},
		{"memory", []string{"@modelcontextprotocol/server-memory@2026.8.31", "mcp-server-memory"}, []string{"MEMORY_FILE_PATH=" + filepath.Join(folder, "memory.json")}, "", 5, func(t *testing.T, c *mcp.Connection) {
			result := realCall(t, c, "create_entities", m{"entities": []m{{"name": "a<b>", "entityType": "thing", "observations": []string{"x & y"}}}})
			assert.False(t, result.IsError, result.Content)
			result = realCall(t, c, "read_graph", m{})
			assert.Contains(t, string(result.Structured), `"a<b>"`)
			assert.Contains(t, result.Content, "a<b>")
		}},
		{"elasticsearch", []string{"@elastic/mcp-server-elasticsearch@0.3.1", "mcp-server-elasticsearch"}, []string{"ES_URL=http://127.0.0.1:9", "ES_API_KEY=nothing-secret"}, "", 1, func(t *testing.T, c *mcp.Connection) {
			assert.Contains(t, strings.Join(c.Warnings(), "\n"), "of output that", "it logs to its standard output")
			// It tells its failure as ordinary text, which stays one.
			result := realCall(t, c, "list_indices", m{"indexPattern": "*"})
			assert.Contains(t, result.Content, "Error")
			assert.False(t, result.IsError)
		}},
		{"leanspec", []string{"", "@leanspec/mcp-linux-x64/leanspec-mcp"}, nil, folder, 1, nil},
		{"vaulttools in Rust", []string{"", "@vaulttools/mcp-linux-x64/bin/vaulttools-mcp", "--allowed-dir", folder}, nil, "", 10, func(t *testing.T, c *mcp.Connection) {
			result := realCall(t, c, "vaulttools_dev_hash", m{"path": filepath.Join(folder, "notes.txt"), "algorithm": "sha256"})
			assert.Contains(t, string(result.Structured), hash)
			result = realCall(t, c, "vaulttools_dev_hash", m{"path": filepath.Join(module, "m.go"), "algorithm": "sha256"})
			assert.NotContains(t, result.Content, "file_size", "a file outside of the folder")
		}},
		{"mcp-time in Go, by mcp-go", []string{"", "mcp-time-linux-x64/bin/mcp-time"}, nil, "", 3, func(t *testing.T, c *mcp.Connection) {
			assert.Equal(t, "2024-01-01T01:00:00Z", realCall(t, c, "add_time", m{"time": "2024-01-01T00:00:00Z", "duration": "1h"}).Content)
		}},
		{"everything under Bun", []string{"", "@oven/bun-linux-x64/bin/bun", filepath.Join(cacheDir(), "npm", "node_modules", filepath.FromSlash(everythingScript))}, nil, "", 10, checkEverything},
		{"gopls", []string{"", "gopls", "mcp"}, []string{"GOCACHE=" + filepath.Join(cacheDir(), "gocache"), "GOFLAGS=-mod=mod", "GOPROXY=off"}, module, 3, func(t *testing.T, c *mcp.Connection) {
			result := realCall(t, c, "go_package_api", m{"packagePaths": []string{"example.test/m"}})
			assert.Contains(t, result.Content, "Answer")
		}},
	} {
		for _, launcher := range []string{"bin", "npx"} {
			if launcher == "npx" && c.start[0] == "" {
				continue
			}
			t.Run(c.name+" with "+launcher, func(t *testing.T) {
				name := c.start[1]
				if launcher == "npx" {
					name = "npx " + c.start[0]
				}
				server := realServer(t, name, c.start[2:]...)
				server.Env = append(server.Env, c.env...)
				if c.dir != "" {
					server.Dir = c.dir
				}
				start := time.Now()
				connection := connect(t, server)
				t.Logf("connected in %v: %d tools, warnings %q", time.Since(start).Round(time.Millisecond), len(connection.Tools()), connection.Warnings())
				assert.GreaterOrEqual(t, len(connection.Tools()), c.tools)
				if c.check != nil {
					c.check(t, connection)
				}
				require.NoError(t, connection.RefreshTools(t.Context()))
				start = time.Now()
				require.NoError(t, connection.Close())
				t.Logf("closed in %v", time.Since(start).Round(time.Millisecond))
				assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
			})
		}
	}
}

func checkEverything(t *testing.T, c *mcp.Connection) {
	assert.Equal(t, mcp.ToolResult{Content: "Echo: hi <there>"}, said(realCall(t, c, "echo", m{"message": "hi <there>"})))
	result := realCall(t, c, "get-tiny-image", m{})
	require.Len(t, result.Images, 1)
	_, format, err := image.DecodeConfig(bytes.NewReader(result.Images[0].Data))
	require.NoError(t, err)
	assert.Equal(t, "png", format)
	result = realCall(t, c, "get-structured-content", m{"location": "New York"})
	assert.Contains(t, string(result.Structured), `"temperature"`)
	assert.Contains(t, realCall(t, c, "get-resource-links", m{"count": 2}).Content, "[resource link: ")
	assert.NotEmpty(t, realCall(t, c, "get-resource-reference", m{"resourceType": "Text", "resourceId": 1}).Content)
	result = realCall(t, c, "get-sum", m{"a": "2", "b": 3})
	assert.Contains(t, result.Content, "5", "a number that came as a string")
	assert.True(t, realCall(t, c, "get-sum", m{"a": "x"}).IsError)
}

// tinyPNG is a picture of one pixel.
func tinyPNG(t testing.TB) []byte {
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 1, 1))))
	return file.Bytes()
}
