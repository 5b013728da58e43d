package mcp_test

// This file has what happens over the life of a connection by HTTP: its start,
// lost sessions, cut streams, its end.

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

const discovered = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`

// Whatever a server answers to server/discover but the right thing leads to
// initialize.
func TestHTTPDiscovery(t *testing.T) {
	for _, test := range []struct {
		name string
		play func(*asking)
	}{
		{"page", func(a *asking) { a.status(200, "text/html", "<html>") }},
		{"accepted", func(a *asking) { a.status(202, "", "") }},
		{"no content", func(a *asking) { a.status(204, "", "") }},
		{"no JSON", func(a *asking) { a.json("oops") }},
		{"no body", func(a *asking) { a.json("") }},
		{"null", func(a *asking) { a.result("null") }},
		{"nothing in common", func(a *asking) { a.result(`{"supportedVersions":["2031-01-01"],"capabilities":{}}`) }},
		{"only old versions", func(a *asking) { a.result(`{"supportedVersions":["2025-06-18"],"capabilities":{}}`) }},
		{"session id with an error", func(a *asking) {
			a.w.Header().Set("Mcp-Session-Id", "stale")
			a.pass()
		}},
		{"unknown version", func(a *asking) {
			a.status(400, "text/plain", "Bad Request: Unsupported protocol version (supported versions: 2025-06-18,2025-03-26)")
		}},
		{"error", func(a *asking) { a.status(500, "text/plain", "boom") }},
		{"unauthorized", func(a *asking) { a.status(401, "text/plain", "boom") }},
		{"gone", func(a *asking) { a.status(410, "text/plain", "boom") }},
		{"cut", func(a *asking) { a.cut() }},
		{"empty stream", func(a *asking) { a.stream(": hi\n\n") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			h.on["server/discover"] = test.play
			h.on["initialize"] = func(a *asking) {
				assert.Empty(t, a.r.Header.Get("Mcp-Session-Id"))
				a.pass()
			}
			works(t, connect(t, h.server()))
			assert.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call"}, h.methods())
		})
	}
	t.Run("silence", func(t *testing.T) {
		h := newWeb(t)
		h.on["server/discover"] = func(a *asking) { <-a.r.Context().Done() }
		start := time.Now()
		works(t, connect(t, h.server()))
		assert.Greater(t, time.Since(start), 2900*time.Millisecond)
		assert.Less(t, time.Since(start), 30*time.Second) // and not the time of the start
	})
	t.Run("silence after the start", func(t *testing.T) {
		h := newWeb(t)
		h.on["notifications/initialized"] = func(a *asking) { <-a.r.Context().Done() }
		works(t, connect(t, h.server()))
		assert.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call"}, h.methods())
	})
	t.Run("right", func(t *testing.T) {
		h := newWeb(t)
		h.on["server/discover"] = func(a *asking) {
			a.w.Header().Set("Mcp-Session-Id", "of no use")
			a.result(discovered)
		}
		h.on["tools/call"] = func(a *asking) {
			assert.Equal(t, "2026-07-28", a.r.Header.Get("Mcp-Protocol-Version"))
			assert.Equal(t, "tools/call", a.r.Header.Get("Mcp-Method"))
			assert.Equal(t, "=?base64?w6RjaG8=?=", a.r.Header.Get("Mcp-Name"))
			assert.Empty(t, a.r.Header.Get("Mcp-Session-Id"))
			a.pass()
		}
		h.tools = `[{"name":"ächo","inputSchema":{"type":"object"}}]`
		c := connect(t, h.server())
		works(t, c)
		require.NoError(t, c.Close())
		assert.Equal(t, []string{"server/discover", "tools/list", "tools/call"}, h.methods())
	})
}

func TestHTTPFirstRequestHints(t *testing.T) {
	for _, status := range []int{404, 405} {
		h := newWeb(t)
		for _, method := range []string{"initialize", "server/discover"} {
			h.on[method] = func(a *asking) { a.status(status, "text/plain", "Cannot POST /sse") }
		}
		err := refuses(t, h.server())
		assert.EqualError(t, err, fmt.Sprintf(`mcp server "test": initializing: calling "initialize": the server answered %d %s: it may speak only the older HTTP+SSE transport, which is not supported, or the URL's path is wrong: Cannot POST /sse`, status, http.StatusText(status)))
	}
}

func TestHTTPVersionRefused(t *testing.T) {
	refusal := "Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26, 2024-11-05)"
	t.Run("by initialize", func(t *testing.T) {
		h := newWeb(t)
		h.on["initialize"] = func(a *asking) {
			if a.Params.ProtocolVersion != "2025-06-18" {
				a.status(400, "text/plain", refusal)
				return
			}
			a.pass()
		}
		c := connect(t, h.server())
		works(t, c)
		assert.Equal(t, 2, h.seen("initialize"))
		h.forgetAll() // a renewal asks for the version that worked
		works(t, c)
		assert.Equal(t, 3, h.seen("initialize"))
	})
	t.Run("by a gateway", func(t *testing.T) {
		h := newWeb(t)
		for _, method := range []string{"tools/list", "tools/call", "DELETE"} {
			h.on[method] = func(a *asking) {
				if a.r.Header.Get("Mcp-Protocol-Version") != "2025-06-18" {
					a.status(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"`+refusal+`"}}`)
					return
				}
				a.pass()
			}
		}
		c := connect(t, h.server())
		works(t, c)
		assert.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "tools/list", "tools/list", "tools/call"}, h.methods())
	})
	t.Run("for good", func(t *testing.T) {
		h := newWeb(t)
		h.on["initialize"] = func(a *asking) { a.status(400, "text/plain", "Unsupported protocol version") }
		assert.ErrorContains(t, refuses(t, h.server()), "400 Bad Request: Unsupported protocol version")
	})
	t.Run("by the official SDK", func(t *testing.T) {
		for _, version := range sdk.SupportedProtocolVersions() {
			// With sessions its server refuses its own newest version.
			options := &sdk.StreamableHTTPOptions{Stateless: version >= "2026-07-28"}
			h := officialServer(t, &sdk.ServerOptions{SupportedProtocolVersions: []string{version}}, options)
			c := connect(t, mcp.Server{Name: "test", URL: h.URL})
			result, err := call(t, c, `{"text":"hi"}`)
			require.NoError(t, err, version)
			assert.Equal(t, "echo: hi", result.Content)
		}
	})
}

func TestHTTPNotifications(t *testing.T) {
	for _, play := range []func(*asking){
		func(a *asking) { a.status(200, "text/plain; charset=utf-8", "OK") },
		func(a *asking) { a.status(204, "", "") },
		func(a *asking) { a.status(500, "text/plain", "boom") },
		func(a *asking) { a.stream(": hi\n\n"); <-a.r.Context().Done() },
		func(a *asking) { a.cut() },
	} {
		h := newWeb(t)
		h.on["notifications/initialized"] = play
		works(t, connect(t, h.server()))
	}
}

// A server that has lost its sessions may have other tools as well.
func TestHTTPRenewalAnnouncesTools(t *testing.T) {
	h := newWeb(t)
	c := connect(t, h.server())
	works(t, c)
	select {
	case <-c.ToolsChanged():
		t.Fatal("nothing has changed yet")
	default:
	}
	h.forgetAll()
	works(t, c)
	select {
	case <-c.ToolsChanged():
	case <-time.After(slack):
		t.Fatal("the renewal was not announced")
	}
	assert.NoError(t, c.RefreshTools(t.Context()))
}

func TestHTTPSessionLost(t *testing.T) {
	for _, test := range []struct {
		name        string
		status      int
		contentType string
		body        string
	}{
		{"404", 404, "text/plain", "session not found"},
		{"404 without a body", 404, "", ""},
		{"404 with another id", 404, "application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}`},
		{"400 of the TypeScript examples", 400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`},
		{"400 of a restarted transport", 400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`},
		{"400 of Python", 400, "application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`},
		{"404 as an event", 404, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32001,\"message\":\"Session not found\"}}\n\n"},
		{"404 with a page", 404, "text/html", strings.Repeat("<p>nothing here</p>", 10_000)},
		{"400 of go-mcp", 400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"lack session"}}`},
		{"400 of Python's manager", 400, "text/plain", "Bad Request: No valid session ID provided"},
		{"401 of Rust", 401, "text/plain", "Unauthorized: Session not found"},
		{"422 of Rust", 422, "text/plain", "Unexpected message, expect initialize request"},
		{"200 of TypeScript", 200, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`},
		{"200 of a proxy", 200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"Session terminated\"}}\n\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			refuse := func(a *asking) {
				h.mu.Lock()
				known := h.sessions[a.r.Header.Get("Mcp-Session-Id")]
				h.mu.Unlock()
				if known {
					a.pass()
					return
				}
				a.status(test.status, test.contentType, strings.ReplaceAll(test.body, "$ID", string(a.ID)))
			}
			h.on["tools/call"], h.on["tools/list"] = refuse, refuse
			c := connect(t, h.server())
			for i := range 3 {
				h.forgetAll()
				if i == 1 {
					require.NoError(t, c.RefreshTools(t.Context()))
				}
				works(t, c)
				assert.Equal(t, i+2, h.seen("initialize"))
			}
			assert.Equal(t, 5, h.seen("tools/call"))
			require.NoError(t, c.Close())
			assert.Equal(t, 1, h.seen("DELETE"))
			assert.Empty(t, h.sessions) // the last session got it
		})
	}
	// What was refused twice may have been refused for another reason the first
	// time.
	t.Run("twice", func(t *testing.T) {
		h := newWeb(t)
		c := connect(t, h.server())
		h.now("tools/call", func(a *asking) { a.status(404, "text/plain", "session not found") })
		_, err := call(t, c, `{}`)
		assert.EqualError(t, err, `mcp server "test": calling tool "echo": the server answered 404 Not Found: session not found; the tool may have run`)
		assert.NotErrorIs(t, err, mcp.ErrNotSent)
		assert.Equal(t, 2, h.seen("tools/call"))
		assert.Equal(t, 2, h.seen("initialize"))
		h.now("tools/call", nil)
		works(t, c)
	})
	t.Run("what is not a lost session", func(t *testing.T) {
		h := newWeb(t)
		c := connect(t, h.server())
		for _, play := range []func(*asking){
			func(a *asking) { a.status(503, "text/plain", "unknown session") },
			func(a *asking) {
				a.status(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no such header"}}`)
			},
			func(a *asking) { a.status(401, "text/plain", "session expired") },
		} {
			h.now("tools/call", play)
			_, err := call(t, c, `{}`)
			assert.Error(t, err)
		}
		assert.Equal(t, 1, h.seen("initialize"))
		assert.Equal(t, 3, h.seen("tools/call"))
	})
	// An answer to the call itself, whatever its status: the tool has run.
	for _, test := range []struct {
		status int
		answer string
		want   string
	}{
		{400, `"error":{"code":-32603,"message":"browser session abc does not exist"}`, "[error] browser session abc does not exist (code -32603)"},
		{400, `"error":{"code":-32602,"message":"argument session is required"}`, "[error] argument session is required (code -32602)"},
		{404, `"error":{"code":-32602,"message":"no such tool"}`, "[error] no such tool (code -32602)"},
		{404, `"result":{"content":["a"]}`, "a"},
	} {
		t.Run(fmt.Sprintf("%d with the answer, %s", test.status, test.want), func(t *testing.T) {
			h := newWeb(t)
			h.on["tools/call"] = func(a *asking) {
				a.status(test.status, "application/json", `{"jsonrpc":"2.0","id":`+string(a.ID)+`,`+test.answer+`}`)
			}
			c := connect(t, h.server())
			result, err := call(t, c, `{}`)
			require.NoError(t, err)
			assert.Equal(t, mcp.ToolResult{Content: test.want, IsError: strings.HasPrefix(test.want, "[error]")}, said(result))
			assert.Equal(t, 1, h.seen("initialize"))
			assert.Equal(t, 1, h.seen("tools/call"))
		})
	}
	t.Run("without a session", func(t *testing.T) {
		h := newWeb(t)
		h.stateful = false
		h.on["tools/call"] = func(a *asking) { a.status(404, "text/plain", "nothing here") }
		c := connect(t, h.server())
		_, err := call(t, c, `{}`)
		assert.ErrorContains(t, err, "404 Not Found: nothing here")
		assert.Equal(t, 1, h.seen("initialize"))
		require.NoError(t, c.Close())
		assert.Equal(t, 0, h.seen("DELETE"))
	})
	t.Run("a changed session id is not taken over", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.w.Header().Set("Mcp-Session-Id", "another")
			assert.Equal(t, "session-1", a.r.Header.Get("Mcp-Session-Id"))
			a.pass()
		}
		c := connect(t, h.server())
		works(t, c)
		works(t, c)
	})
}

// However many callers notice, the session is renewed once.
func TestHTTPRenewalOnce(t *testing.T) {
	h := newWeb(t)
	c := connect(t, h.server())
	for round := range 5 {
		h.forgetAll()
		var refused sync.WaitGroup
		refused.Add(20)
		h.now("initialize", func(a *asking) {
			refused.Wait() // until all have noticed
			a.pass()
		})
		h.now("tools/call", func(a *asking) {
			if a.r.Header.Get("Mcp-Session-Id") != fmt.Sprint("session-", round+1) {
				a.pass()
				return
			}
			a.status(404, "text/plain", "session not found")
			refused.Done()
		})
		var calls sync.WaitGroup
		var answers atomic.Int32
		for i := range 20 {
			calls.Go(func() {
				arguments := fmt.Sprintf(`{"i":%d}`, i)
				if result, err := call(t, c, arguments); assert.NoError(t, err) && assert.Equal(t, arguments, result.Content) {
					answers.Add(1)
				}
			})
		}
		calls.Wait()
		assert.EqualValues(t, 20, answers.Load())
		assert.Equal(t, round+2, h.seen("initialize"))
		assert.Equal(t, round+2, h.seen("notifications/initialized"))
		assert.Equal(t, 40*(round+1), h.seen("tools/call"))
	}
}

// The renewal helps the others when the caller that began it gives up.
func TestHTTPRenewalOutlivesItsCaller(t *testing.T) {
	h := newWeb(t)
	c := connect(t, h.server())
	h.forgetAll()
	began, goOn := make(chan struct{}), make(chan struct{})
	h.now("initialize", func(a *asking) {
		close(began)
		<-goOn
		a.pass()
	})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := c.Tools()[0].Handler(ctx, nil)
		first <- err
	}()
	<-began
	cancel()
	err := <-first
	assert.ErrorIs(t, err, context.Canceled)
	close(goOn)
	works(t, c)
	assert.Equal(t, 2, h.seen("initialize"))
}

func TestHTTPRenewalFails(t *testing.T) {
	h := newWeb(t)
	c := connect(t, h.server())
	h.forgetAll()
	for _, play := range []func(*asking){
		func(a *asking) { a.status(503, "text/plain", "starting") },
		func(a *asking) { a.status(401, "text/plain", "no") },
		func(a *asking) { a.status(200, "text/html", "<html>") },
		func(a *asking) {
			a.json(`{"jsonrpc":"2.0","id":` + string(a.ID) + `,"error":{"code":-32603,"message":"not yet"}}`)
		},
		func(a *asking) { a.cut() },
	} {
		h.now("initialize", play)
		_, err := call(t, c, `{}`)
		assert.ErrorContains(t, err, `calling tool "echo": request not sent: the server has forgotten the session; beginning a new one: `)
		assert.ErrorIs(t, err, mcp.ErrNotSent)
		assert.NoError(t, c.Err())
	}
	assert.Error(t, c.RefreshTools(t.Context()))
	assert.Len(t, c.Tools(), 1) // the list stays
	h.now("initialize", nil)
	works(t, c)
}

// Only a refusal by the protocol ends the connection.
func TestHTTPEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		play func(*asking)
		want string
	}{
		{"gone", func(a *asking) { a.status(410, "text/plain", "retired") }, "the server answered 410 Gone: retired"},
		{"newer version", func(a *asking) {
			a.result(`{"protocolVersion":"2031-01-01","capabilities":{"tools":{}}}`)
		}, `unsupported protocol version: "2031-01-01"`},
		{"error about the version", func(a *asking) {
			a.status(400, "application/json", `{"jsonrpc":"2.0","id":`+string(a.ID)+`,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"]}}}`)
		}, "the server answered 400 Bad Request: unsupported protocol version"},
		{"answer about the version", func(a *asking) {
			a.json(`{"jsonrpc":"2.0","id":` + string(a.ID) + `,"error":{"code":-32022,"message":"only 2026"}}`)
		}, "only 2026"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			c := connect(t, h.server())
			h.now("initialize", test.play)
			h.forgetAll()
			_, err := call(t, c, `{}`)
			assert.ErrorIs(t, err, mcp.ErrServerStopped)
			assert.ErrorIs(t, err, mcp.ErrNotSent)
			assert.ErrorContains(t, err, test.want)
			<-c.Done()
			assert.EqualError(t, c.Err(), `mcp server "test": server stopped: `+test.want)
			_, err = call(t, c, `{}`)
			assert.ErrorIs(t, err, mcp.ErrServerStopped)
			assert.Equal(t, 1, h.seen("tools/call"))
			assert.Len(t, c.Tools(), 1)
			require.NoError(t, c.Close())
			assert.Equal(t, 0, h.seen("DELETE")) // the lost session gets none
		})
	}
	t.Run("gone without a session", func(t *testing.T) {
		h := newWeb(t)
		h.stateful = false
		c := connect(t, h.server())
		h.now("tools/call", func(a *asking) { a.status(410, "text/plain", "retired") })
		_, err := call(t, c, `{}`)
		assert.ErrorIs(t, err, mcp.ErrServerStopped)
		<-c.Done()
		var status *mcp.HTTPError
		assert.ErrorAs(t, c.Err(), &status)
	})
}

// A call of the old session goes on, and its answer counts.
func TestHTTPOldSessionFinishes(t *testing.T) {
	h := newWeb(t)
	began, goOn := make(chan struct{}), make(chan struct{})
	h.on["tools/call"] = func(a *asking) {
		if string(a.Params.Arguments) == `{"slow":true}` {
			close(began)
			<-goOn
		}
		a.pass()
	}
	c := connect(t, h.server())
	slow := make(chan string)
	go func() {
		result, err := call(t, c, `{"slow":true}`)
		assert.NoError(t, err)
		slow <- result.Content
	}()
	<-began
	h.mu.Lock()
	delete(h.sessions, "session-1")
	h.mu.Unlock()
	works(t, c)
	h.mu.Lock()
	h.sessions["session-1"] = true // it was let in before
	h.mu.Unlock()
	close(goOn)
	assert.Equal(t, `{"slow":true}`, <-slow)
	assert.Equal(t, 2, h.seen("initialize"))
}

// A listing whose pages come from two sessions starts over.
func TestHTTPListingOverTwoSessions(t *testing.T) {
	h := newWeb(t)
	page := func(name, next string) string {
		return `{"tools":[{"name":"` + name + `","inputSchema":{"type":"object"}}],"nextCursor":"` + next + `"}`
	}
	h.on["tools/list"] = func(a *asking) {
		id := a.r.Header.Get("Mcp-Session-Id")
		switch {
		case a.Params.Cursor == "":
			a.result(page("first-of-"+id, "cursor-of-"+id))
		case id == "session-1":
			h.forgetAll()
			a.status(404, "text/plain", "session not found")
		case a.Params.Cursor == "cursor-of-"+id:
			a.result(page("second-of-"+id, ""))
		default:
			a.json(`{"jsonrpc":"2.0","id":` + string(a.ID) + `,"error":{"code":-32602,"message":"unknown cursor"}}`)
		}
	}
	c := connect(t, h.server())
	var names []string
	for _, tool := range c.Tools() {
		names = append(names, tool.ServerTool)
	}
	assert.Equal(t, []string{"first-of-session-2", "second-of-session-2"}, names)
	assert.Empty(t, c.Warnings())
}

// A server that is stopped and started again on its port, ten times.
func TestHTTPRestarts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	start := func() func() {
		if l == nil {
			l, err = net.Listen("tcp", address)
			require.NoError(t, err)
		}
		s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, nil)
		sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoArguments) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo: " + in.Text}}}, nil, nil
		})
		h := &http.Server{Handler: sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)}
		var served sync.WaitGroup
		listener := l
		served.Go(func() { h.Serve(listener) })
		return func() {
			h.Close()
			served.Wait()
			for session := range s.Sessions() {
				session.Close()
			}
			l = nil
		}
	}
	stop := start()
	c := connect(t, mcp.Server{Name: "test", URL: "http://" + address})
	for range 10 {
		stop()
		_, err := call(t, c, `{"text":"down"}`)
		assert.ErrorIs(t, err, mcp.ErrNotSent)
		stop = start()
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				result, err := call(t, c, `{"text":"up"}`)
				if assert.NoError(t, err) {
					assert.Equal(t, "echo: up", result.Content)
				}
			})
		}
		calls.Wait()
	}
	select {
	case <-c.Done():
		t.Fatal("a server that is merely down ended the connection")
	default:
	}
	require.NoError(t, c.Close())
	stop()
}

// A stream that is cut goes on where it was cut.
func TestHTTPResume(t *testing.T) {
	serve := func(t *testing.T, play func(*asking), resume func(a *asking, n int, answer string)) (*web, *mcp.Connection) {
		h := newWeb(t)
		var answer atomic.Pointer[string]
		h.on["tools/call"] = func(a *asking) {
			text := a.answer(mcptest.Text(string(a.Params.Arguments)))
			answer.Store(&text)
			play(a)
		}
		h.on["GET"] = func(a *asking) {
			assert.Equal(t, "text/event-stream", a.r.Header.Get("Accept"))
			assert.Equal(t, "session-1", a.r.Header.Get("Mcp-Session-Id"))
			resume(a, h.seen("GET"), *answer.Load())
		}
		return h, connect(t, h.server())
	}
	t.Run("once", func(t *testing.T) {
		h, c := serve(t, func(a *asking) {
			a.stream("id: e1\nretry: 20\ndata: \n\n")
			a.cut()
		}, func(a *asking, _ int, answer string) {
			assert.Equal(t, "e1", a.r.Header.Get("Last-Event-ID"))
			a.stream("id: e2\ndata: " + answer + "\n\n")
		})
		works(t, c)
		assert.Equal(t, 1, h.seen("GET"))
		assert.Equal(t, 1, h.seen("tools/call"))
	})
	t.Run("in steps, polling", func(t *testing.T) {
		h, c := serve(t, func(a *asking) { a.stream("id: e0\nretry: 1\ndata: \n\n") }, func(a *asking, n int, answer string) {
			assert.Equal(t, fmt.Sprint("e", n-1), a.r.Header.Get("Last-Event-ID"))
			if n < 4 {
				a.stream(fmt.Sprintf("id: e%d\n\n", n))
				return
			}
			a.stream("data: " + answer)
		})
		works(t, c)
		assert.Equal(t, 4, h.seen("GET"))
	})
	t.Run("after failures", func(t *testing.T) {
		h, c := serve(t, func(a *asking) { a.stream("id: e1\n\n") }, func(a *asking, n int, answer string) {
			switch n {
			case 1:
				a.status(503, "text/plain", "busy")
			case 2:
				a.cut()
			default:
				a.stream("data: " + answer + "\n\n")
			}
		})
		works(t, c)
		assert.Equal(t, 3, h.seen("GET"))
	})
	t.Run("an event that was cut does not count", func(t *testing.T) {
		_, c := serve(t, func(a *asking) {
			a.stream("id: e1\ndata: \n\nid: e2\ndata: {\"jsonrpc\"")
			a.cut()
		}, func(a *asking, _ int, answer string) {
			assert.Equal(t, "e1", a.r.Header.Get("Last-Event-ID"))
			a.stream("id: e2\ndata: " + answer + "\n\n")
		})
		works(t, c)
	})
	for _, status := range []int{404, 405, 401, 200} {
		t.Run(fmt.Sprint("refused with ", status), func(t *testing.T) {
			h, c := serve(t, func(a *asking) {
				if string(a.Params.Arguments) == "{}" {
					a.stream("id: e1\n\n")
					return
				}
				a.pass()
			}, func(a *asking, _ int, _ string) { a.status(status, "text/plain", "no") })
			_, err := call(t, c, `{}`)
			assert.ErrorContains(t, err, fmt.Sprintf("resuming the stream: the server answered %d", status))
			assert.ErrorContains(t, err, "; the tool may have run")
			assert.Equal(t, 1, h.seen("GET"))
			assert.NoError(t, c.Err())
			works(t, c)
		})
	}
	t.Run("in vain", func(t *testing.T) {
		h, c := serve(t, func(a *asking) { a.stream("id: e1\n\n") }, func(a *asking, _ int, _ string) { a.cut() })
		_, err := call(t, c, `{}`)
		assert.ErrorContains(t, err, "giving up")
		assert.ErrorContains(t, err, "; the tool may have run")
		assert.GreaterOrEqual(t, h.seen("GET"), 5) // net/http may repeat a GET by itself
		assert.Equal(t, 1, h.seen("tools/call"))
	})
	t.Run("until the context ends", func(t *testing.T) {
		_, c := serve(t, func(a *asking) { a.stream("id: e1\nretry: 3600000\n\n") }, func(a *asking, _ int, _ string) {})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := c.Tools()[0].Handler(ctx, nil)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
	t.Run("the official SDK", func(t *testing.T) {
		s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, nil)
		sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, r *sdk.CallToolRequest, in echoArguments) (*sdk.CallToolResult, any, error) {
			r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo: " + in.Text}}}, nil, nil
		})
		h := newWeb(t)
		official := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)})
		h.Config.Handler = official
		c := connect(t, h.server())
		result, err := call(t, c, `{"text":"hi"}`)
		require.NoError(t, err)
		assert.Equal(t, "echo: hi", result.Content)
	})
}

// A stream that stays open after its answer costs no goroutine and no
// connection beyond a moment.
func TestHTTPStreamsThatStayOpen(t *testing.T) {
	h := newWeb(t)
	var open sync.WaitGroup
	h.on["tools/call"] = func(a *asking) {
		open.Add(1)
		defer open.Done()
		a.stream("data: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n\n")
		<-a.r.Context().Done()
	}
	c := connect(t, h.server())
	before := runtime.NumGoroutine()
	var calls sync.WaitGroup
	for range 100 {
		calls.Go(func() { works(t, c) })
	}
	calls.Wait()
	open.Wait() // the servers see their streams end, though no context did
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+6 }, slack, time.Millisecond)
	works(t, c)
}

// Calls one after the other share one network connection, whatever form the
// answers have.
func TestHTTPConnectionsAreUsedAgain(t *testing.T) {
	for _, stream := range []bool{false, true} {
		h := unstarted()
		var opened atomic.Int32
		h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
		h.Start()
		if stream {
			h.on["tools/call"] = func(a *asking) {
				a.stream("data: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n\n")
			}
		}
		c := connect(t, h.server())
		for range 20 {
			works(t, c)
		}
		if stream { // its end may come after the next call begins
			assert.Less(t, opened.Load(), int32(15))
		} else {
			assert.EqualValues(t, 1, opened.Load())
		}
		require.NoError(t, c.Close())
		h.Close()
	}
}

func TestHTTPClose(t *testing.T) {
	t.Run("with calls in flight", func(t *testing.T) {
		for _, how := range []string{"silent", "streaming"} {
			h := newWeb(t)
			var began sync.WaitGroup
			began.Add(10)
			h.on["tools/call"] = func(a *asking) {
				if how == "streaming" {
					a.stream(": hi\n\n")
				}
				began.Done()
				<-a.r.Context().Done()
			}
			c := connect(t, h.server())
			var calls sync.WaitGroup
			for range 10 {
				calls.Go(func() {
					_, err := c.Tools()[0].Handler(context.Background(), nil)
					assert.EqualError(t, err, `mcp server "test": calling tool "echo": the connection is closed`)
				})
			}
			began.Wait()
			require.NoError(t, c.Close()) // which would wait for ever for the calls
			calls.Wait()
			methods := h.methods()
			assert.Equal(t, "DELETE", methods[len(methods)-1])
			assert.Equal(t, 10, h.seen("notifications/cancelled"))
			assert.Empty(t, h.sessions)
			_, err := c.Tools()[0].Handler(context.Background(), nil)
			assert.ErrorIs(t, err, mcp.ErrNotSent)
			assert.NoError(t, c.Err())
			<-c.Done()
		}
	})
	t.Run("a DELETE that hangs", func(t *testing.T) {
		h := newWeb(t)
		h.on["DELETE"] = func(a *asking) { <-a.r.Context().Done() }
		c := connect(t, h.server())
		start := time.Now()
		require.NoError(t, c.Close())
		assert.Greater(t, time.Since(start), 400*time.Millisecond) // the server gets half a second, and would take for ever
	})
	t.Run("a server that is gone", func(t *testing.T) {
		h := newWeb(t)
		c := connect(t, h.server())
		h.Close()
		require.NoError(t, c.Close())
	})
	t.Run("while a session is renewed", func(t *testing.T) {
		h := newWeb(t)
		c := connect(t, h.server())
		h.forgetAll()
		began := make(chan struct{})
		h.now("notifications/initialized", func(a *asking) {
			close(began)
			<-a.r.Context().Done()
		})
		failed := make(chan error)
		go func() {
			_, err := c.Tools()[0].Handler(context.Background(), nil)
			failed <- err
		}()
		<-began
		require.NoError(t, c.Close())
		assert.ErrorContains(t, <-failed, "the connection is closed")
		assert.Empty(t, h.sessions) // the session that was to be is ended, too
	})
	t.Run("the official SDK with handlers at work", func(t *testing.T) {
		s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, nil)
		began := make(chan struct{})
		sdk.AddTool(s, &sdk.Tool{Name: "wait"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ any) (*sdk.CallToolResult, any, error) {
			close(began)
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})
		h := newWeb(t)
		h.Config.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
		c := connect(t, h.server())
		go c.Tools()[0].Handler(context.Background(), nil)
		<-began
		start := time.Now()
		require.NoError(t, c.Close())
		assert.Less(t, time.Since(start), 30*time.Second) // the SDK's server would wait for its handler
	})
	t.Run("a failed start ends its session", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/list"] = func(a *asking) { a.status(500, "text/plain", "boom") }
		refuses(t, h.server())
		assert.Equal(t, 1, h.seen("DELETE"))
	})
}

func TestHTTPHundredConnections(t *testing.T) {
	h := newWeb(t)
	mcptest.NoLeaks(t)
	for range 100 {
		c, err := mcp.Connect(t.Context(), h.server())
		require.NoError(t, err)
		works(t, c)
		require.NoError(t, c.Close())
	}
	assert.Equal(t, 100, h.seen("DELETE"))
}

func TestHTTPLimits(t *testing.T) {
	peak := func(t *testing.T, run func()) {
		t.Helper()
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		before, highest := memory.HeapAlloc, uint64(0)
		done, measured := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(measured)
			for {
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
					runtime.ReadMemStats(&memory)
					highest = max(highest, memory.HeapAlloc)
				}
			}
		}()
		run()
		close(done)
		<-measured
		assert.Less(t, int64(highest)-int64(before), int64(200<<20))
	}
	block := strings.Repeat("x", 1<<20)
	blocks := func(w io.Writer, n int) {
		for range n {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	}
	// A gzip file may have any number of members.
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	io.WriteString(z, block)
	z.Close()
	bomb := func(w http.ResponseWriter) {
		w.Header().Set("Content-Encoding", "gzip")
		for range 400 {
			if _, err := w.Write(member.Bytes()); err != nil {
				return
			}
		}
	}
	for _, test := range []struct {
		name string
		play func(*asking)
		want string
	}{
		{"400 MiB", func(a *asking) {
			a.w.Header().Set("Content-Type", "application/json")
			blocks(a.w, 400)
		}, "the server's answer is longer than allowed: 67108864 bytes; the tool may have run"},
		{"400 MiB as claimed", func(a *asking) {
			a.w.Header().Set("Content-Type", "application/json")
			a.w.Header().Set("Content-Length", fmt.Sprint(400<<20))
			blocks(a.w, 400)
		}, "the server's answer is longer than allowed: 67108864 bytes; the tool may have run"},
		{"an event of 400 MiB", func(a *asking) {
			a.stream("id: 1\n\ndata: ")
			blocks(a.w, 400)
		}, "the server's answer is longer than allowed: 67108864 bytes; the tool may have run"},
		{"an event of many lines", func(a *asking) {
			a.stream("data: x\n")
			for range 400 {
				io.WriteString(a.w, "data: ")
				io.WriteString(a.w, block)
				io.WriteString(a.w, "\n")
			}
		}, "the server's answer is longer than allowed: 67108864 bytes; the tool may have run"},
		{"a gzip bomb", func(a *asking) {
			a.w.Header().Set("Content-Type", "application/json")
			bomb(a.w)
		}, "the server's answer is longer than allowed: 67108864 bytes; the tool may have run"},
		{"a gzip bomb in a stream", func(a *asking) {
			a.w.Header().Set("Content-Type", "text/event-stream")
			bomb(a.w)
		}, "the server's answer is longer than allowed: 67108864 bytes; the tool may have run"},
		{"a gzip bomb as an error", func(a *asking) {
			a.w.Header().Set("Content-Type", "text/plain")
			a.w.Header().Set("Content-Encoding", "gzip")
			a.w.WriteHeader(500)
			bomb(a.w)
		}, "the server answered 500 Internal Server Error: " + block[:512] + "…; the tool may have run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			h.on["tools/call"] = func(a *asking) {
				if h.seen("tools/call") > 1 {
					a.pass()
					return
				}
				test.play(a)
			}
			c := connect(t, h.server())
			peak(t, func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := c.Tools()[0].Handler(ctx, nil)
				assert.EqualError(t, err, `mcp server "test": calling tool "echo": `+test.want)
			})
			works(t, c)
		})
	}
}

// Tools may want arguments repeated in headers (x-mcp-header).
func TestHTTPParameterHeaders(t *testing.T) {
	schema := `{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"count":{"type":"integer","x-mcp-header":"Count"},
		"dry":{"type":"boolean","x-mcp-header":"Dry"},
		"deep":{"type":"object","properties":{"id":{"type":"string","x-mcp-header":"Deep-ID"}}},
		"other":{"type":"string"}}}`
	bad := func(name, property string) string {
		return `,{"name":"` + name + `","inputSchema":{"type":"object","properties":` + property + `}}`
	}
	h := newWeb(t)
	h.on["server/discover"] = func(a *asking) { a.result(discovered) }
	h.tools = `[{"name":"echo","inputSchema":` + schema + `}` +
		bad("array", `{"a":{"type":"array","x-mcp-header":"A"}}`) +
		bad("fraction", `{"a":{"type":"number","x-mcp-header":"A"}}`) +
		bad("empty", `{"a":{"type":"string","x-mcp-header":""}}`) +
		bad("space", `{"a":{"type":"string","x-mcp-header":"A B"}}`) +
		bad("number", `{"a":{"type":"string","x-mcp-header":1}}`) +
		bad("twice", `{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}`) + `]`
	var got atomic.Pointer[http.Header]
	h.on["tools/call"] = func(a *asking) {
		header := a.r.Header.Clone()
		got.Store(&header)
		a.pass()
	}
	c := connect(t, h.server())
	require.Len(t, c.Tools(), 1)
	assert.Equal(t, []string{
		`dropped tool "array": its property "a" has an x-mcp-header but is not a string, integer or boolean`,
		`dropped tool "fraction": its property "a" has an x-mcp-header but is not a string, integer or boolean`,
		`dropped tool "empty": the x-mcp-header of its property "a" is not a header name`,
		`dropped tool "space": the x-mcp-header of its property "a" is not a header name`,
		`dropped tool "number": the x-mcp-header of its property "a" is not a header name`,
		`dropped tool "twice": two of its properties have the x-mcp-header "a"`,
	}, c.Warnings())
	for _, test := range []struct {
		arguments string
		want      map[string]string
	}{
		{`{"region":"eu-1","count":3,"dry":true,"deep":{"id":"x y"},"other":"no"}`, map[string]string{"Region": "eu-1", "Count": "3", "Dry": "true", "Deep-Id": "x y"}},
		{`{"region":"münchen","count":1e3,"dry":false}`, map[string]string{"Region": "=?base64?bcO8bmNoZW4=?=", "Count": "1000", "Dry": "false"}},
		{`{"region":" x ","count":2.0}`, map[string]string{"Region": "=?base64?IHgg?=", "Count": "2"}},
		{`{"region":"=?base64?eA==?="}`, map[string]string{"Region": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="}},
		{`{"region":"a\r\nX-Evil: 1"}`, map[string]string{"Region": "=?base64?YQ0KWC1FdmlsOiAx?="}},
		{`{"region":null,"deep":{}}`, map[string]string{}},
		{``, map[string]string{}},
	} {
		_, err := call(t, c, test.arguments)
		require.NoError(t, err)
		repeated := map[string]string{}
		for name, values := range *got.Load() {
			if param, ok := strings.CutPrefix(name, "Mcp-Param-"); ok {
				repeated[param] = values[0]
			}
		}
		assert.Equal(t, test.want, repeated, test.arguments)
	}
	t.Run("the official SDK", func(t *testing.T) {
		s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, nil)
		s.AddTool(&sdk.Tool{Name: "where", InputSchema: map[string]any{"type": "object", "properties": map[string]any{
			"region": map[string]any{"type": "string", "x-mcp-header": "Region"},
		}}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(r.Params.Arguments)}}}, nil
		})
		h := newWeb(t)
		h.Config.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
		c := connect(t, h.server())
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				for range 10 {
					assert.NoError(t, c.RefreshTools(t.Context()))
				}
			})
			work.Go(func() {
				for range 10 {
					result, err := call(t, c, `{"region":"eu ü"}`)
					assert.NoError(t, err)
					assert.Equal(t, mcp.ToolResult{Content: `{"region":"eu ü"}`}, said(result))
				}
			})
		}
		work.Wait()
	})
	t.Run("older versions have none", func(t *testing.T) {
		h := newWeb(t)
		h.tools = `[{"name":"echo","inputSchema":{"type":"object","properties":{"a":{"type":"array","x-mcp-header":"A"}}}}]`
		h.on["tools/call"] = func(a *asking) {
			assert.NotContains(t, a.r.Header, "Mcp-Param-A")
			a.pass()
		}
		works(t, connect(t, h.server()))
	})
}

// A server may say how long its list stays the same: nothing is asked before.
func TestHTTPListsThatStayTheSame(t *testing.T) {
	for _, test := range []struct {
		name, members, discovered string
		lists                     int
	}{
		{"an hour", `"ttlMs":3600000,`, discovered, 1},
		{"more than a year", `"ttlMs":99999999999999,`, discovered, 1},
		{"a text", `"ttlMs":"3600000",`, discovered, 1},
		{"no time", `"ttlMs":0,`, discovered, 2},
		{"less than no time", `"ttlMs":-5,`, discovered, 2},
		{"nonsense", `"ttlMs":"soon",`, discovered, 2},
		{"nothing", ``, discovered, 2},
		{"an older version", `"ttlMs":3600000,`, "", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			if test.discovered != "" {
				h.on["server/discover"] = func(a *asking) { a.result(test.discovered) }
			}
			h.on["tools/list"] = func(a *asking) {
				a.result(`{"resultType":"complete",` + test.members + `"tools":` + h.tools + `}`)
			}
			c := connect(t, h.server())
			h.tools = `[]`
			require.NoError(t, c.RefreshTools(t.Context()))
			assert.Len(t, c.Tools(), 2-test.lists)
			assert.Equal(t, test.lists, h.seen("tools/list"))
		})
	}
}

// A server that expects other arguments in the headers has not read the call:
// the tools are listed anew, and the call is sent once more.
func TestHTTPHeaderMismatch(t *testing.T) {
	const mismatch = -32020
	tools := func(header string) string {
		return `[{"name":"echo","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"` + header + `"}}}}]`
	}
	h := newWeb(t)
	h.on["server/discover"] = func(a *asking) { a.result(discovered) }
	h.on["tools/list"] = func(a *asking) {
		a.result(`{"resultType":"complete","ttlMs":3600000,"tools":` + h.tools + `}`)
	}
	h.tools = tools("Old")
	var wanted atomic.Pointer[string]
	want := func(header string) { wanted.Store(&header) }
	h.on["tools/call"] = func(a *asking) {
		if a.r.Header.Get("Mcp-Param-"+*wanted.Load()) == "" {
			a.status(400, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"header mismatch"}}`, a.ID, mismatch))
			return
		}
		a.pass()
	}
	want("Old")
	c := connect(t, h.server())
	tool := c.Tools()[0]
	_, err := tool.Handler(t.Context(), []byte(`{"a":"x"}`))
	require.NoError(t, err)

	h.tools = tools("New")
	want("New")
	result, err := tool.Handler(t.Context(), []byte(`{"a":"x"}`))
	require.NoError(t, err)
	assert.Equal(t, `{"a":"x"}`, result.Content)
	assert.Equal(t, 2, h.seen("tools/list"))
	assert.Equal(t, 3, h.seen("tools/call"))
	<-c.ToolsChanged()

	want("Other") // the list does not say so: nothing would change
	result, err = tool.Handler(t.Context(), []byte(`{"a":"x"}`))
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.Contains(t, result.Content, "header mismatch (code -32020)")
	assert.Equal(t, 5, h.seen("tools/call"), "the old tool and the new one")
}
