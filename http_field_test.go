package mcp_test

// This file has what servers and what stands before them do in the field:
// balancers with cookies, wrong labels, streams that end with words.

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// Replicas with sessions of their own, behind a balancer that is sticky by
// cookie: each connection stays with one of them.
func TestHTTPCookies(t *testing.T) {
	for _, attributes := range []string{"; Path=/", "", "; Path=/; HttpOnly; SameSite=Lax; Max-Age=3600"} {
		var replicas [3]*web
		for i := range replicas {
			replicas[i] = newWeb(t)
		}
		var turn atomic.Int64
		balancer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := int(turn.Add(1)) % len(replicas)
			if cookie, err := r.Cookie("AWSALB"); err == nil {
				fmt.Sscanf(cookie.Value, "replica-value-%d", &n)
			}
			assert.Equal(t, "mine=1", strings.Split(r.Header.Get("Cookie"), "; ")[0], "what is configured stays")
			http.SetCookie(w, &http.Cookie{Name: "dummy", Value: "x"})
			w.Header().Add("Set-Cookie", fmt.Sprintf("AWSALB=replica-value-%d%s", n, attributes))
			replicas[n].ServeHTTP(w, r)
		}))
		t.Cleanup(balancer.Close)
		server := mcp.Server{Name: "test", URL: balancer.URL + "/mcp", Headers: map[string]string{"Cookie": "mine=1"}}
		c := connect(t, server)
		for range 10 {
			works(t, c)
		}
		sessions, calls := 0, 0
		for _, replica := range replicas {
			sessions += replica.seen("initialize")
			calls += replica.seen("tools/call")
		}
		assert.Equal(t, 1, sessions)
		assert.Equal(t, 10, calls)
	}
}

// Cookies go back where they came from alone, are bounded, and are not printed.
func TestHTTPCookieBounds(t *testing.T) {
	h := newWeb(t)
	var got atomic.Value
	h.on["tools/call"] = func(a *asking) {
		got.Store(a.r.Header.Get("Cookie"))
		for i := range 200 {
			a.w.Header().Add("Set-Cookie", fmt.Sprintf("n%d-%d=cookie-secret", h.seen("tools/call"), i))
		}
		a.w.Header().Add("Set-Cookie", "big="+strings.Repeat("x", 5000))
		a.w.Header().Add("Set-Cookie", "far=away; Domain=example.test")
		a.w.Header().Add("Set-Cookie", "secure=only; Secure")
		a.status(500, "text/plain", "your cookie is cookie-secret")
	}
	c := connect(t, h.server())
	for range 4 {
		_, err := call(t, c, `{}`)
		assert.ErrorContains(t, err, "500 Internal Server Error: your cookie is [masked]")
	}
	cookie := got.Load().(string)
	assert.Equal(t, 50, strings.Count(cookie, "="))
	for _, other := range []string{"big", "far", "secure"} {
		assert.NotContains(t, cookie, other+"=")
	}
	assert.NotContains(t, fmt.Sprintf("%+v %#v", c, c), "cookie-secret")
}

// The right answer is one under any label.
func TestHTTPWrongLabels(t *testing.T) {
	for _, test := range []struct {
		name        string
		status      int
		contentType string
		body        string
	}{
		{"text", 200, "text/plain; charset=utf-8", "$MSG"},
		{"none", 200, "", "$MSG"},
		{"page", 200, "text/html", "\n $MSG"},
		{"bytes", 200, "application/octet-stream", "$MSG"},
		{"two types", 200, "application/json, text/event-stream", "$MSG"},
		{"two types, a stream", 200, "application/json, text/event-stream", "event: message\ndata: $MSG\n\n"},
		{"accepted", 202, "application/json", "$MSG"},
		{"accepted, no type", 202, "", "$MSG"},
		{"accepted, a stream", 202, "text/event-stream", "data: $MSG\n\n"},
		{"created", 201, "application/json", "$MSG"},
		{"a stream as JSON", 200, "application/json", "data: $MSG\n\n"},
		{"a stream as JSON, with more", 200, "application/json", ": hi\n\nid: 1\nevent: message\ndata: $MSG\n\n"},
		{"a stream as text", 200, "text/plain", "data: $MSG\n\n"},
		{"JSON as a stream", 200, "text/event-stream", "$MSG"},
		{"JSON as a stream, with a line end", 200, "text/event-stream", "$MSG\n"},
		{"JSON as a stream, on several lines", 200, "text/event-stream", "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n  \"result\": $RESULT\n}\n"},
		{"a batch as a stream", 200, "text/event-stream", "[$MSG]"},
		{"lines of JSON as a stream", 200, "text/event-stream", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n$MSG\n"},
		{"JSON among events", 200, "text/event-stream", ": hi\n\n$MSG\n\n"},
		{"other text before", 200, "text/event-stream", "[INFO] starting\ndata: $MSG\n\n"},
		{"an error of the server", 200, "text/plain", `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"broken"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			answer := func(result func(*asking) string) func(*asking) {
				return func(a *asking) {
					if a.ID == nil {
						a.pass()
						return
					}
					a.w.Header().Set("Mcp-Session-Id", "one")
					a.status(test.status, test.contentType, strings.NewReplacer("$ID", string(a.ID), "$MSG", a.answer(result(a)), "$RESULT", result(a)).Replace(test.body))
				}
			}
			h.sessions["one"] = true
			h.on["tools/call"] = answer(func(a *asking) string { return mcptest.Text(string(a.Params.Arguments)) })
			if test.name != "an error of the server" {
				h.on["initialize"] = answer(func(a *asking) string {
					return `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}`
				})
				h.on["tools/list"] = answer(func(*asking) string { return `{"tools":` + h.tools + `}` })
			}
			c := connect(t, h.server())
			if test.name == "an error of the server" {
				result, err := call(t, c, `{}`)
				require.NoError(t, err)
				assert.Equal(t, "[error] broken (code -32603)", result.Content)
				return
			}
			works(t, c)
			works(t, c)
			assert.Equal(t, 2, h.seen("tools/call"))
		})
	}
	t.Run("a stream as JSON that stays open", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.json("data: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n\n")
			a.w.(http.Flusher).Flush()
			<-a.r.Context().Done()
		}
		works(t, connect(t, h.server()))
	})
	t.Run("a handler in plain Go", func(t *testing.T) {
		h := newWeb(t)
		plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorded := httptest.NewRecorder()
			h.ServeHTTP(recorded, r)
			if id := recorded.Header().Get("Mcp-Session-Id"); id != "" {
				w.Header().Set("Mcp-Session-Id", id)
			}
			w.Write(recorded.Body.Bytes()) // net/http says text/plain, and 200
		}))
		t.Cleanup(plain.Close)
		works(t, connect(t, mcp.Server{Name: "test", URL: plain.URL}))
	})
}

// What a server says in a stream besides messages is in the error.
func TestHTTPLastWords(t *testing.T) {
	for body, want := range map[string]string{
		": hi\n\nevent: error\ndata: upstream sk-secret-1 failed\n\n":          "the stream ended without the answer: error: upstream [masked] failed",
		"event: error\ndata: {\"error\":{\"message\":\"quota exceeded\"}}\n\n": "the stream ended without the answer: error: quota exceeded",
		"event: close\n\n": "the stream ended without the answer: close",
		"event: ping\ndata: 1\n\nevent: close\ndata: shutting down\n\n":           "the stream ended without the answer: close: shutting down",
		": hi\n\nupstream connect error, reset reason: connection\ntermination\n": "the stream ended without the answer: upstream connect error, reset reason: connection termination",
		"Internal Server Error":                       "the stream ended without the answer: Internal Server Error",
		"{\"detail\":\"overloaded\"}":                 "the stream ended without the answer: overloaded",
		"data: worker crashed\n\n":                    "the stream ended without the answer: worker crashed",
		"<html>\x1b[31m" + strings.Repeat("x", 1<<20): "the stream ended without the answer: <html>",
		"event: ping\ndata: 2026-01-01T00:00:00Z\n\n": "the stream ended without the answer",
	} {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) { a.stream(body) }
		server := h.server()
		server.BearerToken = "sk-secret-1"
		c := connect(t, server)
		_, err := call(t, c, `{}`)
		if strings.HasPrefix(body, "<html>") {
			assert.ErrorContains(t, err, want)
			assert.Less(t, len(err.Error()), 1000)
			continue
		}
		assert.EqualError(t, err, `mcp server "test": calling tool "echo": `+want+"; the tool may have run")
	}
}

func TestHTTPContentEncodings(t *testing.T) {
	var deflated bytes.Buffer
	z, _ := flate.NewWriter(&deflated, 9)
	z.Write([]byte(`{"jsonrpc":"2.0"}`))
	z.Close()
	for _, encoding := range []string{"br", "deflate", "zstd", "x-gzip", "compress"} {
		for _, status := range []int{200, 500} {
			h := newWeb(t)
			h.on["tools/call"] = func(a *asking) {
				a.w.Header().Set("Content-Encoding", encoding)
				a.status(status, "application/json", deflated.String())
			}
			_, err := call(t, connect(t, h.server()), `{}`)
			assert.ErrorContains(t, err, fmt.Sprintf("the server answered %d ", status))
			assert.ErrorContains(t, err, "with the content encoding "+encoding+", which was not asked for")
		}
		// A proxy that has decoded the body may leave the header.
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.w.Header().Set("Content-Encoding", encoding)
			a.pass()
		}
		works(t, connect(t, h.server()))
	}
	h := newWeb(t)
	h.on["tools/call"] = func(a *asking) {
		a.w.Header().Set("Content-Encoding", "gzip")
		a.pass()
	}
	_, err := call(t, connect(t, h.server()), `{}`)
	assert.ErrorContains(t, err, "gzip")
}

// A server that waits for the answer to its own request, and refuses it, would
// wait for ever.
func TestHTTPRepliesThatAreRefused(t *testing.T) {
	serve := func(t *testing.T, then func(a *asking, refused <-chan struct{})) *mcp.Connection {
		h := newWeb(t)
		refused := make(chan struct{}, 1)
		h.on["reply"] = func(a *asking) {
			a.status(400, "text/plain", "no reply wanted")
			refused <- struct{}{}
		}
		h.on["tools/call"] = func(a *asking) {
			a.stream("data: {\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"elicitation/create\"}\n\n")
			then(a, refused)
		}
		return connect(t, h.server())
	}
	t.Run("silence", func(t *testing.T) {
		c := serve(t, func(a *asking, _ <-chan struct{}) { <-a.r.Context().Done() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it takes three seconds
		defer cancel()
		_, err := c.Tools()[0].Handler(ctx, nil)
		assert.EqualError(t, err, `mcp server "test": calling tool "echo": the server does not take the answer to its own request elicitation/create: the server answered 400 Bad Request: no reply wanted; the tool may have run`)
		assert.NotErrorIs(t, err, mcp.ErrNotSent)
	})
	t.Run("the server goes on", func(t *testing.T) {
		c := serve(t, func(a *asking, refused <-chan struct{}) {
			<-refused
			a.stream("data: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n\n")
		})
		works(t, c)
	})
}

// A report in the stream of a call is a sign of its life, whatever its token.
func TestHTTPReportsWithOtherTokens(t *testing.T) {
	t.Run("of nobody", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			token, _, _ := strings.Cut(string(a.Params.Arguments)[len(`{"token":`):], "}")
			// In all twice as long as the server may be silent.
			for i := range 20 {
				a.stream(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{%s\"progress\":%d}}\n\n", map[string]string{
					"1": `"progressToken":"made-up",`, "2": `"progressToken":` + string(a.ID) + `,`, "3": `"progressToken":null,`, "4": `"progressToken":[{}],`, "5": "",
				}[token], i))
				time.Sleep(100 * time.Millisecond)
			}
			a.stream("data: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n\n")
		}
		server := h.server()
		server.CallTimeout = time.Second
		c := connect(t, server)
		var calls sync.WaitGroup
		for token := range 5 {
			calls.Go(func() {
				_, err := call(t, c, fmt.Sprintf(`{"token":%d}`, token+1))
				assert.NoError(t, err, token)
			})
		}
		calls.Wait()
	})
	// One whose token another call has is of that call.
	t.Run("of another call", func(t *testing.T) {
		h := newWeb(t)
		tokens := make(chan string, 1)
		h.on["tools/call"] = func(a *asking) {
			if string(a.Params.Arguments) == `{"n":1}` {
				_, token, _ := strings.Cut(a.Raw, `"progressToken":`)
				token, _, _ = strings.Cut(token, "}")
				tokens <- token
				a.stream(": open\n\n")
				<-a.r.Context().Done()
				return
			}
			a.stream("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":" + <-tokens + ",\"progress\":7}}\n\n")
			a.stream("data: " + a.answer(mcptest.Text("{}")) + "\n\n")
		}
		c := connect(t, h.server())
		var reports sync.Map
		got := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		follow := func(ctx context.Context, name string) context.Context {
			return mcp.WithProgress(ctx, func(p mcp.Progress) {
				reports.Store(name, p.Done)
				close(got)
			})
		}
		var calls sync.WaitGroup
		calls.Go(func() { c.Tools()[0].Handler(follow(ctx, "one"), []byte(`{"n":1}`)) })
		_, err := c.Tools()[0].Handler(follow(t.Context(), "two"), []byte(`{"n":2}`))
		require.NoError(t, err)
		<-got
		cancel()
		calls.Wait()
		_, two := reports.Load("two")
		assert.False(t, two)
		one, _ := reports.Load("one")
		assert.EqualValues(t, 7, one)
	})
}

// A text that the challenge and the body have is said once.
func TestHTTPSaidOnce(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{`{"error":"invalid_token","error_description":"The token expired"}`, "The token expired"},
		{"The token expired", "The token expired"},
		{"", "The token expired"},
		{"Sorry: The token expired, log in again", "Sorry: The token expired, log in again"},
		{"expired", "The token expired"},
		{"other words", "The token expired: other words"},
	} {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", error_description="The token expired"`)
			a.status(401, "text/plain", test.body)
		}
		_, err := call(t, connect(t, h.server()), `{}`)
		assert.EqualError(t, err, `mcp server "test": calling tool "echo": the server answered 401 Unauthorized (sent without a credential): `+test.want)
	}
}
