package config

// This file has what the entries of applications may have, as each of them
// documents it, and what becomes of that.

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/names"
)

var variables = map[string]string{"TOKEN": "t0ken", "DIR": "/src", "input:key": "typed", "file:~/key": "from a file", "workspaceFolder": "/work"}

func lookup(name string) (string, bool) {
	value, ok := variables[name]
	return value, ok
}

// hosts: every member that the documentation names is in one of the entries.
var hostFiles = []struct {
	host, documented string // where
	file             string
	want             []Entry
}{
	{
		"Claude Desktop", "modelcontextprotocol.io/docs/develop/connect-local-servers",
		`{"mcpServers": {"a": {"command": "c", "args": ["x", "$TOKEN"], "env": {"K": "v"}}}, "globalShortcut": "", "preferences": {}}`,
		[]Entry{{Key: "a", Command: "c", Args: []string{"x", "$TOKEN"}, Env: []string{"K=v"}}},
	}, {
		"Claude Code", "code.claude.com/docs/en/mcp",
		`{"mcpServers": {
			"a": {"type": "stdio", "command": "${DIR}/c", "args": ["${NO:-d}"], "env": {"K": "${TOKEN}"}, "timeout": 600000, "alwaysLoad": true},
			"b": {"type": "http", "url": "https://b", "headers": {"Authorization": "Bearer ${TOKEN}"}, "request_timeout_ms": 1500},
			"c": {"type": "http", "url": "https://c", "headersHelper": "/bin/h"},
			"d": {"type": "http", "url": "https://d", "oauth": {"clientId": "x", "callbackPort": 8080}},
			"e": {"command": "c"}, "f": {"command": "c"}
		}, "permissions": {"deny": ["mcp__a__rm", "mcp__e", "mcp__ab__x", "Bash(rm)"]}, "deniedMcpServers": [{"serverName": "f"}]}`,
		[]Entry{
			{Key: "a", Command: "/src/c", Args: []string{"d"}, Env: []string{"K=t0ken"}, CallTimeout: 10 * time.Minute, ExcludeTools: []string{"rm"}},
			{Key: "b", URL: "https://b", Headers: map[string]string{"Authorization": "Bearer t0ken"}, CallTimeout: 1500 * time.Millisecond},
			{Key: "c", URL: "https://c", Faults: []string{"headersHelper is not read: set Auth, or send a token in headers"}},
			{Key: "d", URL: "https://d", Faults: []string{"oauth is not read: set Auth to an oauth.Client with ID from clientId, RedirectURL from callbackPort"}},
			{Key: "e", Command: "c", Faults: []string{`"mcp__e" of the file leaves out all of its tools`}},
		},
	}, {
		"Cursor", "cursor.com/docs/context/mcp",
		`{"mcpServers": {
			"a": {"type": "stdio", "command": "c", "args": ["${workspaceFolder}"], "env": {"K": "${env:TOKEN}"}},
			"b": {"command": "c", "envFile": ".env"},
			"c": {"url": "https://c", "headers": {"X": "${env:TOKEN}"}, "auth": {"CLIENT_ID": "x", "CLIENT_SECRET": "y", "scopes": []}}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Args: []string{"/work"}, Env: []string{"K=t0ken"}},
			{Key: "b", Command: "c", Faults: []string{"envFile is not read: put what is in it into env, or use variables"}},
			{Key: "c", URL: "https://c", Headers: map[string]string{"X": "t0ken"}, Faults: []string{"auth is not read: set Auth to an oauth.Client with ID from CLIENT_ID, Secret from CLIENT_SECRET"}},
		},
	}, {
		"VS Code", "code.visualstudio.com/docs/copilot/reference/mcp-configuration",
		`{"inputs": [{"id": "key", "type": "promptString"}], "servers": {
			"a": {"type": "stdio", "command": "c", "args": [], "env": {"K": "${input:key}"}, "dev": {"watch": "*"}, "gallery": "x", "version": "1", "sandboxEnabled": false},
			"b": {"type": "http", "url": "https://b", "headers": {"X": "${input:key}"}},
			"c": {"type": "stdio", "command": "c", "envFile": "${workspaceFolder}/.env"},
			"d": {"type": "stdio", "command": "c", "sandboxEnabled": true, "sandbox": {"network": {"allowedDomains": []}}}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Env: []string{"K=typed"}},
			{Key: "b", URL: "https://b", Headers: map[string]string{"X": "typed"}},
			{Key: "c", Command: "c", Faults: []string{"envFile is not read: put what is in it into env, or use variables"}},
			{Key: "d", Command: "c", Faults: []string{
				"sandboxEnabled may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools",
				"sandbox may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools",
			}},
		},
	}, {
		"Windsurf", "docs.windsurf.com/windsurf/cascade/mcp",
		`{"mcpServers": {
			"a": {"serverUrl": "https://a", "headers": {"X": "${file:~/key}"}, "disabledTools": ["rm"], "disabled": false},
			"b": {"command": "c", "args": [], "env": {"K": "${env:TOKEN}"}, "disabledTools": []}
		}}`,
		[]Entry{
			{Key: "a", URL: "https://a", Headers: map[string]string{"X": "from a file"}, ExcludeTools: []string{"rm"}},
			{Key: "b", Command: "c", Env: []string{"K=t0ken"}},
		},
	}, {
		"Gemini CLI, Qwen Code", "geminicli.com/docs/tools/mcp-server",
		`{"mcp": {"serverCommand": "", "allowed": ["a", "b", "d"], "excluded": ["d"]}, "mcpServers": {
			"a": {"command": "c", "args": ["$DIR", "$NO"], "env": {"K": "$TOKEN", "L": "${TOKEN}"}, "cwd": "./x", "timeout": 30000, "trust": true, "description": "x",
				"includeTools": ["one", "two"], "excludeTools": ["two"]},
			"b": {"httpUrl": "https://b/mcp", "url": "https://b/sse", "headers": {"Authorization": "Bearer $TOKEN"}, "authProviderType": "dynamic_discovery", "oauth": {"enabled": false}},
			"c": {"command": "c"}, "d": {"command": "c"}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Args: []string{"/src", "$NO"}, Env: []string{"K=t0ken", "L=t0ken"}, Dir: "./x", CallTimeout: 30 * time.Second, Tools: []string{"one", "two"}, ExcludeTools: []string{"two"}},
			{Key: "b", URL: "https://b/mcp", Headers: map[string]string{"Authorization": "Bearer t0ken"}},
		},
	}, {
		"Gemini CLI", "the same, with Google's credentials",
		`{"mcpServers": {
			"a": {"httpUrl": "https://a", "authProviderType": "google_credentials", "oauth": {"scopes": ["x"]}},
			"b": {"url": "https://b", "authProviderType": "service_account_impersonation", "targetAudience": "x", "targetServiceAccount": "y"}
		}}`,
		[]Entry{
			{Key: "a", URL: "https://a", Faults: []string{"authProviderType is not read: set Auth, or send a token in headers", "oauth is not read: set Auth to an oauth.Client with Scopes from scopes"}},
			{Key: "b", URL: "https://b", Faults: []string{
				"authProviderType is not read: set Auth, or send a token in headers",
				"targetAudience is not read: set Auth, or send a token in headers",
				"targetServiceAccount is not read: set Auth, or send a token in headers",
			}},
		},
	}, {
		"Cline", "docs.cline.bot/mcp/configuring-mcp-servers",
		`{"mcpServers": {
			"a": {"command": "c", "args": [], "cwd": "/x", "env": {}, "autoApprove": ["one"], "disabled": false, "timeout": 1800, "transportType": "stdio"},
			"b": {"type": "streamableHttp", "url": "https://b", "headers": {}, "autoApprove": [], "timeout": 60}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Dir: "/x", CallTimeout: 30 * time.Minute, Tools: []string{"one"}},
			{Key: "b", URL: "https://b", CallTimeout: time.Minute},
		},
	}, {
		"Roo Code, Kilo Code", "docs.roocode.com/features/mcp/using-mcp-in-roo",
		`{"mcpServers": {
			"a": {"type": "stdio", "command": "c", "args": ["${env:TOKEN}"], "cwd": "/x", "env": {}, "alwaysAllow": ["one", "two"], "disabledTools": ["two"], "disabled": false, "timeout": 3600, "watchPaths": ["x"]},
			"b": {"type": "streamable-http", "url": "https://b", "headers": {}, "alwaysAllow": []},
			"c": {"type": "sse", "url": "https://c"}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Args: []string{"t0ken"}, Dir: "/x", CallTimeout: time.Hour, Tools: []string{"one", "two"}, ExcludeTools: []string{"two"}},
			{Key: "b", URL: "https://b"},
			{Key: "c", URL: "https://c", Faults: []string{`type "sse" is not supported, only stdio and http are`}},
		},
	}, {
		"Zed", "zed.dev/docs/ai/mcp",
		`{"theme": "One", "context_servers": {
			"a": {"source": "custom", "enabled": true, "command": "c", "args": ["x"], "env": {"K": "v"}, "timeout": 60000},
			"b": {"command": {"path": "c", "args": ["x"], "env": {"K": "v"}}, "settings": {}},
			"c": {"url": "https://c", "headers": {"X": "y"}},
			"d": {"source": "extension", "enabled": false, "settings": {}}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Args: []string{"x"}, Env: []string{"K=v"}, CallTimeout: time.Minute},
			{Key: "b", Command: "c", Args: []string{"x"}, Env: []string{"K=v"}},
			{Key: "c", URL: "https://c", Headers: map[string]string{"X": "y"}},
		},
	}, {
		"opencode", "opencode.ai/docs/mcp-servers",
		`{"$schema": "https://opencode.ai/config.json", "mcp": {
			"my.a": {"type": "local", "command": ["npx", "-y", "x"], "environment": {"K": "{env:TOKEN}"}, "enabled": true, "timeout": 5000, "cwd": "x"},
			"b": {"type": "remote", "url": "https://b", "headers": {"X": "{file:~/key}"}, "oauth": false},
			"c": {"type": "remote", "url": "https://c", "oauth": {"clientId": "x"}},
			"d": {"type": "local", "command": ["c"], "enabled": false},
			"e": {"type": "local", "command": ["c"]}, "f": {"type": "local", "command": ["c"]}
		}, "tools": {"my_a_rm": false, "my_a_drop*": false, "e*": false, "f_*_x": false, "bash": false}, "permission": {"b_x": "deny", "b_y": "allow", "edit": "ask"}}`,
		[]Entry{
			{Key: "my.a", Command: "npx", Args: []string{"-y", "x"}, Env: []string{"K=t0ken"}, Dir: "x", StartTimeout: 5 * time.Second, ExcludeTools: []string{"rm", "drop*"}},
			{Key: "b", URL: "https://b", Headers: map[string]string{"X": "from a file"}, ExcludeTools: []string{"x"}},
			{Key: "c", URL: "https://c", Faults: []string{"oauth is not read: set Auth to an oauth.Client with ID from clientId"}},
			{Key: "e", Command: "c", Faults: []string{`"e*" of the file leaves out all of its tools`}},
			{Key: "f", Command: "c", ExcludeTools: []string{"*_x"}},
		},
	}, {
		"opencode 2", "opencode.ai/v2/docs/mcp-servers",
		`{"mcp": {"servers": {
			"a": {"type": "local", "command": ["c", "x"], "environment": {}, "disabled": false, "timeout": {"startup": 30000, "request": 2000}},
			"b": {"type": "remote", "url": "https://b", "disabled": true}
		}}}`,
		[]Entry{{Key: "a", Command: "c", Args: []string{"x"}, StartTimeout: 30 * time.Second, CallTimeout: 2 * time.Second}},
	}, {
		"Crush", "github.com/charmbracelet/crush, schema.json",
		`{"mcp": {
			"a": {"type": "stdio", "command": "c", "args": ["x"], "env": {"K": "$TOKEN"}, "timeout": 120, "disabled": false, "disabled_tools": ["rm"], "enabled_tools": ["ls", "rm"], "sessionless": true},
			"b": {"type": "http", "url": "https://b", "headers": {"X": "$TOKEN"}, "oauth": true, "oauth_client_id": "x", "oauth_callback_port": 1}
		}, "tools": {"ls": {"max_depth": 1}}}`,
		[]Entry{
			{Key: "a", Command: "c", Args: []string{"x"}, Env: []string{"K=t0ken"}, StartTimeout: 2 * time.Minute, Tools: []string{"ls", "rm"}, ExcludeTools: []string{"rm"}},
			{Key: "b", URL: "https://b", Headers: map[string]string{"X": "t0ken"}, Faults: []string{
				"oauth is not read: set Auth, or send a token in headers",
				"oauth_client_id is not read: set Auth to an oauth.Client with ID from oauth_client_id",
				"oauth_callback_port is not read: set Auth to an oauth.Client with RedirectURL from oauth_callback_port",
			}},
		},
	}, {
		"Codex, as JSON", "developers.openai.com/codex/mcp",
		`{"mcp_servers": {
			"a": {"command": "c", "args": ["x"], "env": {"K": "v"}, "env_vars": ["TOKEN"], "cwd": "/x", "enabled": true, "required": true,
				"startup_timeout_sec": 20, "tool_timeout_sec": 45.5, "enabled_tools": ["one"], "disabled_tools": ["two"]},
			"b": {"url": "https://b", "bearer_token_env_var": "TOKEN", "http_headers": {"X": "y"}, "env_http_headers": {"Z": "DIR"}, "startup_timeout_ms": 1500},
			"c": {"url": "https://c", "bearer_token_env_var": "NO", "scopes": ["x"], "oauth_resource": "x", "default_tools_approval_mode": "prompt"}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Args: []string{"x"}, Env: []string{"K=v", "TOKEN=t0ken"}, Dir: "/x", StartTimeout: 20 * time.Second, CallTimeout: 45500 * time.Millisecond, Tools: []string{"one"}, ExcludeTools: []string{"two"}},
			{Key: "b", URL: "https://b", Bearer: "t0ken", Headers: map[string]string{"X": "y", "Z": "/src"}, StartTimeout: 1500 * time.Millisecond},
			{Key: "c", URL: "https://c", Faults: []string{
				`bearer_token_env_var: variable "NO" is not set`,
				"oauth_resource is not read: set Auth, or send a token in headers",
				"default_tools_approval_mode may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools",
			}},
		},
	}, {
		"Amazon Q Developer", "github.com/aws/amazon-q-developer-cli, docs/agent-format.md",
		`{"name": "x", "mcpServers": {
			"a": {"command": "c", "args": [], "env": {"K": "$TOKEN"}, "timeout": 120000, "disabled": false, "disabledTools": ["rm"]},
			"b": {"command": "c"}, "c": {"type": "http", "url": "https://c", "headers": {}, "oauthScopes": []}
		}, "tools": ["fs_read", "@a/ls", "@a/rm", "@c"], "allowedTools": ["fs_read"]}`,
		[]Entry{
			{Key: "a", Command: "c", Env: []string{"K=t0ken"}, CallTimeout: 2 * time.Minute, Tools: []string{"ls", "rm"}, ExcludeTools: []string{"rm"}},
			{Key: "b", Command: "c", Faults: []string{"tools of the file has none of its tools"}},
			{Key: "c", URL: "https://c"},
		},
	}, {
		"Kiro", "kiro.dev/docs/mcp/configuration",
		`{"mcpServers": {
			"a": {"command": "c", "args": [], "env": {"K": "${TOKEN}"}, "disabled": false, "autoApprove": ["*"], "disabledTools": ["rm"]},
			"b": {"url": "https://b", "headers": {"X": "${TOKEN}"}, "env": {}, "oauth": {"clientId": "x"}, "oauthScopes": ["x"]}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Env: []string{"K=t0ken"}, ExcludeTools: []string{"rm"}},
			{Key: "b", URL: "https://b", Headers: map[string]string{"X": "t0ken"}, Faults: []string{"oauth is not read: set Auth to an oauth.Client with ID from clientId", "oauthScopes is not read: set Auth to an oauth.Client with Scopes from oauthScopes"}},
		},
	}, {
		"Copilot CLI and coding agent", "docs.github.com/en/copilot/how-tos/agents/copilot-coding-agent",
		`{"mcpServers": {
			"a": {"type": "local", "command": "c", "args": ["x"], "env": {"K": "$TOKEN"}, "tools": ["*"], "timeout": 600000, "cwd": "/x"},
			"b": {"type": "http", "url": "https://b", "headers": {"X": "${TOKEN:-x}"}, "tools": ["one", "two"]},
			"c": {"type": "local", "command": "c", "tools": []}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Args: []string{"x"}, Env: []string{"K=t0ken"}, Dir: "/x", CallTimeout: 10 * time.Minute},
			{Key: "b", URL: "https://b", Headers: map[string]string{"X": "t0ken"}, Tools: []string{"one", "two"}},
			{Key: "c", Command: "c", Faults: []string{"tools leaves no tool: take the entry out, or disable it"}},
		},
	}, {
		"LM Studio", "lmstudio.ai/docs/app/plugins/mcp: as Cursor",
		`{"mcpServers": {"a": {"url": "https://a", "headers": {"Authorization": "Bearer x"}, "timeout": 60000}}}`,
		[]Entry{{Key: "a", URL: "https://a", Headers: map[string]string{"Authorization": "Bearer x"}, CallTimeout: time.Minute}},
	}, {
		"Continue", "docs.continue.dev/reference, as JSON",
		`{"mcpServers": [
			{"name": "a b", "command": "c", "args": [], "env": {}, "cwd": "/x", "connectionTimeout": 5000},
			{"name": "b", "type": "streamable-http", "url": "https://b", "apiKey": "x", "requestOptions": {"headers": {"X": "y"}, "verifySsl": true}}
		]}`,
		[]Entry{
			{Key: "a b", Command: "c", Dir: "/x", StartTimeout: 5 * time.Second},
			{Key: "b", URL: "https://b", Headers: map[string]string{"X": "y"}, Faults: []string{"apiKey is not read: set Auth, or send a token in headers"}},
		},
	}, {
		"Goose, as JSON", "block.github.io/goose/docs/getting-started/using-extensions",
		`{"mcpServers": {
			"a": {"type": "stdio", "cmd": "c", "args": ["x"], "envs": {"K": "v"}, "env_keys": ["TOKEN"], "timeout": 300, "enabled": true, "bundled": false, "available_tools": ["one"]},
			"b": {"type": "streamable_http", "uri": "https://b", "headers": {}, "available_tools": ["one"], "description": "x"},
			"c": {"type": "builtin", "name": "developer"}
		}}`,
		[]Entry{
			{Key: "a", Command: "c", Args: []string{"x"}, Env: []string{"K=v", "TOKEN=t0ken"}, CallTimeout: 5 * time.Minute, Tools: []string{"one"}},
			{Key: "b", URL: "https://b", Tools: []string{"one"}},
			{Key: "c", Faults: []string{`type "builtin" is not supported, only stdio and http are`}},
		},
	}, {
		"Cherry Studio", "docs.cherry-ai.com/docs/en-us/advanced-basic/mcp",
		`{"mcpServers": {
			"a": {"isActive": true, "name": "x", "type": "streamableHttp", "baseUrl": "https://a", "headers": {}, "timeout": 60, "longRunning": true, "disabledTools": ["rm"], "disabledAutoApproveTools": ["ask"]},
			"b": {"isActive": false, "command": "c", "registryUrl": ""}
		}}`,
		[]Entry{{Key: "a", URL: "https://a", CallTimeout: time.Minute, ExcludeTools: []string{"rm", "ask"}}},
	}, {
		"Kimi Code", "kimi.com/code/docs",
		`{"mcpServers": {"a": {"transport": "http", "url": "https://a", "bearerTokenEnvVar": "TOKEN", "startupTimeoutMs": 30000, "toolTimeoutMs": 60000, "enabledTools": ["one"], "disabledTools": ["two"]}}}`,
		[]Entry{{Key: "a", URL: "https://a", Bearer: "t0ken", StartTimeout: 30 * time.Second, CallTimeout: time.Minute, Tools: []string{"one"}, ExcludeTools: []string{"two"}}},
	}, {
		"mcp-proxy, MCPHub", "github.com/TBXark/mcp-proxy, github.com/samanhappy/mcphub",
		`{"mcpServers": {
			"a": {"command": "c", "options": {"disabled": true}},
			"b": {"command": "c", "options": {"toolFilter": {"mode": "block", "list": ["rm"]}}},
			"c": {"command": "c", "tools": {"one": {"enabled": false, "description": "x"}, "two": {"enabled": true}, "three": false}, "enabled": true},
			"d": {"command": "c", "tools": {"one": {"approval_mode": "prompt"}}}
		}}`,
		[]Entry{
			{Key: "b", Command: "c", Faults: []string{"toolFilter may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools"}},
			{Key: "c", Command: "c", ExcludeTools: []string{"one", "three"}},
			{Key: "d", Command: "c", Faults: []string{`tools: what it says of "one" is not understood`}},
		},
	}, {
		"none, with members that sound like those of one", "",
		`{"mcpServers": {
			"a": {"command": "c", "supports_parallel_tool_calls": true},
			"b": {"command": "c", "disabledFunctions": ["rm"]},
			"c": {"command": "c", "omit": ["rm"]},
			"d": {"command": "c", "confirm": true},
			"e": {"command": "c", "dotenv": ".env"}
		}}`,
		[]Entry{
			{Key: "a", Command: "c"},
			{Key: "b", Command: "c", Faults: []string{"disabledFunctions may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools"}},
			{Key: "c", Command: "c", Faults: []string{"omit may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools"}},
			{Key: "d", Command: "c", Faults: []string{"confirm may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools"}},
			{Key: "e", Command: "c", Faults: []string{"dotenv is not read: put what is in it into env, or use variables"}},
		},
	}, {
		"Amp, Warp", "ampcode.com/manual, docs.warp.dev",
		`{"amp.mcpServers": {"a": {"command": "c", "working_directory": "/x", "start_on_launch": true, "includeTools": ["nav_*"]}}}`,
		[]Entry{{Key: "a", Command: "c", Dir: "/x", Tools: []string{"nav_*"}}},
	},
}

func TestHosts(t *testing.T) {
	for _, host := range hostFiles {
		t.Run(host.host, func(t *testing.T) {
			entries, err := Read([]byte(host.file), lookup)
			require.NoError(t, err)
			for i := range entries {
				assert.Equal(t, names.Server(entries[i].Key), entries[i].Name)
				entries[i].Name = ""
			}
			assert.Equal(t, host.want, entries, host.documented)
		})
	}
}
