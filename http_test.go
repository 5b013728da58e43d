package mcp_test

// This file has the scripted HTTP server, the official servers, and what may
// come as the answer to a call.

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// A web is a scripted server of Streamable HTTP with sessions. It begins with
// initialize, answers JSON, and has the tool echo.
type web struct {
	*httptest.Server
	tools    string                   // a JSON array
	version  string                   // that initialize answers with; empty means the one asked for
	stateful bool                     // it gives session ids
	on       map[string]func(*asking) // by JSON-RPC method, or HTTP method where there is none

	mu       sync.Mutex
	sessions map[string]bool
	count    int      // of sessions
	log      []string // methods, in order
}

// An asking is one request to a web.
type asking struct {
	*web
	mcptest.Request
	w       http.ResponseWriter
	r       *http.Request
	handled bool
}

func newWeb(t testing.TB) *web {
	h := unstarted()
	h.Start()
	t.Cleanup(h.Close)
	return h
}

func unstarted() *web {
	h := &web{
		tools:    `[{"name":"echo","description":"echoes","inputSchema":{"type":"object","properties":{}}}]`,
		stateful: true,
		on:       map[string]func(*asking){},
		sessions: map[string]bool{},
	}
	h.Server = httptest.NewUnstartedServer(h)
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	return h
}

func (h *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &asking{web: h, w: w, r: r}
	what := r.Method
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &a.Request); err != nil {
			http.Error(w, "not JSON", http.StatusBadRequest)
			return
		}
		a.Raw = string(body)
		if what = a.Method; what == "" {
			what = "reply"
		}
	}
	id := r.Header.Get("Mcp-Session-Id")
	h.mu.Lock()
	h.log = append(h.log, what)
	known := id == "" || h.sessions[id]
	handle := h.on[what]
	h.mu.Unlock()
	if handle != nil {
		a.handled = true
		if handle(a); a.handled {
			return
		}
	}
	switch {
	case !known:
		a.status(http.StatusNotFound, "text/plain", "session not found")
	case what == "initialize":
		if h.stateful {
			h.mu.Lock()
			h.count++
			id := "session-" + strconv.Itoa(h.count)
			h.sessions[id] = true
			h.mu.Unlock()
			w.Header().Set("Mcp-Session-Id", id)
		}
		version := h.version
		if version == "" {
			version = a.Params.ProtocolVersion
		}
		a.result(`{"protocolVersion":"` + version + `","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}`)
	case what == "tools/list":
		a.result(`{"tools":` + h.tools + `}`)
	case what == "tools/call":
		a.result(mcptest.Text(string(a.Params.Arguments)))
	case what == http.MethodDelete:
		h.forget(id)
		w.WriteHeader(http.StatusNoContent)
	case what == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case a.ID == nil || what == "reply":
		w.WriteHeader(http.StatusAccepted)
	default:
		a.json(`{"jsonrpc":"2.0","id":` + string(a.ID) + `,"error":{"code":-32601,"message":"Method not found"}}`)
	}
}

// pass leaves the request to the default.
func (a *asking) pass() { a.handled = false }

func (a *asking) status(status int, contentType, body string) {
	if contentType != "" {
		a.w.Header().Set("Content-Type", contentType)
	} else {
		a.w.Header()["Content-Type"] = nil
	}
	a.w.WriteHeader(status)
	io.WriteString(a.w, body)
}

func (a *asking) json(body string) { a.status(200, "application/json", body) }

// answer is the whole JSON-RPC answer with a result.
func (a *asking) answer(result string) string {
	return `{"jsonrpc":"2.0","id":` + string(a.ID) + `,"result":` + result + `}`
}

func (a *asking) result(result string) { a.json(a.answer(result)) }

// stream writes a part of an event stream.
func (a *asking) stream(part string) {
	a.w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(a.w, part)
	a.w.(http.Flusher).Flush()
}

// cut breaks the connection.
func (a *asking) cut() { panic(http.ErrAbortHandler) }

func (h *web) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, id)
}

// forgetAll makes the server forget its sessions, as a restart does.
func (h *web) forgetAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.sessions)
}

// now changes what the server does while it runs; nil leaves it to the default.
func (h *web) now(method string, play func(*asking)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on[method] = play
}

// seen returns how many requests with a method came.
func (h *web) seen(method string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.log {
		if m == method {
			n++
		}
	}
	return n
}

func (h *web) methods() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.log...)
}

func (h *web) server() mcp.Server { return mcp.Server{Name: "test", URL: h.URL} }

// works calls the first tool and expects an echo.
func works(t testing.TB, c *mcp.Connection) {
	t.Helper()
	result, err := call(t, c, `{"a":1}`)
	require.NoError(t, err)
	assert.Equal(t, mcp.ToolResult{Content: `{"a":1}`}, said(result))
}

// refuses connects and expects an error.
func refuses(t testing.TB, server mcp.Server) error {
	t.Helper()
	mcptest.NoLeaks(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*slack)
	defer cancel()
	c, err := mcp.Connect(ctx, server)
	if !assert.Error(t, err) {
		c.Close()
		t.FailNow()
	}
	isFitToShow(t, err)
	return err
}

type echoArguments struct {
	Text string `json:"text"`
}

// officialServer is a server of the official SDK with the tool echo.
func officialServer(t testing.TB, server *sdk.ServerOptions, options *sdk.StreamableHTTPOptions) *httptest.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, server)
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoArguments) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo: " + in.Text}}}, nil, nil
	})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, options))
	t.Cleanup(h.Close)
	return h
}

func TestOfficialServers(t *testing.T) {
	legacy := &sdk.ServerOptions{SupportedProtocolVersions: []string{"2025-06-18", "2025-03-26"}}
	for _, test := range []struct {
		name    string
		server  *sdk.ServerOptions
		options *sdk.StreamableHTTPOptions
	}{
		{"stateful", nil, nil},
		{"stateless", nil, &sdk.StreamableHTTPOptions{Stateless: true}},
		{"JSON", nil, &sdk.StreamableHTTPOptions{JSONResponse: true}},
		{"stateless JSON", nil, &sdk.StreamableHTTPOptions{JSONResponse: true, Stateless: true}},
		{"stateful, old versions", legacy, nil},
		{"stateless, old versions", legacy, &sdk.StreamableHTTPOptions{Stateless: true}},
		{"JSON, old versions", legacy, &sdk.StreamableHTTPOptions{JSONResponse: true}},
		{"only the newest version", &sdk.ServerOptions{SupportedProtocolVersions: []string{"2026-07-28"}}, &sdk.StreamableHTTPOptions{Stateless: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := officialServer(t, test.server, test.options)
			c := connect(t, mcp.Server{Name: "test", URL: h.URL})
			result, err := call(t, c, `{"text":"hi"}`)
			require.NoError(t, err)
			assert.Equal(t, mcp.ToolResult{Content: "echo: hi"}, said(result))
			require.NoError(t, c.RefreshTools(t.Context()))
			assert.Empty(t, c.Warnings())
		})
	}
}

func TestHTTPExchanges(t *testing.T) {
	h := newWeb(t)
	var headers []http.Header
	for _, method := range []string{"initialize", "notifications/initialized", "tools/list", "tools/call", "DELETE"} {
		h.on[method] = func(a *asking) {
			headers = append(headers, a.r.Header.Clone())
			a.pass()
		}
	}
	server := h.server()
	server.BearerToken = "the-token"
	server.Headers = map[string]string{"x-tenant": "blue"}
	c := connect(t, server)
	works(t, c)
	require.NoError(t, c.Close())
	assert.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call", "DELETE"}, h.methods())
	for i, header := range headers {
		assert.Equal(t, "Bearer the-token", header.Get("Authorization"))
		assert.Equal(t, "blue", header.Get("X-Tenant"))
		if i == 0 {
			assert.Empty(t, header.Get("Mcp-Session-Id"))
			assert.Empty(t, header.Get("Mcp-Protocol-Version"))
		} else {
			assert.Equal(t, "session-1", header.Get("Mcp-Session-Id"))
			assert.Equal(t, "2025-11-25", header.Get("Mcp-Protocol-Version"))
		}
		if i < 4 {
			assert.Equal(t, "application/json", header.Get("Content-Type"))
			assert.Equal(t, "application/json, text/event-stream", header.Get("Accept"))
		}
		assert.NotContains(t, header, "Mcp-Method")
	}
}

// gzipped writes a body compressed.
func gzipped(w http.ResponseWriter, contentType string, write func(io.Writer)) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	write(z)
	z.Close()
}

func TestHTTPLegalAnswers(t *testing.T) {
	// $ID, $MSG and $HALF stand for parts of the answer.
	const json, events = "application/json", "text/event-stream"
	for _, test := range []struct{ name, contentType, body string }{
		{"charset", "application/json; charset=utf-8", "$MSG"},
		{"upper case", "Application/JSON;Charset=UTF-8", "$MSG"},
		{"broken parameters", "application/json; ;=", "$MSG"},
		{"white space", json, " \r\n$MSG\n"},
		{"byte-order mark", json, "\ufeff$MSG"},
		{"batch", json, `[{"jsonrpc":"2.0","method":"notifications/message","params":{}},$MSG]`},
		{"id as a string", json, `{"jsonrpc":"2.0","id":"$ID","result":$RESULT}`},
		{"id as a fraction", json, `{"jsonrpc":"2.0","id":$ID.0,"result":$RESULT}`},
		{"no version", json, `{"id":$ID,"result":$RESULT}`},
		{"error that is null", json, `{"jsonrpc":"2.0","id":$ID,"error":null,"result":$RESULT}`},
		{"error that is empty", json, `{"jsonrpc":"2.0","id":$ID,"error":{},"result":$RESULT}`},
		{"method that is null", json, `{"jsonrpc":"2.0","id":$ID,"method":null,"result":$RESULT}`},
		{"method that is echoed", json, `{"jsonrpc":"2.0","id":$ID,"method":"tools/call","result":$RESULT}`},
		{"two messages", json, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n$MSG"},
		{"two messages in an event", events, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}$MSG\n\n"},
		{"two messages in an event, on two lines", events, "data: $MSG\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n"},
		{"byte-order mark in an event", events, "data: \ufeff$MSG\n\n"},
		{"event", events, "event: message\ndata: $MSG\n\n"},
		{"event stream in upper case", "Text/Event-Stream; charset=utf-8", "data: $MSG\n\n"},
		{"comment", events, ": ping\n\ndata: $MSG\n\n"},
		{"empty data", events, "event: ping\ndata: \n\nevent: message\ndata: $MSG\n\n"},
		{"other event", events, "event: ping\ndata: 2026-01-01T00:00:00Z\n\ndata: $MSG\n\n"},
		{"CR LF", events, ": x\r\nid: 1\r\ndata: $MSG\r\n\r\n"},
		{"CR", events, ": x\rid: 1\rdata: $MSG\r\r"},
		{"two lines", events, "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":$ID,\"result\":$RESULT}\n\n"},
		{"two lines, CR LF", events, "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":$ID,\"result\":$RESULT}\r\n\r\n"},
		{"no space", events, "data:$MSG\n\n"},
		{"id after the data", events, "data: $MSG\nid: 7\n\n"},
		{"no blank line at the end", events, "data: $MSG\n"},
		{"no line end at all", events, "data: $MSG"},
		{"byte-order mark before events", events, "\ufeffdata: $MSG\n\n"},
		{"line without a colon", events, "data\nhello\n\ndata: $MSG\n\n"},
		{"batch in an event", events, "data: [$MSG]\n\n"},
		{"other answers", events, "data: {\"jsonrpc\":\"2.0\",\"id\":9999,\"result\":{}}\n\ndata: $MSG\n\ndata: $MSG\n\n"},
		{"notifications", events, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"chatty\",\"data\":1}}\n\n" +
			"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/elicitation/complete\"}\n\ndata: $MSG\n\n"},
		{"id as a string in an event", events, "data: {\"jsonrpc\":\"2.0\",\"id\":\"$ID\",\"result\":$RESULT}\n\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			h.on["tools/call"] = func(a *asking) {
				result := mcptest.Text(string(a.Params.Arguments))
				a.status(200, test.contentType, strings.NewReplacer("$ID", string(a.ID), "$MSG", a.answer(result), "$RESULT", result).Replace(test.body))
			}
			c := connect(t, h.server())
			works(t, c)
			works(t, c)
			assert.Empty(t, c.Warnings())
			assert.Equal(t, 2, h.seen("tools/call"))
		})
	}
	t.Run("a stream that stays open after a message without a blank line", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.stream("data: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n")
			<-a.r.Context().Done()
		}
		works(t, connect(t, h.server()))
	})
	t.Run("a gzipped answer", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			gzipped(a.w, "application/json", func(w io.Writer) {
				io.WriteString(w, a.answer(mcptest.Text(string(a.Params.Arguments))))
			})
		}
		works(t, connect(t, h.server()))
	})
	t.Run("junk between the events", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.stream("data: ping from sk-secret-1\n\ndata: {\"level\":\"info\"}\n\ndata: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n\n")
		}
		server := h.server()
		server.BearerToken = "sk-secret-1"
		c := connect(t, server)
		works(t, c)
		assert.Equal(t, []string{`skipped 2 events of streams that are not JSON-RPC messages, the first: "ping from [masked]"`}, c.Warnings())
	})
	t.Run("a junk line of 10 MiB", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.stream(strings.Repeat("x", 10<<20) + "\n\ndata: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n\n")
		}
		works(t, connect(t, h.server()))
	})
	t.Run("large answers", func(t *testing.T) {
		for _, kind := range []string{"json", "chunked json", "stream", "stream of two lines"} {
			t.Run(kind, func(t *testing.T) {
				h := newWeb(t)
				text := strings.Repeat("0123456789abcdef", 1<<16)
				h.on["tools/call"] = func(a *asking) {
					answer := a.answer(mcptest.Text(text))
					switch kind {
					case "json":
						a.w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
						a.json(answer)
					case "chunked json":
						a.json(answer)
					case "stream":
						a.stream("data: " + answer + "\n\n")
					default:
						a.stream("data: " + strings.Replace(answer, ",", ",\ndata: ", 1) + "\n\n")
					}
				}
				c := connect(t, h.server())
				for range 3 {
					result, err := call(t, c, `{}`)
					require.NoError(t, err)
					require.Equal(t, text, result.Content)
				}
			})
		}
	})
}

func TestHTTPWrongAnswers(t *testing.T) {
	long := strings.Repeat("Ä ", 400)
	for _, test := range []struct {
		name        string
		status      int
		contentType string
		body        string
		want        string
	}{
		{"accepted", 202, "", "", "the server answered 202 Accepted, which is not an answer to a request"},
		{"no content", 204, "", "", "the server answered 204 No Content, which is not an answer to a request"},
		{"page", 200, "text/html; charset=utf-8", "<!doctype html>\n<title>Sign\tin\x1b[0m</title>", "the server answered 200 OK with the content type text/html; charset=utf-8: <!doctype html> <title>Sign in</title>"},
		{"plain text", 200, "text/plain", "OK", "the server answered 200 OK with the content type text/plain: OK"},
		{"no type", 200, "", "{}", "the server answered 200 OK without a content type: {}"},
		{"no body", 200, "application/json", "", "the server answered 200 OK with an empty body"},
		{"no JSON", 200, "application/json", "<html>Maintenance</html>", "the server answered 200 OK with what is not a JSON-RPC message: <html>Maintenance</html>"},
		{"no JSON-RPC", 200, "application/json", `{"status":"ok"}`, `the server answered 200 OK with what is not a JSON-RPC message: {"status":"ok"}`},
		{"two messages", 200, "application/json", `{"jsonrpc":"2.0","id":99,"result":{}}{"a":1}`, `the server answered 200 OK with what is not a JSON-RPC message: {"jsonrpc":"2.0","id":99,"result":{}}{"a":1}`},
		{"another answer", 200, "application/json", `{"jsonrpc":"2.0","id":99,"result":{}}`, `the server answered 200 OK with the answer to another request: {"jsonrpc":"2.0","id":99,"result":{}}`},
		{"message", 200, "application/json", `{"message":"quota\nexceeded"}`, "the server answered 200 OK with what is not a JSON-RPC message: quota exceeded"},
		{"msg", 500, "application/json", `{"code":7,"msg":"boom"}`, "the server answered 500 Internal Server Error: boom"},
		{"error", 502, "application/json", `{"error":"bad upstream"}`, "the server answered 502 Bad Gateway: bad upstream"},
		{"error object", 500, "application/json", `{"error":{"message":"deep"}}`, "the server answered 500 Internal Server Error: deep"},
		{"error description", 400, "application/json", `{"error":"invalid_request","error_description":"no such tenant"}`, "the server answered 400 Bad Request: no such tenant"},
		{"JSON-RPC error without an id", 400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"bad header"}}`, "the server answered 400 Bad Request: bad header"},
		{"unknown status", 520, "text/html", "<h1>Web server is returning an unknown error</h1>", "the server answered 520: <h1>Web server is returning an unknown error</h1>"},
		{"binary", 500, "application/octet-stream", "\x00\x01\x02", "the server answered 500 Internal Server Error"},
		{"long", 413, "text/plain", long, "the server answered 413 Request Entity Too Large: " + strings.Repeat("Ä ", 170) + "Ä…"},
		{"secret", 500, "text/plain", "token sk-secret-1 and key q-secret-2 and blue-secret", "the server answered 500 Internal Server Error: token [masked] and key [masked] and [masked]"},
		{"401", 401, "text/plain", "", "the server answered 401 Unauthorized (sent with the bearer token): The token expired"},
		{"403", 403, "application/json", `{"error":"insufficient_scope"}`, "the server answered 403 Forbidden (sent with the bearer token): The token expired: insufficient_scope"},
		{"429", 429, "text/plain", "slow down", "the server answered 429 Too Many Requests, to be tried again after 7 s: slow down"},
		{"503", 503, "text/plain", "unknown session", "the server answered 503 Service Unavailable, to be tried again after 7 s: unknown session"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			wrong := true
			h.on["tools/call"] = func(a *asking) {
				if !wrong {
					a.pass()
					return
				}
				a.w.Header().Set("Retry-After", "7")
				a.w.Header().Set("WWW-Authenticate", `Bearer realm="x", error="invalid_token", error_description="The token expired"`)
				a.status(test.status, test.contentType, test.body)
			}
			server := h.server()
			server.URL += "/mcp?key=q-secret-2"
			server.BearerToken = "sk-secret-1"
			server.Headers = map[string]string{"X-Tenant": "blue-secret"}
			c := connect(t, server)
			_, err := call(t, c, `{}`)
			if !slices.Contains([]int{401, 403, 413, 429}, test.status) { // given for the head of a request
				test.want += "; the tool may have run"
			}
			assert.EqualError(t, err, `mcp server "test": calling tool "echo": `+test.want)
			assert.NotErrorIs(t, err, mcp.ErrNotSent)
			var status *mcp.HTTPError
			if assert.ErrorAs(t, err, &status) {
				assert.Equal(t, test.status, status.StatusCode)
				assert.NotContains(t, status.Body, "secret-")
				if test.name == "page" {
					assert.Equal(t, strings.ReplaceAll(test.body, "\x1b[0m", ""), status.Body)
				}
			}
			wrong = false
			works(t, c)
			assert.Equal(t, 2, h.seen("tools/call"))
			assert.Equal(t, 1, h.seen("initialize"))
		})
	}
	t.Run("headers", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			for name, values := range map[string][]string{
				"Retry-After": {"Wed, 21 Oct 2026 07:28:00 GMT"}, "X-RateLimit-Remaining": {"0"}, "X-Request-ID": {"r-1"},
				"WWW-Authenticate": {`Bearer error="invalid_token", error_description="sk-secret-1 is old"`, "Basic"},
				"Set-Cookie":       {"session=cookie-secret"}, "Mcp-Session-Id": {"session-secret"}, "Authorization": {"sk-secret-1"},
				"Allow": {strings.Repeat("GET,", 10_000)}, "Request-Id": slices.Repeat([]string{"x"}, 100),
			} {
				for _, value := range values {
					a.w.Header().Add(name, value)
				}
			}
			a.status(429, "text/plain", "")
		}
		server := h.server()
		server.BearerToken = "sk-secret-1"
		_, err := call(t, connect(t, server), `{}`)
		var status *mcp.HTTPError
		require.ErrorAs(t, err, &status)
		assert.Equal(t, "Wed, 21 Oct 2026 07:28:00 GMT", status.Header.Get("Retry-After"))
		assert.Equal(t, "0", status.Header.Get("X-RateLimit-Remaining"))
		assert.Equal(t, "r-1", status.Header.Get("X-Request-ID"))
		assert.Equal(t, []string{`Bearer error="invalid_token", error_description="[masked] is old"`, "Basic"}, status.Header.Values("WWW-Authenticate"))
		assert.Equal(t, "text/plain", status.Header.Get("Content-Type"))
		assert.NotContains(t, fmt.Sprint(status.Header), "secret")
		assert.Less(t, len(status.Header.Get("Allow")), 1100)
		assert.Len(t, status.Header.Values("Request-Id"), 8)
	})
	t.Run("a test's own", func(t *testing.T) {
		for want, err := range map[string]*mcp.HTTPError{
			"the server answered 503 Service Unavailable":          {StatusCode: 503},
			"the server answered 503 Service Unavailable: not now": {StatusCode: 503, Body: "\n not\u00a0now\n"},
			"the server answered 520: a b":                         {StatusCode: 520, Body: "a\r\n\tb"},
		} {
			assert.EqualError(t, err, want)
		}
	})
	t.Run("a body of an error that never ends", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			if h.seen("tools/call") > 1 {
				a.pass()
				return
			}
			a.w.Header().Set("Content-Encoding", "identity")
			a.status(500, "text/plain", "and so on")
			a.w.(http.Flusher).Flush()
			<-a.r.Context().Done()
		}
		c := connect(t, h.server())
		_, err := call(t, c, `{}`)
		assert.EqualError(t, err, `mcp server "test": calling tool "echo": the server answered 500 Internal Server Error: and so on; the tool may have run`)
		works(t, c)
	})
	t.Run("a gzipped body of an error that never ends", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.w.WriteHeader(500)
			gzipped(a.w, "text/plain", func(w io.Writer) {
				io.WriteString(w, "and so on")
				w.(*gzip.Writer).Flush()
				a.w.(http.Flusher).Flush()
				<-a.r.Context().Done()
			})
		}
		_, err := call(t, connect(t, h.server()), `{}`)
		assert.ErrorContains(t, err, "500 Internal Server Error")
	})
	t.Run("an error of 1 MiB keeps 64 KiB", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) { a.status(500, "text/plain", strings.Repeat("x", 1<<20)) }
		_, err := call(t, connect(t, h.server()), `{}`)
		var status *mcp.HTTPError
		require.ErrorAs(t, err, &status)
		assert.Len(t, status.Body, 64<<10)
	})
	t.Run("a JSON-RPC error with a status of its own is the answer", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.status(400, "application/json", `{"jsonrpc":"2.0","id":`+string(a.ID)+`,"error":{"code":-32602,"message":"no such tool"}}`)
		}
		result, err := call(t, connect(t, h.server()), `{}`)
		require.NoError(t, err)
		assert.Equal(t, mcp.ToolResult{Content: "[error] no such tool (code -32602)", IsError: true}, said(result))
	})
	t.Run("a JSON-RPC error without an id is the answer", func(t *testing.T) {
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			a.json(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"broken"}}`)
		}
		result, err := call(t, connect(t, h.server()), `{}`)
		require.NoError(t, err)
		assert.Equal(t, mcp.ToolResult{Content: "[error] broken (code -32603)", IsError: true}, said(result))
	})
}

// A call that breaks off in the middle may have run, and is not sent again.
func TestHTTPBrokenAnswers(t *testing.T) {
	for _, test := range []struct {
		name string
		play func(*asking)
		want string
	}{
		{"a truncated body", func(a *asking) {
			a.w.Header().Set("Content-Length", "1000")
			a.json(`{"jsonrpc":`)
		}, "reading the answer: unexpected EOF; the tool may have run"},
		{"a truncated chunked body", func(a *asking) {
			a.w.Header().Set("Content-Type", "application/json")
			io.WriteString(a.w, `{"jsonrpc":`)
			a.w.(http.Flusher).Flush()
			a.cut()
		}, "reading the answer: unexpected EOF; the tool may have run"},
		{"a stream that ends", func(a *asking) { a.stream(": hi\n\n") }, "the stream ended without the answer; the tool may have run"},
		{"a stream that breaks", func(a *asking) {
			a.stream(": hi\n\n")
			a.cut()
		}, "unexpected EOF; the tool may have run"},
		{"no answer at all", func(a *asking) { a.cut() }, "EOF; the tool may have run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			h.on["tools/call"] = func(a *asking) {
				if h.seen("tools/call") != 2 {
					a.pass()
					return
				}
				test.play(a)
			}
			c := connect(t, h.server())
			works(t, c) // so that the connection is one that was used before
			_, err := call(t, c, `{}`)
			assert.EqualError(t, err, `mcp server "test": calling tool "echo": `+test.want)
			assert.NotErrorIs(t, err, mcp.ErrNotSent)
			assert.NotErrorIs(t, err, mcp.ErrServerStopped)
			works(t, c)
			assert.Equal(t, 3, h.seen("tools/call"))
		})
	}
}

// What the server asks in a stream is answered while the call goes on.
func TestHTTPServerRequests(t *testing.T) {
	h := newWeb(t)
	replies := make(chan string, 4)
	h.on["reply"] = func(a *asking) {
		replies <- a.Raw
		a.pass()
	}
	h.on["tools/call"] = func(a *asking) {
		for i, method := range []string{"ping", "roots/list", "sampling/createMessage", "vendor/x"} {
			a.stream(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":\"s%d\",\"method\":%q}\n\n", i, method))
		}
		var got []string
		for range 4 {
			got = append(got, <-replies)
		}
		assert.ElementsMatch(t, []string{
			`{"jsonrpc":"2.0","id":"s0","result":{}}`,
			`{"jsonrpc":"2.0","id":"s1","error":{"code":-32601,"message":"this client does not support roots/list"}}`,
			`{"jsonrpc":"2.0","id":"s2","error":{"code":-32601,"message":"this client does not support sampling/createMessage"}}`,
			`{"jsonrpc":"2.0","id":"s3","error":{"code":-32601,"message":"this client does not support vendor/x"}}`,
		}, got)
		a.stream("data: " + a.answer(mcptest.Text(string(a.Params.Arguments))) + "\n\n")
	}
	works(t, connect(t, h.server()))
}

func TestHTTPCancellation(t *testing.T) {
	h := newWeb(t)
	began := make(chan struct{})
	h.on["tools/call"] = func(a *asking) {
		if h.seen("tools/call") > 1 {
			a.pass()
			return
		}
		close(began)
		<-a.r.Context().Done()
	}
	cancelled := make(chan string, 1)
	h.on["notifications/cancelled"] = func(a *asking) {
		cancelled <- a.Raw
		a.pass()
	}
	c := connect(t, h.server())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	_, err := c.Tools()[0].Handler(ctx, nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, mcp.ErrNotSent)
	assert.Contains(t, <-cancelled, `"method":"notifications/cancelled"`)
	works(t, c)
}
