package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

var baseVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR",
	"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	"USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "SYSTEMDRIVE", "TEMP", "TMP",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS",
	"XDG_DATA_DIRS", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "NPM_CONFIG_CACHE", "npm_config_cache", "UV_CACHE_DIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "DISPLAY", "WAYLAND_DISPLAY",
	"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "DOCKER_HOST",
}

// setHost gives the host these of the variables that programs need, and no
// others.
func setHost(t testing.TB, variables map[string]string) {
	for _, name := range baseVariables {
		t.Setenv(name, "") // which restores it after the test
		require.NoError(t, os.Unsetenv(name))
	}
	for _, name := range baseVariables {
		if value, ok := variables[name]; ok {
			t.Setenv(name, value)
		}
	}
}

func lookupIn(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
}

// errorLines returns the lines of a joined error.
func errorLines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestConfigFilesOfApplications(t *testing.T) {
	dir := t.TempDir()
	setHost(t, map[string]string{"PATH": "/usr/bin", "HOME": "/home/me"})
	t.Setenv("OPENAI_API_KEY", "stays-at-home")
	base := func(more ...string) []string { return append([]string{"PATH=/usr/bin", "HOME=/home/me"}, more...) }

	for file, want := range map[string]struct {
		lookup  map[string]string
		servers []mcp.Server
		errs    []string
	}{
		"claude-desktop.json": {
			servers: []mcp.Server{
				{Name: "filesystem", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/data/My Files", "", "$HOME", "'q'"}, Env: base()},
				{Name: "brave-search", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-brave-search"}, Env: []string{"PATH=/usr/bin", "BRAVE_API_KEY=brave-key", "HOME=/home/other", "EMPTY="}},
				{Name: "My-Notes--prod--65c5e91a90", Command: `C:\Program Files\nodejs\npx.cmd`, Args: []string{"-y", "demo-notes"}, Env: base()},
			},
		},
		"claude-code.mcp.json": {
			lookup: map[string]string{"GITHUB_TOKEN": "gh-${SENTRY_TOKEN}", "SENTRY_TOKEN": "sentry-token", "REGION": "", "LOG": "debug"},
			servers: []mcp.Server{
				{Name: "github", URL: "https://api.example.test/mcp/", Headers: map[string]string{"Authorization": "Bearer gh-${SENTRY_TOKEN}", "X-Region": ""}},
				{Name: "sentry", Command: "/usr/local/bin/sentry-mcp", Args: []string{"--token", "sentry-token", "--log=debug"}, Env: base("CACHE_DIR=/tmp/sentry")},
			},
			errs: []string{
				`mcp server "events": invalid server: type "sse" is not supported, only stdio and http are`,
				`mcp server "db": invalid server: args[1]: variable "DB_DSN" is not set; env "DB_PASSWORD": variable "DB_PASSWORD" is not set`,
			},
		},
		"cursor.json": {
			lookup: map[string]string{"LINEAR_KEY": "linear-key", "PROJECT_KEY": "project-key", "workspaceFolder": "/src/project"},
			servers: []mcp.Server{
				{Name: "linear", URL: "https://mcp.example.test/mcp", Headers: map[string]string{"Authorization": "Bearer linear-key"}},
			},
			errs: []string{`mcp server "project": invalid server: envFile is not read: put what is in it into env, or use variables`},
		},
		"vscode.mcp.json": {
			lookup: map[string]string{"input:perplexity-key": "typed"},
			servers: []mcp.Server{
				{Name: "perplexity", Command: "npx", Args: []string{"-y", "demo-perplexity", "--glob=/**/*.go,}"}, Env: base("PERPLEXITY_API_KEY=typed", "PORT=8080", "DEBUG=true")},
				{Name: "fetch", URL: "https://fetch.example.test/mcp?q=//x"},
			},
		},
		"vscode-settings.json": {
			servers: []mcp.Server{{Name: "time", Command: "uvx", Args: []string{"mcp-server-time"}, Env: base()}},
		},
		"windsurf.json": {
			lookup: map[string]string{"FIGMA_TOKEN": "figma-token"},
			servers: []mcp.Server{
				{Name: "figma", URL: "https://figma.example.test/mcp", Headers: map[string]string{"X-Figma-Token": "figma-token"}, ExcludeTools: []string{"delete"}},
				{Name: "both", URL: "https://both.example.test/mcp"},
			},
		},
		"gemini.json": {
			lookup: map[string]string{"API_TOKEN": "api-token", "PROJECT_DIR": dir, "DATABASE_URL": "postgres://db"},
			servers: []mcp.Server{
				{
					Name: "my-api-703a7ba671", URL: "https://api.example.test/mcp", Headers: map[string]string{"Authorization": "Bearer api-token", "X-Version": "2"},
					Tools: []string{"search"}, CallTimeout: 5 * time.Second,
				},
				{Name: "local", Command: "node", Args: []string{"server.js", "--port", "3000", "true"}, Dir: dir, Env: base("PRICE=$5", "DB=postgres://db")},
			},
		},
		"cline.json": {
			servers: []mcp.Server{
				{Name: "browser", Command: "npx", Args: []string{"-y", "demo-browser"}, Env: base(), Tools: []string{"screenshot"}, CallTimeout: time.Minute},
				{Name: "stream", URL: "https://stream.example.test/mcp"},
				{Name: "remote", URL: "https://remote.example.test/mcp"},
			},
			errs: []string{`mcp server "live": invalid server: type "ws" is not supported, only stdio and http are`},
		},
	} {
		t.Run(file, func(t *testing.T) {
			config, err := os.ReadFile(filepath.Join("testdata", "config", file))
			require.NoError(t, err)
			servers, err := mcp.ParseServers(config, lookupIn(want.lookup))
			assert.Equal(t, want.servers, servers)
			assert.Equal(t, want.errs, errorLines(err))
			assert.Equal(t, err != nil, errors.Is(err, mcp.ErrInvalidServer))
		})
	}
}

func TestConfigEntries(t *testing.T) {
	setHost(t, map[string]string{"PATH": "/usr/bin"})
	lookup := lookupIn(map[string]string{"SET": "hush-hush", "EMPTY": "", "NUL": "hush\x00", "LINE": "hush\n", "FTP": "ftp://hush"})
	command := func(name string, args ...string) mcp.Server {
		return mcp.Server{Name: name, Command: "c", Args: args, Env: []string{"PATH=/usr/bin"}}
	}
	env := func(variables ...string) []mcp.Server {
		return []mcp.Server{{Name: "a", Command: "c", Env: append([]string{"PATH=/usr/bin"}, variables...)}}
	}
	invalid := func(faults string) []string { return []string{`mcp server "a": invalid server: ` + faults} }

	for in, want := range map[string]struct {
		servers []mcp.Server
		errs    []string
	}{
		// Variables.
		`"a": {"command": "c", "args": ["${SET}", "x${SET}y${EMPTY}z", "${EMPTY:-d}", "${NO:-d}", "${NO:-}", "${NO:-a:-b}", "${env:SET}", "${env:NO:-d}"]}`: {
			servers: []mcp.Server{command("a", "hush-hush", "xhush-hushyz", "", "d", "", "a:-b", "hush-hush", "d")},
		},
		`"a": {"command": "c", "args": ["$SET", "$", "$$", "$${SET}", "${SET", "{SET}", "}", "$ {SET}", "%SET%"]}`: {
			servers: []mcp.Server{command("a", "$SET", "$", "$$", "$hush-hush", "${SET", "{SET}", "}", "$ {SET}", "%SET%")},
		},
		`"a": {"command": "${A}", "args": ["", "${B}-${input:C}-${SET}"], "cwd": "${D}", "env": {"E": "${env:E}"}}`: {
			errs: invalid(`command: variable "A" is not set; cwd: variable "D" is not set; args[1]: variable "B" is not set; ` +
				`args[1]: variable "input:C" is not set; env "E": variable "E" is not set`),
		},
		`"a": {"url": "https://${HOST}/", "headers": {"X": "${SET}${Y}"}}`: {
			errs: invalid(`url: variable "HOST" is not set; headers "X": variable "Y" is not set`),
		},
		`"a": {"command": "c", "args": ["${}", "${ SET }", "${NO:d}"]}`: {
			errs: invalid(`args[0]: variable "" is not set; args[1]: variable " SET " is not set; args[2]: variable "NO:d" is not set`),
		},
		`"a": {"command": "${SET:-${EMPTY}}"}`: {errs: invalid(`command: a variable inside of another is not supported`)},

		// Which server it is.
		`"a": {"command": "c", "type": "STDIO", "transport": "stdio"}`:                               {servers: env()},
		`"a": {"url": "http://a", "type": "Streamable_HTTP", "transport": "http"}`:                   {servers: []mcp.Server{{Name: "a", URL: "http://a"}}},
		`"a": {"command": "c", "url": "", "httpUrl": null, "type": "", "headers": {}, "args": null}`: {servers: env()},
		`"a": {"url": "http://a", "command": "", "args": [], "env": {}, "cwd": ""}`:                  {servers: []mcp.Server{{Name: "a", URL: "http://a"}}},
		`"a": {"serverUrl": "http://a", "httpUrl": "http://a/"}`:                                     {errs: invalid(`serverUrl is not the same as the URL before it`)},
		`"a": {"command": "c", "url": "http://a"}`:                                                   {errs: invalid(`Command and URL must not both be set`)},
		`"a": {"type": "http"}`:                                       {errs: invalid(`type "http" needs a url`)},
		`"a": {"transport": "stdio", "url": "http://a"}`:              {errs: invalid(`transport "stdio" needs a command`)},
		`"a": {"transport": "WebSocket", "url": "http://a"}`:          {errs: invalid(`transport "WebSocket" is not supported, only stdio and http are`)},
		`"a": {"type": "sse", "url": "${NO}"}`:                        {errs: invalid(`type "sse" is not supported, only stdio and http are; url: variable "NO" is not set`)},
		`"a": {"type": "stdio", "transport": "http", "command": "c"}`: {errs: invalid(`transport "http" needs a url`)},
		`"a": {}`: {errs: invalid(`Command or URL must be set`)},

		// Disabled or not.
		`"a": {"disabled": true, "command": 7}, "b": "none", "a": {"command": "c"}`: {
			servers: env(), errs: []string{`mcp server "b": invalid server: it must be an object`},
		},
		`"a": {"command": "c", "disabled": null, "enabled": true}`:   {servers: env()},
		`"a": {"command": "c", "disabled": true, "enabled": true}`:   {},
		`"a": {"command": "c", "disabled": false, "enabled": false}`: {},
		`"a": {"command": "c", "disabled": "yes", "enabled": 1}`:     {errs: invalid(`disabled must be true or false; enabled must be true or false`)},

		// Types.
		`"a": null`: {errs: invalid(`it must be an object`)},
		`"a": {"command": 7, "args": "-y", "cwd": 1, "env": ["A=hush"], "url": false, "headers": "hush", "type": 3}`: {
			errs: invalid(`type must be a string; command must be a string; cwd must be a string; url must be a string; ` +
				`args must be an array; env must be an object; headers must be an object`),
		},
		`"a": {"command": "c", "args": [1.50, -2e3, true, false]}`:                           {servers: []mcp.Server{command("a", "1.50", "-2e3", "true", "false")}},
		`"a": {"command": "c", "args": [null, [], {}]}`:                                      {errs: invalid(`args[0] must be a string; args[1] must be a string; args[2] must be a string`)},
		`"a": {"command": "c", "env": {"N": 1.0, "B": false, "Z": null, "E": ""}}`:           {servers: env("N=1.0", "B=false", "E=")},
		`"a": {"command": "c", "env": {"A": ["hush"], "B": {}}}`:                             {errs: invalid(`env "A" must be a string; env "B" must be a string`)},
		`"a": {"command": "c", "env": {"A": "1", "B": "2", "A": "3"}}`:                       {servers: env("B=2", "A=3")},
		`"a": {"command": "c", "env": {"": "hush", "A=hush": "hush", "N": "hush\u0000"}}`:    {errs: invalid(`env "" must have a name, without =, and no NUL; env "A" must have a name, without =, and no NUL; env "N" must have a name, without =, and no NUL`)},
		`"a": {"command": "c", "env": {"PATH": "", "MY_VAR": "1"}}`:                          {servers: []mcp.Server{{Name: "a", Command: "c", Env: []string{"PATH=", "MY_VAR=1"}}}},
		`"a": {"command": "no", "command": "c", "Command": "no", "COMMAND": 1}`:              {servers: env()},
		`"\u0061": {"comm\u0061nd": "\u0063", "args": ["caf\u00e9 \"\\ \ud83d\ude00", "é"]}`: {servers: []mcp.Server{command("a", `café "\ 😀`, "é")}},
		"\"a\": {\"command\": \"caf\xe9\", \"env\": {\"A\": \"\xe9\"}}":                      {errs: invalid(`command must be UTF-8; env "A" must be UTF-8`)},

		// What Connect would refuse.
		`"a": {"command": "c", "args": ["${NUL}"]}`:                        {errs: invalid(`Args[0] must not contain NUL`)},
		`"a": {"url": "${FTP}"}`:                                           {errs: invalid(`URL must begin with http:// or https://`)},
		`"a": {"url": "http://a", "headers": {"X": "${LINE}", "b c": ""}}`: {errs: invalid(`Headers: the value of "X" has a character that a header cannot have; Headers: "b c" is not a header name`)},
		`"a": {"url": "http://a", "env": {"A": "hush"}, "cwd": "/"}`: {
			servers: []mcp.Server{{Name: "a", URL: "http://a"}}, errs: []string{`mcp server "a": left out env, which a server with a url does not get`},
		},
		`"a": {"command": "c", "cwd": "testdata/none"}`: { // no file is looked at: Connect tells
			servers: []mcp.Server{{Name: "a", Command: "c", Env: []string{"PATH=/usr/bin"}, Dir: "testdata/none"}},
		},
		`"a b": {"command": "c", "headers": {"X": "hush"}}`: {errs: []string{`mcp server "a b": invalid server: Headers are for a URL, not for a Command`}},

		// Names.
		`"Linear": {"command": "c"}, "[Team] Data Hub (prod)": {"command": "c"}, "search-docs": {"command": "c"}, "linear": {"command": "c"}, "a/é.b": {"command": "c"}`: {
			servers: []mcp.Server{command("Linear"), command("-Team--Data-Hub--prod-789e08d162"), command("search-docs"), command("linear"), command("a---b-2a252a7d8f")},
		},
		`"高德地图": {"command": "c"}, "百度搜索": {"command": "c"}, "----": {"command": "c"}`: {
			servers: []mcp.Server{command("-----1ecb3ba10a"), command("-----70eda61b0a"), command("----")},
		},
		`"my_server": {"command": "c"}, "my-server": {"command": "c"}, "my server": {"command": "c"}, "my.server": {}`: {
			servers: []mcp.Server{command("my-server-ddc1744aa2"), command("my-server"), command("my-server-b129874b63")},
			errs:    []string{`mcp server "my.server": invalid server: Command or URL must be set`},
		},
		`"a": {"command": "c"}, "a": {"command": "d", "cwd": 1}`: {
			servers: env(), errs: invalid(`cwd must be a string; the name is there twice`),
		},
		`"": {"command": "c"}`: {errs: []string{`mcp server "": invalid server: Name must be 1 to 32 letters, digits and hyphens`}},
		`"12345678901234567890123456789012": {"command": "c"}, "123456789012345678901234567890123": {"command": "c"}, "123456789012345678901234567890éé": {"command": "c"}, "1234567890123456789012345678901234": {"command": "c"}`: {
			servers: []mcp.Server{
				command("12345678901234567890123456789012"), command("123456789012345678901-39bf8cc93f"),
				command("123456789012345678901-399b950167"), command("123456789012345678901-6f427b79c3"),
			},
		},
	} {
		servers, err := mcp.ParseServers([]byte(`{"mcpServers": {`+in+`}}`), lookup)
		assert.Equal(t, want.servers, servers, in)
		assert.Equal(t, want.errs, errorLines(err), in)
		assert.NotContains(t, fmt.Sprint(err), "hush", in)
		assert.Equal(t, strings.Contains(fmt.Sprint(err), "invalid server"), errors.Is(err, mcp.ErrInvalidServer), in)
	}
}

// Entries as they were reported to have cost their server.
func TestConfigReports(t *testing.T) {
	setHost(t, nil)
	env := func(variables ...string) []string { return append([]string{}, variables...) }
	for in, want := range map[string]struct {
		servers []mcp.Server
		errs    []string
	}{
		// Headers that the protocol sets.
		`"a": {"type": "http", "url": "https://a", "headers": {"Content-Type": "application/json; charset=utf-8", "Accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18", "Authorization": "Bearer abc"}}`: {
			servers: []mcp.Server{{Name: "a", URL: "https://a", Headers: map[string]string{"Authorization": "Bearer abc"}}},
		},
		`"a": {"url": "https://a", "headers": {"accept": "*/*", "CONTENT-TYPE": "APPLICATION/JSON"}}`: {
			servers: []mcp.Server{{Name: "a", URL: "https://a"}},
		},
		`"a": {"url": "https://a", "headers": {"Accept": "text/html", "MCP-Protocol-Version": "2.0", "Mcp-Session-Id": "s3cret", "Host": "b", "X": "y"}}`: {
			servers: []mcp.Server{{Name: "a", URL: "https://a", Headers: map[string]string{"X": "y"}}},
			errs: []string{
				`mcp server "a": left out the header "Accept", which the protocol sets`,
				`mcp server "a": left out the header "Host", which the protocol sets`,
				`mcp server "a": left out the header "MCP-Protocol-Version", which the protocol sets`,
				`mcp server "a": left out the header "Mcp-Session-Id", which the protocol sets`,
			},
		},

		// What other applications pass over.
		`"a": {"type": "http", "url": "https://a", "env": {"API_KEY": "1"}}`: {
			servers: []mcp.Server{{Name: "a", URL: "https://a"}},
			errs:    []string{`mcp server "a": left out env, which a server with a url does not get`},
		},
		`"b": {"command": "c", "headers": {"Accept": "application/json"}}, "c": {"type": "local", "command": "c", "tools": ["*"]}, "d": {"url": "https://d/sse", "httpUrl": "https://d/mcp"}, "e": {"baseUrl": "https://e"}`: {
			servers: []mcp.Server{{Name: "b", Command: "c", Env: env()}, {Name: "c", Command: "c", Env: env()}, {Name: "d", URL: "https://d/mcp"}, {Name: "e", URL: "https://e"}},
		},

		// Variables without braces.
		`"a": {"httpUrl": "https://a", "headers": {"Authorization": "Bearer $DEMO_TOKEN"}}, "b": {"command": "c", "env": {"DEMO_TOKEN": "$DEMO_TOKEN"}, "args": ["$DEMO_TOKEN"]}`: {
			servers: []mcp.Server{
				{Name: "a", URL: "https://a", Headers: map[string]string{"Authorization": "Bearer s3cret"}},
				{Name: "b", Command: "c", Env: env("DEMO_TOKEN=s3cret"), Args: []string{"s3cret"}},
			},
		},
		`"b": {"command": "c", "env": {"DEMO_TOKEN": "$DEMO_TOKEN"}, "args": ["$DEMO_TOKEN"]}`: {
			servers: []mcp.Server{{Name: "b", Command: "c", Env: env("DEMO_TOKEN=s3cret"), Args: []string{"$DEMO_TOKEN"}}},
		},

		// One bad entry.
		`"a": {"url": "http://a"}, "b": {"type": "http", "serverUrl": "http://b"}, "c": {"command": "", "type": "http", "url": "http://c"}, "d": {"type": "http", "url": 7}, "e": {"type": "streamable-http", "url": "http://e", "alwaysAllow": []}`: {
			servers: []mcp.Server{{Name: "a", URL: "http://a"}, {Name: "b", URL: "http://b"}, {Name: "c", URL: "http://c"}, {Name: "e", URL: "http://e"}},
			errs:    []string{`mcp server "d": invalid server: url must be a string`},
		},
		`"a": {"url": "http://a", "bearer_token_env_var": "DEMO_TOKEN"}, "b": {"command": "c", "bearer_token_env_var": "DEMO_TOKEN"}`: {
			servers: []mcp.Server{{Name: "a", URL: "http://a", BearerToken: "s3cret"}},
			errs:    []string{`mcp server "b": invalid server: BearerToken is for a URL, not for a Command`},
		},
	} {
		servers, err := mcp.ParseServers([]byte(`{"mcpServers": {`+in+`}}`), lookupIn(map[string]string{"DEMO_TOKEN": "s3cret"}))
		assert.Equal(t, want.servers, servers, in)
		assert.Equal(t, want.errs, errorLines(err), in)
		assert.NotContains(t, fmt.Sprint(err), "s3cret", in)
	}
}

func TestConfigFiles(t *testing.T) {
	setHost(t, nil)
	a := []mcp.Server{{Name: "a", Command: "c", Env: []string{}}}
	const entry = `"a": {"command": "c"}`
	for in, want := range map[string]struct {
		servers []mcp.Server
		err     string
	}{
		// What is read.
		"\uFEFF{\"servers\": {" + entry + "}}\n":                                 {servers: a},
		`{"mcpServers": {` + entry + `}, "servers": {}}`:                         {servers: a},
		`{"servers": {"b": {"url": "http://b"}}, "mcpServers": {` + entry + `}}`: {servers: []mcp.Server{{Name: "b", URL: "http://b"}, a[0]}},
		`{"servers": {` + entry + `}, "servers": {"b": {"url": "http://b"}}}`:    {servers: []mcp.Server{a[0], {Name: "b", URL: "http://b"}}},
		`{"mcpServers": {}}`:                                                            {},
		`{"mcpServers": null, "mcp": 1}`:                                                {},
		`{"mcp": {"mcpServers": {` + entry + `}}}`:                                      {servers: a},
		`{"mcpServers": [], "servers": {` + entry + `}}`:                                {servers: a, err: `mcp config: "mcpServers" must be an object`},
		`{"mcpServers": {` + entry + `}, "servers": {` + entry + `}}`:                   {servers: a, err: `mcp server "a": invalid server: the name is there twice`},
		"/**/{ // x, }\r\n/* , */\"servers\"/*:*/:{" + entry + "/*,*/,/*}*/\n,//\n}":    {err: `mcp config is not a JSON object: line 4, column 1: the text is not JSON`},
		"/**/{ // x, }\r\n/* , */\"servers\"/*:*/:{" + entry + "/*,*/,/*}*/\n//\n},}//": {servers: a},
		`{"servers": {"a": {"command": "c", "x": ["//", "/*", "\"//,]", "\\",],}}}`:     {servers: a},

		// What is not such a file.
		``:       {err: `mcp config is not a JSON object: line 1, column 1: the JSON text ends too early`},
		"\n// x": {err: `mcp config is not a JSON object: line 2, column 5: the JSON text ends too early`},
		` [1]`:   {err: `mcp config is not a JSON object: line 1, column 2: the text is not JSON`},
		"PATH=1": {err: `mcp config is not a JSON object: line 1, column 1: the text is not JSON`},
		`{}`:     {err: `mcp config has neither "mcpServers" nor "servers"`},
		`{"mcpservers": {}, "mcp": {"mcp": {"servers": {}}}}`: {err: `mcp config has neither "mcpServers" nor "servers"`},
		"{\n\t\"servers\": {\n\t\t/* é */ \"é\" {}\n\t}\n}":   {err: `mcp config is not a JSON object: line 3, column 15: the text is not JSON`},
		"{\"servers\": {" + entry + "}\n\n":                   {err: `mcp config is not a JSON object: line 3, column 1: the JSON text ends too early`},
		"{\"servers\": {" + entry + "}}\n}":                   {err: `mcp config is not a JSON object: line 1, column 37: the text is not JSON`},
		"{\"servers\": {" + entry + "}} /* no end":            {err: `mcp config is not a JSON object: line 1, column 37: the text is not JSON`},
		`{"servers": {` + entry + `,,}}`:                      {err: `mcp config is not a JSON object: line 1, column 37: the text is not JSON`},
		`{"servers": {'a': {}}}`:                              {err: `mcp config is not a JSON object: line 1, column 14: the text is not JSON`},
		`{"servers": {"a": "x`:                                {err: `mcp config is not a JSON object: line 1, column 21: the JSON text ends too early`},
		"\xff\xfe{\x00}\x00":                                  {err: `mcp config is not a JSON object: line 1, column 1: the text is not JSON`},
		`{"servers": ` + strings.Repeat("[", 2000):            {err: `mcp config is not a JSON object: line 1, column 2013: the JSON text ends too early`},
	} {
		servers, err := mcp.ParseServers([]byte(in), nil)
		assert.Equal(t, want.servers, servers, "%.200q", in)
		assert.Equal(t, want.err, strings.Join(errorLines(err), "\n"), "%.200q", in)
	}
}

// The PATH of the host finds the program although its entry has an env.
func TestConnectFromConfig(t *testing.T) {
	self, env := mcptest.Command(t, "plain")
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "demo-mcp.exe")); err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", bin)
	variables := map[string]string{}
	for _, entry := range env {
		key, value, _ := strings.Cut(entry, "=")
		variables[key] = value
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"demo": map[string]any{"command": "demo-mcp.exe", "env": variables}}})
	require.NoError(t, err)
	servers, err := mcp.ParseServers(config, nil)
	require.NoError(t, err)
	require.Len(t, servers, 1)
	connection, err := mcp.Connect(t.Context(), servers[0])
	require.NoError(t, err)
	require.NoError(t, connection.Close())
}

func TestConfigWithoutLookup(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "stays-at-home")
	servers, err := mcp.ParseServers([]byte(`{"servers": {"a": {"url": "http://a/?k=${OPENAI_API_KEY}"}}}`), nil)
	assert.Empty(t, servers)
	assert.EqualError(t, err, `mcp server "a": invalid server: url: variable "OPENAI_API_KEY" is not set`)
}

func TestBaseEnv(t *testing.T) {
	all, want := map[string]string{}, []string(nil)
	for _, name := range baseVariables {
		all[name] = "value of " + name
		if lower := strings.ToLower(name); runtime.GOOS != "windows" || name == lower || !slices.Contains(baseVariables, lower) {
			want = append(want, name+"=value of "+name)
		}
	}
	setHost(t, all)
	t.Setenv("OPENAI_API_KEY", "stays-at-home")
	t.Setenv("XDG_SESSION_COOKIE", "stays-at-home")
	t.Setenv("NPM_TOKEN", "stays-at-home")
	assert.Equal(t, want, mcp.BaseEnv())

	setHost(t, map[string]string{"PATH": "/usr/bin", "TERM": "", "SHELL": "() { :;}; echo"})
	assert.Equal(t, []string{"PATH=/usr/bin", "TERM="}, mcp.BaseEnv())

	setHost(t, nil)
	assert.Empty(t, mcp.BaseEnv())

	if runtime.GOOS == "windows" {
		return // there a variable has one name
	}
	// A proxy may have a password in it, with and without a scheme.
	setHost(t, map[string]string{
		"HTTP_PROXY": "http://u:p@proxy.example.test:3128", "http_proxy": "http://proxy.example.test:3128",
		"HTTPS_PROXY": "u:p@proxy.example.test:3128", "NO_PROXY": "localhost,.example.test", "DOCKER_HOST": "ssh://me:pw@host",
	})
	assert.Equal(t, []string{"http_proxy=http://proxy.example.test:3128", "NO_PROXY=localhost,.example.test"}, mcp.BaseEnv())
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9-]{1,32}$`)

func FuzzParseServers(f *testing.F) {
	files, err := filepath.Glob("testdata/config/*.json")
	require.NoError(f, err)
	for _, file := range files {
		config, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(config)
	}
	f.Add([]byte(`{"servers": {"a": {"command": "${A:-${B}}", "args": "x", "env": {"A=": 1}, "type": "sse"}, "é": [], /**/},}`))
	const secret = "hush-hush"
	f.Fuzz(func(t *testing.T, config []byte) {
		if strings.Contains(string(config), secret) {
			t.Skip("an error may show it as a name")
		}
		servers, err := mcp.ParseServers(config, func(name string) (string, bool) { return secret, len(name)%2 == 0 })
		var names []string
		for _, server := range servers {
			require.True(t, serverName.MatchString(server.Name), server.Name)
			require.NotContains(t, names, server.Name)
			require.NotEqual(t, server.Command == "", server.URL == "")
			names = append(names, server.Name)
		}
		for _, line := range errorLines(err) {
			require.NotContains(t, line, secret)
		}
		if json.Valid(config) && err != nil && config[slices.IndexFunc(config, func(c byte) bool { return c > ' ' })] == '{' {
			require.NotContains(t, err.Error(), "is not JSON")
		}
	})
}

// A file as people copy it between applications.
func ExampleParseServers() {
	config := []byte(`{
	  "mcpServers": {
	    "files": {"command": "mcp-server-filesystem", "args": ["/data"]},
	    "tracker": {"url": "https://tracker.example.com/mcp", "headers": {"Authorization": "Bearer ${TRACKER_TOKEN}"}},
	    "old": {"type": "sse", "url": "https://old.example.com/sse"}, // not any more
	  },
	}`)
	servers, err := mcp.ParseServers(config, func(name string) (string, bool) {
		return "secret", name == "TRACKER_TOKEN"
	})
	if err != nil {
		fmt.Println(err)
	}
	for _, server := range servers {
		fmt.Println(server.Name)
	}
	// Output:
	// mcp server "old": invalid server: type "sse" is not supported, only stdio and http are
	// files
	// tracker
}
