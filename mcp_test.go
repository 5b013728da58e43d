package mcp_test

// This file starts servers and ends them, as far as that does not depend on
// the system; lifetime_test.go has the rest.

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main(servers)
	os.Exit(m.Run())
}

// servers are the scripted servers, by name. Each test file adds its own.
var servers = map[string]func(*mcptest.Peer){
	"plain": func(p *mcptest.Peer) { p.Serve() },
	"silent": func(p *mcptest.Peer) { // reads and never answers
		for {
			if _, ok := p.Read(); !ok {
				return
			}
		}
	},
	"says": func(p *mcptest.Peer) { // answers initialize with its argument
		p.On["initialize"] = func(r mcptest.Request) {
			p.Print(strings.ReplaceAll(os.Args[1], "$ID", string(r.ID)) + "\n")
		}
		p.Serve()
	},
	"newer only": func(p *mcptest.Peer) {
		p.On["initialize"] = func(r mcptest.Request) {
			p.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}` + "\n")
			os.Exit(1) // and gone: it must be started once more
		}
		p.On["server/discover"] = func(r mcptest.Request) {
			p.Reply(r, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":"x"}`)
		}
		lists := 0
		p.On["tools/list"] = func(r mcptest.Request) {
			lists++
			p.Reply(r, fmt.Sprintf(`{"tools":[{"name":"list%d"}],"ttlMs":3600000,"cacheScope":"private"}`, lists))
		}
		p.Call = func(r mcptest.Request) {
			if strings.Contains(string(r.Params.Arguments), "announce") {
				p.Print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
			}
			p.Reply(r, mcptest.Text(r.Raw))
		}
		p.Serve()
	},
	"refuses and leaves": func(p *mcptest.Peer) {
		p.On["initialize"] = func(r mcptest.Request) {
			p.Fail(r, -32603, "no database")
			os.Exit(1)
		}
		p.Serve()
	},
	"dies on discover": func(p *mcptest.Peer) {
		p.On["server/discover"] = func(mcptest.Request) { os.Exit(1) }
		p.Serve()
	},
}

func stdioServer(t testing.TB, name string, env ...string) mcp.Server {
	command, environment := mcptest.Command(t, name, env...)
	return mcp.Server{Name: "test", Command: command, Env: environment, StopTimeout: 2 * time.Second}
}

func connect(t testing.TB, server mcp.Server) *mcp.Connection {
	t.Helper()
	mcptest.NoLeaks(t)
	// Not a bound: on a busy machine npx takes its time.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := mcp.Connect(ctx, server)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func TestPlain(t *testing.T) {
	c := connect(t, stdioServer(t, "plain"))
	tools := c.Tools()
	require.Len(t, tools, 1)
	result, err := tools[0].Handler(t.Context(), []byte(`{"a":"<b>"}`))
	require.NoError(t, err)
	assert.Equal(t, mcp.ToolResult{Content: `{"a":"<b>"}`}, said(result))
	assert.Empty(t, c.Warnings())
	assert.NoError(t, c.Err())
	select {
	case <-c.Done():
		t.Fatal("done while open")
	default:
	}

	require.NoError(t, c.Close())
	<-c.Done()
	assert.NoError(t, c.Err(), "a plain Close is not an error")
	assert.Len(t, c.Tools(), 1)
	_, err = tools[0].Handler(t.Context(), nil)
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": request not sent: the connection is closed`)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.NotErrorIs(t, err, mcp.ErrServerStopped)
	assert.ErrorIs(t, c.RefreshTools(t.Context()), mcp.ErrNotSent)
	require.NoError(t, c.Close(), "again")
}

func TestContextOfConnectBoundsTheStart(t *testing.T) {
	mcptest.NoLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	c, err := mcp.Connect(ctx, stdioServer(t, "plain"))
	require.NoError(t, err)
	defer c.Close()
	cancel()
	_, err = call(t, c, `{}`)
	assert.NoError(t, err)
	assert.NoError(t, c.RefreshTools(t.Context()))
}

func TestEndedContextStartsNothing(t *testing.T) {
	mcptest.NoLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	server := stdioServer(t, "plain")
	server.Command = "/no/such/program" // it would be an error if it were tried
	_, err := mcp.Connect(ctx, server)
	assert.EqualError(t, err, `mcp server "test": starting: context canceled`)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestSilentStart(t *testing.T) {
	mcptest.NoLeaks(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	server := stdioServer(t, "silent")
	server.StopTimeout = time.Minute
	start := time.Now()
	_, err := mcp.Connect(ctx, server)
	assert.EqualError(t, err, `mcp server "test": initializing: context deadline exceeded`)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	// To wait for the stop would take longer than the busiest machine.
	assert.Less(t, time.Since(start), 800*time.Millisecond+slack)
}

func TestRefusedHandshakes(t *testing.T) {
	for name, c := range map[string]struct{ print, want string }{
		"an error":        {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"no database"}}`, `initializing: no database (code -32603)`},
		"a wrong version": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"1999-01-01","capabilities":{}}}`, `initializing: unsupported protocol version: "1999-01-01"`},
		"no version":      {`{"jsonrpc":"2.0","id":$ID,"result":{"capabilities":{}}}`, `initializing: unsupported protocol version: ""`},
		"null":            {`{"jsonrpc":"2.0","id":$ID,"result":null}`, `initializing: unsupported protocol version: ""`},
	} {
		t.Run(name, func(t *testing.T) {
			mcptest.NoLeaks(t)
			server := stdioServer(t, "says")
			server.Args = []string{c.print}
			for range 3 {
				_, err := mcp.Connect(t.Context(), server)
				assert.EqualError(t, err, `mcp server "test": `+c.want)
			}
		})
	}
}

// A server may refuse a version in place of answering with another.
func TestOlderVersionOffered(t *testing.T) {
	h := newWeb(t)
	for _, server := range []mcp.Server{stdioServer(t, "old"), h.server()} {
		h.now("initialize", func(a *asking) {
			if a.Params.ProtocolVersion != "2025-03-26" {
				a.json(`{"jsonrpc":"2.0","id":` + string(a.ID) + `,"error":` + refusedVersion + `}`)
				return
			}
			a.pass()
		})
		works(t, connect(t, server))
	}
	server := stdioServer(t, "says")
	server.Args = []string{`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["1.0"]}}}`}
	_, err := mcp.Connect(t.Context(), server)
	assert.EqualError(t, err, `mcp server "test": initializing: Unsupported protocol version (code -32602): {"supported":["1.0"]}`)
}

const refusedVersion = `{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05","2025-03-26","2031-01-01"],"requested":"?"}}`

func init() {
	servers["old"] = func(p *mcptest.Peer) {
		p.On["initialize"] = func(r mcptest.Request) {
			if r.Params.ProtocolVersion == "2025-03-26" {
				p.Reply(r, `{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
				return
			}
			p.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":` + refusedVersion + "}\n")
		}
		p.Serve()
	}
}

// Servers say in many ways which versions they speak, or do not say it.
func TestVersionsInOtherWords(t *testing.T) {
	h := newWeb(t)
	for _, test := range []struct{ refusal, speaks string }{
		{`{"code":-32602,"message":"Unsupported protocolVersion 2025-11-25","data":{"supportedVersions":["2025-06-18","2024-11-05"]}}`, "2025-06-18"},
		{`{"code":-32602,"message":"Unsupported protocol version: 2025-11-25. Supported: 2024-11-05"}`, "2024-11-05"},
		{`{"code":-32602,"message":"Unsupported protocol version","data":"supported versions: 2025-06-18, 2024-11-05"}`, "2025-06-18"},
		{`{"code":-32600,"message":"Unsupported protocol version"}`, "2024-11-05"},
		{`{"code":-32602,"message":"Invalid params"}`, "2024-11-05"},
	} {
		for kind, status := range map[string]int{"stdio": 0, "status 200": 200, "status 400": 400} {
			t.Run(kind+" "+test.refusal, func(t *testing.T) {
				server := stdioServer(t, "speaks one version")
				server.Args = []string{test.speaks, test.refusal}
				if status != 0 {
					if status == 400 && !strings.Contains(strings.ToLower(test.refusal), "protocol") {
						t.Skip("a 400 without a word about versions may be anything")
					}
					server = h.server()
					h.now("initialize", func(a *asking) {
						if a.Params.ProtocolVersion == test.speaks {
							a.pass()
							return
						}
						a.w.Header().Set("Content-Type", "application/json")
						a.w.WriteHeader(status)
						io.WriteString(a.w, `{"jsonrpc":"2.0","id":`+string(a.ID)+`,"error":`+test.refusal+`}`)
					})
				}
				c := connect(t, server)
				works(t, c)
				assert.Equal(t, test.speaks, c.Info().Protocol)
			})
		}
	}
}

func init() {
	servers["speaks one version"] = func(p *mcptest.Peer) {
		p.On["initialize"] = func(r mcptest.Request) {
			if r.Params.ProtocolVersion == os.Args[1] {
				p.Reply(r, strings.ReplaceAll(p.Initialize, "$VERSION", os.Args[1]))
				return
			}
			p.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":` + os.Args[2] + "}\n")
		}
		p.Serve()
	}
}

func TestRefusalIsToldEvenIfTheServerLeaves(t *testing.T) {
	mcptest.NoLeaks(t)
	for range 10 {
		_, err := mcp.Connect(t.Context(), stdioServer(t, "refuses and leaves"))
		assert.EqualError(t, err, `mcp server "test": initializing: no database (code -32603)`)
	}
}

func TestNewerServers(t *testing.T) {
	c := connect(t, stdioServer(t, "newer only"))
	assert.Equal(t, []string{"list1"}, serverNames(c.Tools()))
	result, err := call(t, c, `{"a":1}`)
	require.NoError(t, err)
	assert.Contains(t, result.Content, `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`)
	assert.Contains(t, result.Content, `"arguments":{"a":1}`)
	require.NoError(t, c.RefreshTools(t.Context()))
	assert.Equal(t, []string{"list1"}, serverNames(c.Tools()), "the server says that it stays the same for an hour")
	_, err = call(t, c, `{"announce":true}`)
	require.NoError(t, err)
	require.NoError(t, c.RefreshTools(t.Context()))
	assert.Equal(t, []string{"list2"}, serverNames(c.Tools()), "an announcement ends that")
}

func TestOldServersAreNotAskedToDiscover(t *testing.T) {
	connect(t, stdioServer(t, "dies on discover"))
}

func TestCloseEndsCalls(t *testing.T) {
	mcptest.NoLeaks(t)
	c, err := mcp.Connect(t.Context(), stdioServer(t, "records"))
	require.NoError(t, err)
	var wg, started sync.WaitGroup
	for range 10 {
		started.Add(1)
		wg.Go(func() {
			started.Done()
			_, err := call(t, c, `{"wait":true}`)
			assert.ErrorContains(t, err, "the connection is closed")
			assert.NotErrorIs(t, err, mcp.ErrServerStopped)
		})
	}
	started.Wait()
	for range 5 {
		wg.Go(func() { assert.NoError(t, c.Close()) })
	}
	wg.Wait()
	assert.NoError(t, c.Close())
	assert.NoError(t, c.Err())
}

// A connection at rest costs little.
func TestIdleCost(t *testing.T) {
	mcptest.NoLeaks(t)
	server := stdioServer(t, "plain")
	const n = 20
	settled := func() (goroutines int, stats runtime.MemStats) {
		for range 3 { // a pool gives up what it holds at the second collection
			runtime.GC()
		}
		runtime.ReadMemStats(&stats)
		return runtime.NumGoroutine(), stats
	}
	one, err := mcp.Connect(t.Context(), server) // what is made once
	require.NoError(t, err)
	defer one.Close()
	goroutines, before := settled()
	for range n {
		c, err := mcp.Connect(t.Context(), server)
		require.NoError(t, err)
		defer c.Close()
	}
	moreGoroutines, after := settled()
	assert.LessOrEqual(t, moreGoroutines-goroutines, 5*n)
	heap := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n
	t.Logf("%d goroutines, %d bytes of heap, %d of stacks", (moreGoroutines-goroutines)/n, heap, (int64(after.StackInuse)-int64(before.StackInuse))/n)
	if !raceEnabled {
		assert.LessOrEqual(t, heap, int64(32<<10))
	}
}
