package mcp_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestToolName(t *testing.T) {
	for _, c := range []struct{ server, tool, want string }{
		// Kept as it is.
		{"github", "create_issue", "mcp__github__create_issue"},
		{"Linear", "search-docs", "mcp__Linear__search-docs"},
		{"srv", "_5y_query", "mcp__srv___5y_query"},
		{"srv", "123_tool", "mcp__srv__123_tool"},
		{"srv", "getUser", "mcp__srv__getUser"},
		{"srv", "getuser", "mcp__srv__getuser"},
		{"mcp", "mcp__x", "mcp__mcp__mcp__x"},
		{"s", strings.Repeat("t", 56), "mcp__s__" + strings.Repeat("t", 56)},
		// Ten digits that are not a hash.
		{"srv", "log_20260101AB", "mcp__srv__log_20260101AB"},
		{"srv", "x-0123456789", "mcp__srv__x-0123456789"},
		// One character too long.
		{"s", strings.Repeat("t", 57), "mcp__s__" + strings.Repeat("t", 45) + "_106939939f"},
		// Looks like a name with a hash.
		{"srv", "a_0123456789", "mcp__srv__a_0123456789_5b5acddf67"},
		{"srv", "_0123456789", "mcp__srv___0123456789_f219db8c8f"},
		// Other characters.
		{"srv", "calendar.event/create", "mcp__srv__calendar_event_create_ec75945643"},
		{"srv", "café", "mcp__srv__caf__6e9d11df5b"},
		{"srv", "cafè", "mcp__srv__caf__2713dc9a16"},
		{"srv", "获取天气", "mcp__srv_______44b45bb598"},
		{"srv", "a\xff\xfeb", "mcp__srv__a__b_06af84b61c"},
		{"srv", "", "mcp__srv___70750adcc1"},
		// Server names that no Server may have.
		{"my server", "list", "mcp__my_server__list_"},
		{"my_server", "list", "mcp__my_server__list_"},
		{"", "list", "mcp_____list_"},
		{"天气", "列表", "mcp________"},
		{strings.Repeat("s", 33), "list", "mcp__" + strings.Repeat("s", 32) + "__list_"},
	} {
		got := mcp.ToolName(c.server, c.tool)
		if strings.HasSuffix(c.want, "_") && !strings.HasSuffix(got, c.want) {
			assert.Regexp(t, "^"+regexp.QuoteMeta(c.want)+"[_0-9a-f]{10,20}$", got)
		} else {
			assert.Equal(t, c.want, got, "%q %q", c.server, c.tool)
		}
		assert.True(t, mcp.IsToolName(got), got)
	}
	// One name is never two tools.
	assert.NotEqual(t, mcp.ToolName("my server", "list"), mcp.ToolName("my_server", "list"))
	assert.NotEqual(t, mcp.ToolName("a", "a_0123456789"), mcp.ToolName("a", "a"))
}

func TestIsToolName(t *testing.T) {
	for _, name := range []string{"mcp__a__b", "mcp__github__create_issue", "mcp__a___", "mcp__a__b__c", "mcp__a__" + strings.Repeat("x", 56)} {
		assert.True(t, mcp.IsToolName(name), name)
	}
	for _, name := range []string{"", "mcp__", "mcp__a", "mcp__a__", "mcp____b", "mcp_a__b", "MCP__a__b", " mcp__a__b", "mcp__a__b c", "mcp__a__é",
		"mcp__a__" + strings.Repeat("x", 57)} {
		assert.False(t, mcp.IsToolName(name), name)
	}
}

func FuzzToolName(f *testing.F) {
	f.Add("github", "create_issue")
	f.Add("my server", "caf\xff_0123456789")
	f.Add("", "")
	providers := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
	f.Fuzz(func(t *testing.T, server, tool string) {
		name := mcp.ToolName(server, tool)
		require.Regexp(t, providers, name)
		require.True(t, mcp.IsToolName(name), name)
		require.Equal(t, name, mcp.ToolName(server, tool))
		require.NotEqual(t, name, mcp.ToolName(server, tool+"x"))
		require.NotEqual(t, name, mcp.ToolName(server+"x", tool))
	})
}
