package mcp_test

// This file has the stream that belongs to no request, which some servers send
// progress on.

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func tokenOf(a *asking) string {
	_, token, _ := strings.Cut(a.Raw, `"progressToken":`)
	return token[:strings.IndexAny(token, ",}")]
}

// Progress on the stream beside the calls keeps them alive, and is reported. The
// server is asked and answered there, too.
func TestHTTPProgressBesideTheCall(t *testing.T) {
	h := newWeb(t)
	tokens, listening, heard, replied := make(chan string, 1), make(chan struct{}, 8), make(chan struct{}), make(chan string, 1)
	h.on["tools/call"] = func(a *asking) {
		tokens <- tokenOf(a)
		<-listening
		<-heard
		a.pass()
	}
	h.on["reply"] = func(a *asking) {
		replied <- a.Raw
		a.pass()
	}
	var gone sync.WaitGroup
	h.on["GET"] = func(a *asking) {
		assert.Equal(t, "session-1", a.r.Header.Get("Mcp-Session-Id"))
		assert.Empty(t, a.r.Header.Values("Last-Event-Id"))
		gone.Add(1)
		defer gone.Done()
		a.stream(": open\n\n")
		token := <-tokens
		listening <- struct{}{}
		a.stream("data: {\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"roots/list\"}\n\n")
		// In all twice as long as the server may be silent.
		for i := range 20 {
			a.stream(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":%d}}\n\n", token, i+1))
			time.Sleep(100 * time.Millisecond)
		}
		heard <- struct{}{}
		<-a.r.Context().Done()
	}
	server := h.server()
	server.CallTimeout = time.Second
	c := connect(t, server)
	var last float64
	ctx := mcp.WithProgress(t.Context(), func(p mcp.Progress) { last = p.Done })
	result, err := c.Tools()[0].Handler(ctx, []byte(`{"a":1}`))
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, result.Content)
	assert.EqualValues(t, 20, last)
	assert.Equal(t, `{"jsonrpc":"2.0","id":"s1","error":{"code":-32601,"message":"this client does not support roots/list"}}`, <-replied)
	gone.Wait() // the stream ends with the call that it was for
	assert.Equal(t, 1, h.seen("GET"))
}

// A server without that stream is asked for it once, and one whose stream brings
// nothing a few times.
func TestHTTPNoStreamBesideTheCall(t *testing.T) {
	for _, test := range []struct {
		name string
		play func(*asking)
		most int
	}{
		{"405", func(a *asking) { a.status(405, "", "") }, 1},
		{"404", func(a *asking) { a.status(404, "", "") }, 1},
		{"400", func(a *asking) { a.status(400, "text/plain", "No sessionId") }, 1},
		{"401", func(a *asking) { a.status(401, "", "") }, 1},
		{"JSON", func(a *asking) { a.json("{}") }, 1},
		{"500", func(a *asking) { a.status(500, "", "") }, 5},
		{"a stream that ends at once", func(a *asking) { a.stream("") }, 5},
		{"a cut", func(a *asking) { a.cut() }, 10}, // net/http may repeat a GET by itself
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			h.on["GET"] = test.play
			h.on["tools/call"] = func(a *asking) {
				if string(a.Params.Arguments) == `{"slow":true}` {
					for h.seen("GET") < 1 {
						time.Sleep(time.Millisecond)
					}
					time.Sleep(500 * time.Millisecond)
				}
				a.pass()
			}
			server := h.server()
			server.CallTimeout = time.Minute
			c := connect(t, server)
			works(t, c)
			for range 2 {
				_, err := call(t, c, `{"slow":true}`)
				require.NoError(t, err)
			}
			assert.GreaterOrEqual(t, h.seen("GET"), 1)
			assert.LessOrEqual(t, h.seen("GET"), test.most)
			assert.Equal(t, 1, h.seen("initialize"))
		})
	}
	t.Run("calls that nobody follows", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			time.Sleep(400 * time.Millisecond) // longer than a stream is waited with
			a.pass()
		}
		works(t, connect(t, h.server()))
		assert.Equal(t, 0, h.seen("GET"))
	})
}

// An answer that comes on that stream is one.
func TestHTTPAnswerBesideTheCall(t *testing.T) {
	h := newWeb(t)
	answers := make(chan string, 1)
	h.on["tools/call"] = func(a *asking) {
		answers <- a.answer(mcptest.Text(string(a.Params.Arguments)))
		a.w.(http.Flusher).Flush()
		<-a.r.Context().Done()
	}
	h.on["GET"] = func(a *asking) { a.stream("data: " + <-answers + "\n\n") }
	server := h.server()
	server.CallTimeout = time.Minute
	works(t, connect(t, server))
}
