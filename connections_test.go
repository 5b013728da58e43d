package mcp_test

// This file connects to several servers at once, and follows their changes.

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func init() {
	servers["announces"] = func(p *mcptest.Peer) { // each call adds a tool and says so
		n := 1
		p.On["tools/list"] = func(r mcptest.Request) {
			var tools []string
			for i := range n {
				tools = append(tools, fmt.Sprintf(`{"name":"t%d"}`, i))
			}
			p.Reply(r, `{"tools":[`+strings.Join(tools, ",")+`]}`)
		}
		p.Call = func(r mcptest.Request) {
			n++
			for range 10_000 {
				p.Print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
			}
			p.Reply(r, ok)
		}
		p.Serve()
	}
	// The first listing after the start waits for a call; those after it do not.
	servers["slow list"] = func(p *mcptest.Peer) {
		lists := 0
		var held mcptest.Request
		p.On["tools/list"] = func(r mcptest.Request) {
			if lists++; lists == 2 {
				held = r
				return
			}
			p.Reply(r, fmt.Sprintf(`{"tools":[{"name":"list%d"}]}`, lists))
		}
		p.Call = func(r mcptest.Request) {
			switch {
			case strings.Contains(string(r.Params.Arguments), "announce"):
				p.Print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
			case strings.Contains(string(r.Params.Arguments), "release"):
				p.Reply(held, `{"tools":[{"name":"old"}]}`)
			}
			p.Reply(r, mcptest.Text(fmt.Sprint(lists)))
		}
		p.Serve()
	}
	servers["exits"] = func(*mcptest.Peer) { fmt.Fprintln(os.Stderr, "no license"); os.Exit(4) }
	servers["instructs"] = func(p *mcptest.Peer) {
		p.Initialize = strings.Replace(p.Initialize, "{", `{"instructions":"Be\u200b kind.`+strings.Repeat("x", 5000)+`",`, 1)
		p.Serve()
	}
}

func TestConnectAll(t *testing.T) {
	mcptest.NoLeaks(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>Sign in</html>")
	}))
	defer page.Close()
	named := func(name string, server mcp.Server) mcp.Server {
		server.Name = name
		return server
	}
	hangs := stdioServer(t, "silent")
	hangs.StartTimeout = 300 * time.Millisecond
	start := time.Now()
	all := mcp.ConnectAll(t.Context(),
		named("good1", stdioServer(t, "plain")),
		named("missing", mcp.Server{Command: "no-such-program"}),
		named("hangs", hangs),
		named("page", mcp.Server{URL: page.URL}),
		named("good2", stdioServer(t, "noisy")),
		named("good1", stdioServer(t, "plain")),
		named("exits", stdioServer(t, "exits")),
		named("bad_name", stdioServer(t, "plain")),
	)
	assert.Less(t, time.Since(start), 600*time.Millisecond+slack, "as long as the slowest may take, where the others may take a minute")
	defer all.Close()

	require.Len(t, all.All(), 2)
	assert.Equal(t, []string{"mcp__good1__echo", "mcp__good2__echo"}, names(all.Tools()))
	assert.Equal(t, []string{`good2: skipped 4 lines of output that are not JSON-RPC messages, the first: "Welcome!"`}, all.Warnings())
	assert.NoError(t, all.RefreshTools(t.Context()))

	err := all.Err()
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorIs(t, err, mcp.ErrInvalidServer)
	assert.ErrorIs(t, err, mcp.ErrServerStopped)
	var status *mcp.HTTPError
	assert.ErrorAs(t, err, &status)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 6)
	for i, want := range []string{
		`mcp server "missing": starting: `,
		`mcp server "hangs": initializing: context deadline exceeded`,
		`mcp server "page": initializing: `,
		`mcp server "good1": invalid server: another server has this Name`,
		`mcp server "exits": initializing: server stopped: exit status 4; stderr: no license`,
		`mcp server "bad_name": invalid server: Name must be 1 to 32 letters, digits and hyphens`,
	} {
		assert.True(t, strings.HasPrefix(lines[i], want), "%s\n%s", want, lines[i])
	}

	require.NoError(t, all.Close())
	assert.Len(t, all.Tools(), 2)
	assert.ErrorContains(t, all.RefreshTools(t.Context()), "the connection is closed")
	require.NoError(t, all.Close())
	assert.NoError(t, mcp.ConnectAll(t.Context()).Err())
}

// No healthy server waits for one that hangs.
func TestConnectAllWithManyThatHang(t *testing.T) {
	mcptest.NoLeaks(t)
	var all []mcp.Server
	for i := range 12 {
		server := stdioServer(t, "silent")
		server.Name, server.StopTimeout = fmt.Sprintf("hangs%d", i), time.Millisecond
		all = append(all, server)
	}
	healthy := stdioServer(t, "plain")
	healthy.Name = "healthy"
	all = append(all, healthy)
	// The test waits for the healthy one, then gives the others up. A start
	// that waited for them would never be seen.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	running := make(chan *mcp.Connections, 1)
	listed := make(chan struct{})
	all[12] = withStderr(healthy, func() { close(listed) })
	go func() { running <- mcp.ConnectAll(ctx, all...) }()
	<-listed
	cancel()
	connections := <-running
	defer connections.Close()
	status := connections.Status()
	require.Len(t, status, 13)
	for i, s := range status[:12] {
		assert.Equal(t, all[i].Name, s.Name)
		assert.Nil(t, s.Connection)
		assert.ErrorIs(t, s.Err, context.Canceled)
	}
}

// withStderr calls f once the server has written to its standard error.
func withStderr(server mcp.Server, f func()) mcp.Server {
	server.Env = append(server.Env, mcptest.ServerVariable+"=tells")
	server.Stderr = whenWritten(sync.OnceFunc(f))
	return server
}

type whenWritten func()

func (w whenWritten) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

func init() {
	servers["tells"] = func(p *mcptest.Peer) {
		list := p.On["tools/list"]
		p.On["tools/list"] = func(r mcptest.Request) {
			fmt.Fprintln(os.Stderr, "listed")
			if list != nil {
				list(r)
				return
			}
			p.Reply(r, `{"tools":`+p.Tools+`}`)
		}
		p.Serve()
	}
	servers["introduces"] = func(p *mcptest.Peer) {
		p.Initialize = os.Args[1]
		p.Serve()
	}
}

func TestStatus(t *testing.T) {
	mcptest.NoLeaks(t)
	named := func(name string, server mcp.Server) mcp.Server {
		server.Name = name
		return server
	}
	dies := named("dies", stdioServer(t, "mortal"))
	dies.Args = []string{t.TempDir()}
	all := mcp.ConnectAll(t.Context(), named("exits", stdioServer(t, "exits")), dies, named("dies", stdioServer(t, "plain")), named("good", stdioServer(t, "plain")))
	defer all.Close()
	status := all.Status()
	require.Len(t, status, 4)
	assert.Equal(t, "exits", status[0].Name)
	assert.Nil(t, status[0].Connection)
	assert.EqualError(t, status[0].Err, `mcp server "exits": initializing: server stopped: exit status 4; stderr: no license`)
	assert.Equal(t, "dies", status[1].Name)
	assert.NoError(t, status[1].Err)
	assert.ErrorIs(t, status[2].Err, mcp.ErrInvalidServer)
	assert.Equal(t, "good", status[3].Name)
	assert.Same(t, all.All()[1], status[3].Connection)

	_, err := status[1].Connection.Tools()[0].Handler(t.Context(), []byte(`{"a":"die"}`))
	require.ErrorIs(t, err, mcp.ErrServerStopped)
	<-status[1].Connection.Done()
	assert.EqualError(t, all.Status()[1].Err, `mcp server "dies": server stopped: exit status 7; stderr: out of memory`)
	assert.Same(t, status[1].Connection, all.Status()[1].Connection)
}

func TestSet(t *testing.T) {
	mcptest.NoLeaks(t)
	server := func(name string) mcp.Server {
		s := stdioServer(t, "plain")
		s.Name = name
		return s
	}
	a, b, d := server("a"), server("b"), server("d")
	d.Stderr, d.Args = new(strings.Builder), []string{"x"}
	all := mcp.ConnectAll(t.Context(), a, b, d)
	defer all.Close()
	require.NoError(t, all.Err())
	before := all.All()

	b2 := server("b")
	b2.Tools = []string{"echo"}
	d2 := d
	d2.Args = []string{"x"} // equal, though another list
	require.NoError(t, all.Set(t.Context(), d2, b2, server("new")))
	after := all.All()
	require.Len(t, after, 3)
	assert.Same(t, before[2], after[0], "an equal one stays")
	assert.NotSame(t, before[1], after[1], "one that has changed does not")
	assert.Equal(t, []string{"mcp__d__echo", "mcp__b__echo", "mcp__new__echo"}, names(all.Tools()))
	for _, gone := range before[:2] {
		<-gone.Done()
		assert.NoError(t, gone.Err())
	}
	<-all.ToolsChanged()

	d2.Args[0] = "y" // what the caller does with its list later is nothing to the connection
	assert.Equal(t, []string{"x"}, after[0].Server().Args)
	err := all.Set(t.Context(), d2, mcp.Server{Name: "gone", Command: "no-such-program"})
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, err.Error(), all.Err().Error())
	assert.NotSame(t, after[0], all.All()[0])
	<-after[0].Done()

	require.NoError(t, all.Set(t.Context()))
	assert.Empty(t, all.All())
	assert.NoError(t, all.Err())
	require.NoError(t, all.Close())
	assert.EqualError(t, all.Set(t.Context(), a), "the connection is closed")
	assert.Empty(t, all.All())
}

// A server that has ended is connected again by Set, though its description is
// the same.
func TestSetConnectsAgain(t *testing.T) {
	mcptest.NoLeaks(t)
	server := stdioServer(t, "mortal")
	server.Args = []string{t.TempDir()}
	all := mcp.ConnectAll(t.Context(), server)
	defer all.Close()
	_, err := all.Tools()[0].Handler(t.Context(), []byte(`{"a":"die"}`))
	require.Error(t, err)
	<-all.All()[0].Done()
	require.NoError(t, all.Set(t.Context(), server))
	assert.NoError(t, all.Status()[0].Err)
	result, err := all.Tools()[0].Handler(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "start 2", result.Content)
}

func TestCloseEndsSet(t *testing.T) {
	mcptest.NoLeaks(t)
	all := mcp.ConnectAll(t.Context())
	hangs := stdioServer(t, "silent")
	started := make(chan struct{})
	hangs.Env = append(hangs.Env, mcptest.ServerVariable+"=says that it hangs")
	hangs.Stderr = whenWritten(sync.OnceFunc(func() { close(started) }))
	set := make(chan error, 1)
	go func() { set <- all.Set(t.Context(), hangs) }()
	<-started
	require.NoError(t, all.Close())
	assert.ErrorIs(t, <-set, context.Canceled)
	assert.Empty(t, all.All())
}

func init() {
	servers["says that it hangs"] = func(p *mcptest.Peer) {
		fmt.Fprintln(os.Stderr, "here")
		for {
			if _, ok := p.Read(); !ok {
				return
			}
		}
	}
}

func TestInfo(t *testing.T) {
	for answer, want := range map[string]mcp.Info{
		`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"files","title":"File\u200bs","version":"1.2.3"}}`: {Name: "files", Title: "Files", Version: "1.2.3", Protocol: "2025-06-18"},
		`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":7,"title":null,"version":1.20}}`:                   {Name: "7", Version: "1.20", Protocol: "2025-06-18"},
		`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":[1]}`:                                                      {Protocol: "2025-06-18"},
		`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`:                                                                       {Protocol: "2025-11-25"},
	} {
		server := stdioServer(t, "introduces")
		server.Args = []string{answer}
		assert.Equal(t, want, connect(t, server).Info(), answer)
	}
	server := stdioServer(t, "introduces", "TOKEN=a-secret-token")
	server.Args = []string{`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"a-secret-token","version":"` + strings.Repeat("9", 1000) + `"}}`}
	info := connect(t, server).Info()
	assert.Equal(t, "[masked]", info.Name)
	assert.Equal(t, strings.Repeat("9", 253)+"…", info.Version)

	h := newWeb(t)
	h.on["server/discover"] = func(a *asking) {
		a.result(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"2"}}}`)
	}
	assert.Equal(t, mcp.Info{Name: "new", Version: "2", Protocol: "2026-07-28"}, connect(t, h.server()).Info())
}

func TestServerOfConnection(t *testing.T) {
	server := stdioServer(t, "plain", "TOKEN=a-secret-token")
	server.Tools = []string{"echo"}
	c := connect(t, server)
	given := c.Server()
	assert.Equal(t, server, given)
	assert.NotContains(t, fmt.Sprint(given), "a-secret-token")
	given.Env[0] = "changed"
	assert.Equal(t, server, c.Server())
}

func TestInstructionsOfAll(t *testing.T) {
	mcptest.NoLeaks(t)
	var all []mcp.Server
	for i, says := range []string{`"instructions":"Be kind.",`, ``, `"instructions":"Be brief.\nAnd quick.",`} {
		server := stdioServer(t, "introduces")
		server.Name = fmt.Sprintf("s%d", i)
		server.Args = []string{`{` + says + `"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`}
		all = append(all, server)
	}
	connections := mcp.ConnectAll(t.Context(), all...)
	defer connections.Close()
	require.NoError(t, connections.Err())
	assert.Equal(t, "MCP server s0:\nBe kind.\n\nMCP server s2:\nBe brief.\nAnd quick.", connections.Instructions())
}

// Connections pass on that the tools of any server have changed.
func TestToolsOfAnyChanged(t *testing.T) {
	mcptest.NoLeaks(t)
	plain, changes := stdioServer(t, "plain"), stdioServer(t, "example changes")
	plain.Name = "plain"
	all := mcp.ConnectAll(t.Context(), plain, changes)
	defer all.Close()
	require.NoError(t, all.Err())
	_, err := all.Tools()[1].Handler(t.Context(), nil)
	require.NoError(t, err)
	<-all.ToolsChanged()
	require.NoError(t, all.RefreshTools(t.Context()))
	assert.Len(t, all.Tools(), 3)
}

func names(tools []mcp.Tool) (names []string) {
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestToolsChanged(t *testing.T) {
	c := connect(t, stdioServer(t, "announces"))
	select {
	case <-c.ToolsChanged():
		t.Fatal("nothing has changed yet")
	default:
	}
	for i := range 2 {
		_, err := call(t, c, `{}`)
		require.NoError(t, err)
		<-c.ToolsChanged()
		require.NoError(t, c.RefreshTools(t.Context()))
		assert.Len(t, c.Tools(), i+2)
	}
	assert.Equal(t, []string{"t0", "t1", "t2"}, serverNames(c.Tools()))
}

// Callers share a listing, but not one that began before an announcement, and
// its answer does not replace a newer one.
func TestRefreshesAreShared(t *testing.T) {
	c := connect(t, stdioServer(t, "slow list"))
	echo := c.Tools()[0]
	tell := func(what string) string {
		result, err := echo.Handler(t.Context(), []byte(`{"do":"`+what+`"}`))
		require.NoError(t, err)
		return result.Content
	}
	var wg sync.WaitGroup
	wg.Go(func() { assert.NoError(t, c.RefreshTools(context.Background())) })
	require.Eventually(t, func() bool { return tell("") == "2" }, slack, time.Millisecond)

	// Who joins may leave: the listing goes on for the others.
	impatient, cancel := context.WithCancel(t.Context())
	wg.Go(func() { assert.ErrorIs(t, c.RefreshTools(impatient), context.Canceled) })
	for range 5 {
		wg.Go(func() { assert.NoError(t, c.RefreshTools(context.Background())) })
	}
	require.Equal(t, "2", tell(""))
	cancel()

	tell("announce")
	<-c.ToolsChanged()
	require.NoError(t, c.RefreshTools(t.Context()), "a listing of its own")
	assert.Equal(t, []string{"list3"}, serverNames(c.Tools()))
	tell("release")
	wg.Wait()
	assert.Equal(t, []string{"list3"}, serverNames(c.Tools()), "the older answer came later")
}

func TestLastCallerEndsTheListing(t *testing.T) {
	c := connect(t, stdioServer(t, "slow list"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := c.RefreshTools(ctx)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.EqualError(t, err, `mcp server "test": listing tools: context deadline exceeded`)
	require.NoError(t, c.RefreshTools(t.Context()))
	assert.Equal(t, []string{"list3"}, serverNames(c.Tools()))
}

func TestRefreshChangeAndClose(t *testing.T) {
	mcptest.NoLeaks(t)
	for range 10 {
		c, err := mcp.Connect(t.Context(), stdioServer(t, "announces"))
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for c.RefreshTools(context.Background()) == nil {
					c.Tools()
					c.Warnings()
				}
			})
		}
		wg.Go(func() { call(t, c, `{}`) })
		wg.Go(func() {
			<-c.ToolsChanged()
			assert.NoError(t, c.Close())
		})
		wg.Wait()
	}
}

func TestSelection(t *testing.T) {
	page := `{"tools":[{"name":"read_file"},{"name":"read_dir"},{"name":"write_file"},{"name":"x*y"},{"name":7}]}`
	for name, c := range map[string]struct {
		keep, exclude, want []string
		warnings            []string
	}{
		"all":                {nil, nil, []string{"read_file", "read_dir", "write_file", "x*y"}, nil},
		"a pattern":          {[]string{"read_*"}, nil, []string{"read_file", "read_dir"}, nil},
		"in the middle":      {[]string{"*_f*e"}, nil, []string{"read_file", "write_file"}, nil},
		"exclusion wins":     {[]string{"read_*"}, []string{"*_dir"}, []string{"read_file"}, nil},
		"exclusion alone":    {nil, []string{"write_file", "x*"}, []string{"read_file", "read_dir"}, nil},
		"everything":         {[]string{"*"}, nil, []string{"read_file", "read_dir", "write_file", "x*y"}, nil},
		"nothing matches":    {[]string{"read_file", "ghost*"}, []string{"Write_file"}, []string{"read_file"}, []string{`the server offers no tool that "ghost*" in Server.Tools means`, `the server offers no tool that "Write_file" in Server.ExcludeTools means`}},
		"a pattern is whole": {[]string{"read"}, nil, []string{}, []string{`the server offers no tool that "read" in Server.Tools means`}},
	} {
		t.Run(name, func(t *testing.T) {
			server := stdioServer(t, "pages")
			server.Args, server.Tools, server.ExcludeTools = []string{`{"":` + page + `}`}, c.keep, c.exclude
			connection := connect(t, server)
			assert.Equal(t, c.want, serverNames(connection.Tools()))
			assert.Equal(t, append([]string{"dropped entry 4 of the list of tools: it has no name"}, c.warnings...), connection.Warnings())
		})
	}
}

func TestInstructions(t *testing.T) {
	c := connect(t, stdioServer(t, "instructs"))
	instructions := c.Instructions()
	assert.True(t, strings.HasPrefix(instructions, "Be kind.xxx"), instructions[:20])
	assert.LessOrEqual(t, len(instructions), 4<<10)
}

func TestFingerprint(t *testing.T) {
	fingerprint := func(tool string) string {
		var fingerprint string
		t.Run(tool, func(t *testing.T) {
			tools, _ := listTools(t, `{"tools":[`+tool+`]}`)
			require.Len(t, tools, 1)
			fingerprint = tools[0].Fingerprint
		})
		return fingerprint
	}
	const tool = `{"name":"a","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
	want := fingerprint(tool)
	assert.Equal(t, "v1:e151d7f5702929d6bf9e8396a4d00b4d8015728c2de1f539288d4d4cb4dbabd7", want)
	assert.Equal(t, want, fingerprint(`{"annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object"}, "name":"a", "description":"\u0064"}`), "white space and the order of members do not count")
	for _, other := range []string{
		`{"name":"b","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
		`{"name":"a","description":"D","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","x":1},"annotations":{"readOnlyHint":true}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object"},"outputSchema":{},"annotations":{"readOnlyHint":true}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}`,
	} {
		assert.NotEqual(t, want, fingerprint(other))
	}
}

// Real servers and scripted ones that fail in every way, all at once.
func TestRealThirtyServers(t *testing.T) {
	mcptest.NoLeaks(t)
	folder := t.TempDir()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>Sign in</html>")
	}))
	defer page.Close()
	module := t.TempDir()
	require.NoError(t, os.WriteFile(module+"/go.mod", []byte("module example.test/m\n"), 0o600))
	var all []mcp.Server
	add := func(name string, server mcp.Server, env ...string) {
		server.Name, server.Env = name, append(server.Env, env...)
		all = append(all, server)
	}
	add("everything", realServer(t, "mcp-server-everything"))
	add("filesystem", realServer(t, "mcp-server-filesystem", folder))
	add("memory", realServer(t, "mcp-server-memory"), "MEMORY_FILE_PATH="+folder+"/memory.json")
	add("thinking", realServer(t, "mcp-server-sequential-thinking"))
	add("github", realServer(t, "mcp-server-github"))
	add("notion", realServer(t, "notion-mcp-server"))
	add("gitlab", realServer(t, "mcp-gitlab"), "GITLAB_PERSONAL_ACCESS_TOKEN=x")
	add("mongodb", realServer(t, "mongodb-mcp-server", "--telemetry", "disabled"))
	add("0n", realServer(t, "0nmcp"))
	gopls := realServer(t, "gopls", "mcp")
	gopls.Dir = module
	add("gopls", gopls, "GOCACHE="+cacheDir()+"/gocache", "GOPROXY=off")
	good := len(all)
	for i := range 5 {
		add(fmt.Sprintf("noisy-%d", i), stdioServer(t, "noisy"))
	}
	good += 5
	refuses := stdioServer(t, "says")
	refuses.Args = []string{`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"no database"}}`}
	reasons := map[string]string{}
	for i := range 5 {
		crash, refuse, html := fmt.Sprintf("crash-%d", i), fmt.Sprintf("refuse-%d", i), fmt.Sprintf("html-%d", i)
		add(crash, stdioServer(t, "exits"))
		add(refuse, refuses)
		reasons[crash] = "exit status 4; stderr: no license"
		reasons[refuse] = "no database"
		if i < 3 {
			add(html, mcp.Server{URL: page.URL})
			hangs := stdioServer(t, "silent")
			hangs.StartTimeout = time.Second
			add(fmt.Sprintf("hang-%d", i), hangs)
			reasons[html] = "text/html"
			reasons[fmt.Sprintf("hang-%d", i)] = "context deadline exceeded"
		}
	}
	require.GreaterOrEqual(t, len(all), 30)

	const limit = 2 * time.Minute // which no good server needs on the busiest machine
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	start := time.Now()
	connections := mcp.ConnectAll(ctx, all...)
	took := time.Since(start)
	defer connections.Close()
	assert.Less(t, took, limit)
	tools := connections.Tools()
	t.Logf("%d servers and %d tools in %v", len(connections.All()), len(tools), took.Round(time.Millisecond))
	require.Len(t, connections.All(), good, "%v", connections.Err())
	assert.Greater(t, len(tools), 1200)
	seen := map[string]bool{}
	for _, tool := range tools {
		require.True(t, mcp.IsToolName(tool.Name))
		require.False(t, seen[tool.Name], tool.Name)
		seen[tool.Name] = true
	}
	failures := strings.Split(connections.Err().Error(), "\n")
	require.Len(t, failures, len(reasons))
	for name, reason := range reasons {
		found := false
		for _, failure := range failures {
			found = found || strings.HasPrefix(failure, fmt.Sprintf("mcp server %q: ", name)) && strings.Contains(failure, reason)
		}
		assert.True(t, found, "%s: %s", name, reason)
	}
	require.NoError(t, connections.RefreshTools(t.Context()))
	assert.Equal(t, names(tools), names(connections.Tools()))
	start = time.Now()
	require.NoError(t, connections.Close())
	t.Logf("closed in %v", time.Since(start).Round(time.Millisecond))
}
