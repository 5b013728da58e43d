package mcp_test

// This file ends real servers the hard way, with all that they have started.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func TestRealServersEnd(t *testing.T) {
	folder := t.TempDir()
	document := filepath.Join(folder, "page.pdf")
	require.NoError(t, os.WriteFile(document, []byte(onePage), 0o600))
	for _, c := range []struct {
		pkg   string
		args  []string
		needs string // a program that must be there
		use   func(t *testing.T, c *mcp.Connection)
	}{
		{"@modelcontextprotocol/server-pdf@2.0.4", []string{"--stdio", document}, "", func(t *testing.T, c *mcp.Connection) {
			result := realCall(t, c, "display_pdf", m{"url": document})
			assert.False(t, result.IsError, result.Content)
		}},
		{"@wonderwhy-er/desktop-commander@0.2.52", nil, "", func(t *testing.T, c *mcp.Connection) {
			realCall(t, c, "start_process", m{"command": "sleep 60 & setsid sleep 60 & sleep 60", "timeout_ms": 500})
		}},
		{"@azure/mcp@2.0.5", []string{"server", "start"}, "", func(*testing.T, *mcp.Connection) {}},
		{"@playwright/mcp@0.0.83", []string{"--headless", "--executable-path", "/usr/bin/chromium", "--no-sandbox", "--isolated"}, "/usr/bin/chromium", func(t *testing.T, c *mcp.Connection) {
			result := realCall(t, c, "browser_navigate", m{"url": "data:text/html,<title>A page</title><p>hello"})
			assert.Contains(t, result.Content, "A page")
		}},
	} {
		t.Run(c.pkg, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); c.needs != "" && err != nil {
				t.Skip(err)
			}
			server := realServer(t, "npx "+c.pkg, c.args...)
			connection := connect(t, server)
			c.use(t, connection)
			before := mcptest.Processes(mcptest.Mark(t))
			assert.GreaterOrEqual(t, len(before), 3, "npm, a shell and the server")
			// Browsers write over the environment of some of their processes.
			below := descendants(os.Getpid())
			start := time.Now()
			require.NoError(t, connection.Close())
			took := time.Since(start)
			assert.Less(t, took, 2*server.StopTimeout+slack)
			left := mcptest.Processes(mcptest.Mark(t))
			assert.Empty(t, left)
			for _, pid := range below {
				assert.False(t, alive(pid), "process %d is left", pid)
			}
			t.Logf("%d processes ended in %v", len(below), took.Round(time.Millisecond))
			slices.Sort(before)
			for _, process := range before {
				t.Logf("%.140s", process)
			}
		})
	}
}

// descendants returns all processes below the one with the id, where the system
// has /proc.
func descendants(pid int) (below []int) {
	children := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, _ := os.ReadFile(file)
		var child, parent int
		head, tail, _ := strings.Cut(string(stat), " (")
		_, tail, _ = strings.Cut(tail[strings.LastIndexByte(tail, ')')+1:], " ")
		if _, err := fmt.Sscan(head, &child); err != nil {
			continue
		}
		if _, err := fmt.Sscanf(tail, "%s %d", new(string), &parent); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	for next := children[pid]; len(next) > 0; next = next[1:] {
		below = append(below, next[0])
		next = append(next, children[next[0]]...)
	}
	return below
}

// onePage is a PDF file.
const onePage = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`
