package mcp_test

// This file normalizes the schemas of real servers.

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/schema/schematest"
)

// Every schema of every real server: it has the form that providers take, keeps
// it, and accepts what the server accepts.
func TestRealSchemas(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module example.test/m\n\ngo 1.25\n"), 0o600))
	names := map[string]string{} // the server of each tool
	for _, c := range []struct {
		server string
		start  []string
		env    []string
		tools  int // at least
	}{
		{"everything", []string{"mcp-server-everything"}, nil, 10},
		{"filesystem", []string{"mcp-server-filesystem", folder}, nil, 10},
		{"memory", []string{"mcp-server-memory"}, []string{"MEMORY_FILE_PATH=" + filepath.Join(folder, "memory.json")}, 5},
		{"thinking", []string{"mcp-server-sequential-thinking"}, nil, 1},
		{"github", []string{"mcp-server-github"}, nil, 20},
		{"notion", []string{"notion-mcp-server"}, nil, 15},
		{"mongodb", []string{"mongodb-mcp-server", "--telemetry", "disabled"}, nil, 10},
		{"gitlab", []string{"mcp-gitlab"}, []string{"GITLAB_PERSONAL_ACCESS_TOKEN=x"}, 50},
		{"0nmcp", []string{"0nmcp"}, nil, 1000},
		{"elasticsearch", []string{"mcp-server-elasticsearch"}, []string{"ES_URL=http://127.0.0.1:9", "ES_API_KEY=nothing-secret"}, 1},
		{"leanspec", []string{"@leanspec/mcp-linux-x64/leanspec-mcp"}, nil, 1},
		{"vaulttools", []string{"@vaulttools/mcp-linux-x64/bin/vaulttools-mcp", "--allowed-dir", folder}, nil, 10},
		{"mcp-time", []string{"mcp-time-linux-x64/bin/mcp-time"}, nil, 3},
		{"gopls", []string{"gopls", "mcp"}, []string{"GOCACHE=" + filepath.Join(cacheDir(), "gocache"), "GOFLAGS=-mod=mod", "GOPROXY=off"}, 3},
	} {
		t.Run(c.server, func(t *testing.T) {
			server := realServer(t, c.start[0], c.start[1:]...)
			server.Name, server.Dir = c.server, folder
			server.Env = append(server.Env, c.env...)
			tools := connect(t, server).Tools()
			assert.GreaterOrEqual(t, len(tools), c.tools)
			changed, compared, instances, apart, unresolved := 0, 0, 0, 0, 0
			for i, tool := range tools {
				assert.Empty(t, names[tool.Name], "%s is the name of another tool", tool.Name)
				names[tool.Name] = c.server
				checkSchema(t, tool)
				_, plan, err := schema.Normalize(tool.ServerSchema)
				require.NoError(t, err)
				result := schematest.Compare(tool.ServerSchema, tool.InputSchema, 60, uint64(i), func(arguments []byte) (json.RawMessage, error) {
					return plan.Repair(t.Context(), arguments)
				})
				assert.Empty(t, result.Problems, "%s: %s\n%s", tool.ServerTool, tool.ServerSchema, tool.InputSchema)
				instances, apart = instances+result.Valid, apart+result.Apart
				if result.Valid > 0 {
					compared++
				} else {
					t.Logf("%s is not compared: %s", tool.ServerTool, result.Unresolved)
				}
				if result.Unresolved != "" {
					unresolved++
				}
				if !bytes.Equal(tool.InputSchema, tool.ServerSchema) {
					changed++
				}
			}
			t.Logf("%d tools, %d schemas changed, %d compared with %d instances, %d instances apart, %d originals that do not resolve",
				len(tools), changed, compared, instances, apart, unresolved)
			assert.GreaterOrEqual(t, compared*100, len(tools)*95, "most schemas are compared")
		})
	}
}

func checkSchema(t *testing.T, tool mcp.Tool) {
	t.Helper()
	parsed := new(jsonschema.Schema)
	require.NoError(t, json.Unmarshal(tool.InputSchema, parsed), tool.ServerTool)
	_, err := parsed.Resolve(nil)
	require.NoError(t, err, tool.ServerTool)
	schematest.Check(t, tool.InputSchema)
	again, _, err := schema.Normalize(tool.InputSchema)
	require.NoError(t, err)
	assert.Equal(t, string(tool.InputSchema), string(again), tool.ServerTool)
	assert.LessOrEqual(t, len(tool.InputSchema), 8*len(tool.ServerSchema)+16<<10, tool.ServerTool)
}
