package mcp_test

// This file has answers after which a tool has run, or may have: the call is not
// sent again, and nobody says that it was not sent.

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestHTTPToolsRunOnce(t *testing.T) {
	const (
		json   = "application/json"
		failed = `"error":{"code":-32000,"message":"customer 7 not found"}}`
		result = "[error] customer 7 not found (code -32000)"
	)
	for _, test := range []struct {
		name        string
		status      int
		contentType string
		body        string
		want        string // a result
		err         string
	}{
		// The tool's own words.
		{"400, checkout", 400, json, `{"error":"The checkout session has expired"}`, "", "400 Bad Request: The checkout session has expired"},
		{"400, field", 400, json, `{"detail":"session_id is required"}`, "", "400 Bad Request: session_id is required"},
		{"400, date", 400, json, `{"error":"tool failed: invalid session_date"}`, "", "400 Bad Request: tool failed: invalid session_date"},
		{"400, plain", 400, "text/plain", "no valid session", "", "400 Bad Request: no valid session"},
		{"400, no words of an SDK", 400, json, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"The session is not valid"}}`, "", "400 Bad Request: The session is not valid"},
		{"400, another code", 400, json, `{"jsonrpc":"2.0","id":null,"error":{"code":-32007,"message":"Session not found"}}`, "", "400 Bad Request: Session not found"},
		{"410", 410, "text/plain", "The offer is gone", "", "410 Gone: The offer is gone"},
		{"410, no body", 410, "", "", "", "410 Gone"},
		{"400, version", 400, "text/plain", "the device speaks protocol version 2024-11-05", "", "400 Bad Request: the device speaks protocol version 2024-11-05"},
		{"400, version in JSON", 400, json, `{"message":"use protocolVersion 2025-06-18"}`, "", "400 Bad Request: use protocolVersion 2025-06-18"},
		{"400, words like those about the version", 400, json, `{"error":"Bad Request: Unsupported protocol version of the modem 2025-03-26"}`, "", "400 Bad Request"},
		// A tool that has begun.
		{"404, behind a notice", 404, json, `[{"jsonrpc":"2.0","method":"notifications/message"}]`, "", "404 Not Found"},
		{"404, behind progress", 404, "text/event-stream", `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$ID,"progress":1}}` + "\n\n", "", "404 Not Found"},
		{"200, behind progress", 200, "text/event-stream", `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$ID,"progress":1}}` + "\n\n" +
			`data: {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session terminated"}}` + "\n\n", "[error] Session terminated (code -32600)", ""},
		// The answer, perhaps.
		{"404, in a string", 404, json, `"{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-32000,\"message\":\"customer 7 not found\"}}"`, "", "404 Not Found"},
		{"404, in an object", 404, json, `{"data":{"jsonrpc":"2.0","id":$ID,` + failed + `}`, "", "404 Not Found"},
		{"404, compressed twice", 404, json, "\x1f\x8b\x08\x00\x00", "", "404 Not Found"},
		{"404 that breaks off before the id", 404, json, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"cust`, "", "404 Not Found"},
		{"404 that breaks off", 404, json, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"cust`, "", "404 Not Found"},
		// The call's own id.
		{"400, the call's id", 400, json, `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"404, the call's id", 404, json, `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"404, a result", 404, json, `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"a"}]}}`, "a", ""},
		{"404, the id as a text", 404, json, `{"jsonrpc":"2.0","id":"$ID",` + failed, result, ""},
		{"404, the id at the end", 404, json, `{"jsonrpc":"2.0",` + failed[:len(failed)-1] + `,"id":$ID}`, result, ""},
		{"404, in a batch", 404, json, `[{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":$ID,` + failed + `]`, result, ""},
		{"404, behind another", 404, json, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n{\"jsonrpc\":\"2.0\",\"id\":$ID," + failed, result, ""},
		{"404, without a type", 404, "", "\ufeff \n" + `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"404, in a page", 404, "text/html", `<pre>{"jsonrpc":"2.0","id":$ID,` + failed + `</pre>`, result, ""},
		{"404, as an event", 404, "text/event-stream", `data: {"jsonrpc":"2.0","id":$ID,` + failed + "\n\n", result, ""},
		{"404, as an event of another type", 404, json, `event: message` + "\n" + `data: {"jsonrpc":"2.0","id":$ID,` + failed + "\n\n", result, ""},
		{"404, long", 404, json, `{"jsonrpc":"2.0","x":"` + strings.Repeat("x", 1<<20) + `","id":$ID,` + failed, result, ""},
		{"404, words of an SDK", 404, json, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"Session not found"}}`, "[error] Session not found (code -32600)", ""},
		{"200, words of an SDK", 200, json, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"Session not found"}}`, "[error] Session not found (code -32001)", ""},
		{"400, words about the version", 400, json, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: 2025-06-18)"}}`, "[error] Bad Request: Unsupported protocol version (supported versions: 2025-06-18) (code -32000)", ""},
		{"410, the call's id", 410, json, `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"401, the call's id", 401, json, `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"429, the call's id", 429, json, `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"503, the call's id", 503, json, `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"307, the call's id", 307, json, `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"302, the call's id", 302, json, `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
		{"500, the call's id", 500, "text/plain", `{"jsonrpc":"2.0","id":$ID,` + failed, result, ""},
	} {
		for _, stateful := range []bool{true, false} {
			if test.status == 410 && !stateful && test.err != "" {
				continue // ends the connection: see TestHTTPEnds
			}
			t.Run(test.name+map[bool]string{true: "", false: ", no session"}[stateful], func(t *testing.T) {
				h := newWeb(t)
				h.stateful = stateful
				c := connect(t, h.server())
				h.now("tools/call", func(a *asking) {
					if test.status/100 == 3 {
						a.w.Header().Set("Location", "/elsewhere")
					}
					a.status(test.status, test.contentType, strings.ReplaceAll(test.body, "$ID", string(a.ID)))
				})
				got, err := call(t, c, `{}`)
				if test.err != "" {
					assert.ErrorContains(t, err, test.err)
					assert.NotErrorIs(t, err, mcp.ErrNotSent)
				} else if assert.NoError(t, err) {
					assert.Equal(t, test.want, got.Content)
					assert.Equal(t, test.want == result || strings.HasPrefix(test.want, "[error]"), got.IsError)
				}
				assert.Equal(t, 1, h.seen("tools/call"))
				h.now("tools/call", nil)
				works(t, c)
				assert.Equal(t, 2, h.seen("tools/call"))
			})
		}
	}
	t.Run("a body that breaks off behind its message", func(t *testing.T) {
		h := newWeb(t)
		c := connect(t, h.server())
		h.now("tools/call", func(a *asking) {
			a.w.Header().Set("Content-Length", "5000")
			a.status(404, "application/json", `{"jsonrpc":"2.0","id":`+string(a.ID)+`,`+failed)
		})
		got, err := call(t, c, `{}`)
		require.NoError(t, err)
		assert.Equal(t, mcp.ToolResult{Content: result, IsError: true}, got)
		assert.Equal(t, 1, h.seen("tools/call"))
	})
	t.Run("a body that takes its time", func(t *testing.T) {
		for _, status := range []int{404, 400, 500} {
			h := newWeb(t)
			c := connect(t, h.server())
			h.now("tools/call", func(a *asking) {
				pieces := []string{"", " ", `{"jsonrpc":"2.0",`, `"id":` + string(a.ID) + `,` + failed}
				a.w.WriteHeader(status)
				for _, piece := range pieces {
					a.w.Write([]byte(piece))
					a.w.(http.Flusher).Flush()
					time.Sleep(400 * time.Millisecond) // in all more than what is not an answer may take
				}
			})
			got, err := call(t, c, `{}`)
			require.NoError(t, err)
			assert.Equal(t, mcp.ToolResult{Content: result, IsError: true}, said(got))
			assert.Equal(t, 1, h.seen("tools/call"))
			assert.Equal(t, 1, h.seen("initialize"))
		}
	})
	t.Run("a page that takes its time", func(t *testing.T) {
		for _, status := range []int{404, 307} {
			h := newWeb(t)
			c := connect(t, h.server())
			h.now("tools/call", func(a *asking) {
				a.w.Header().Set("Location", "/elsewhere")
				a.w.WriteHeader(status)
				for _, piece := range []string{"<html>", " ", `{"jsonrpc":"2.0","id":` + string(a.ID) + `,` + failed} {
					a.w.Write([]byte(piece))
					a.w.(http.Flusher).Flush()
					select {
					case <-time.After(700 * time.Millisecond): // in all more than a page may take
					case <-a.r.Context().Done():
					}
				}
			})
			_, err := call(t, c, `{}`)
			assert.ErrorContains(t, err, "; the tool may have run")
			assert.NotErrorIs(t, err, mcp.ErrNotSent)
			assert.Equal(t, 1, h.seen("tools/call"))
		}
	})
}

// A refusal that cannot be told from a tool's own words costs its call. The next
// one finds out whether the session is there.
func TestHTTPSessionInDoubt(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
	}{
		{"410", 410, "gone"},
		{"own words", 400, `{"error":"Session abc is unknown or has expired"}`},
		{"404 with the call's id", 404, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"no such session"}}`},
		{"404 with the call's id and the words of an SDK", 404, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"Session not found"}}`},
		{"200 with the words of an SDK", 200, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"Session not found"}}`},
		{"200 with the words of a proxy", 200, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"Session terminated"}}`},
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
				a.status(test.status, "application/json", strings.ReplaceAll(test.body, "$ID", string(a.ID)))
			}
			for _, method := range []string{"tools/call", "tools/list", "ping"} {
				h.on[method] = refuse
			}
			c := connect(t, h.server())
			for i := range 2 {
				h.forgetAll()
				got, err := call(t, c, `{}`)
				assert.True(t, err != nil || got.IsError)
				assert.NotErrorIs(t, err, mcp.ErrNotSent)
				works(t, c)
				assert.Equal(t, 2*i+2, h.seen("tools/call"))
				assert.Equal(t, i+2, h.seen("initialize"))
			}
			// A list may be asked for again.
			h.forgetAll()
			require.NoError(t, c.RefreshTools(t.Context()))
			works(t, c)
			assert.Equal(t, 4, h.seen("initialize"))
		})
	}
	t.Run("a session that is there after all", func(t *testing.T) {
		h := newWeb(t)
		c := connect(t, h.server())
		for range 3 {
			h.now("tools/call", func(a *asking) { a.status(410, "text/plain", "The offer is gone") })
			_, err := call(t, c, `{}`)
			assert.ErrorContains(t, err, "The offer is gone")
			h.now("tools/call", nil)
			works(t, c)
		}
		assert.Equal(t, 1, h.seen("initialize"))
		assert.Equal(t, 3, h.seen("ping"))
	})
}

// An Authorizer is not asked about a refusal that is the answer to the call.
func TestHTTPToolsRunOnceWithAnAuthorizer(t *testing.T) {
	h := newWeb(t)
	h.on["tools/call"] = func(a *asking) {
		a.w.Header().Set("WWW-Authenticate", "Bearer")
		a.status(401, "application/json", `{"jsonrpc":"2.0","id":`+string(a.ID)+`,"error":{"code":-32000,"message":"the customer is not logged in"}}`)
	}
	server := h.server()
	server.Auth = authorizer{refused: func(*http.Response) (bool, error) { return true, nil }}
	result, err := call(t, connect(t, server), `{}`)
	require.NoError(t, err)
	assert.Equal(t, "[error] the customer is not logged in (code -32000)", result.Content)
	assert.Equal(t, 1, h.seen("tools/call"))
}

// A tool has run, and then something answers with any status and any body. It
// has run once, unless the server has said that it never looked at the call, and
// an error does not pretend that nothing can have happened.
func TestHTTPToolsRunOnceWhateverComes(t *testing.T) {
	const (
		event  = "text/event-stream"
		failed = `"error":{"code":-32000,"message":"customer 7 not found"}`
		result = "[error] customer 7 not found (code -32000)"
	)
	page := strings.Repeat("<p>not here</p>\n", 10_000) // more than is kept of it
	bodies := []struct {
		name, contentType, body string
		want                    string // content, if it is the answer
		wrapped                 bool   // the answer is in it, in a form that is not read
	}{
		{"none", "", "", "", false},
		{"words", "text/plain", "customer 7 not found", "", false},
		{"words in JSON", "application/json", `{"detail":"no session for this customer"}`, "", false},
		{"page", "text/html", "<html>" + page, "", false},
		{"another's answer", "application/json", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", false},
		{"no id", "application/json", `{"jsonrpc":"2.0","id":null,` + failed + `}`, "", false},
		{"batch without an id", "application/json", `[{"jsonrpc":"2.0","id":null,` + failed + `}]`, "", false},
		{"event without an id", event, `data: {"jsonrpc":"2.0","id":null,` + failed + "}\n\n", "", false},
		{"stream of nothing", event, ": hi\n\n", "", false},
		{"the id", "application/json", `{"jsonrpc":"2.0","id":$ID,` + failed + `}`, result, false},
		{"the id as a text", "application/json", `{"jsonrpc":"2.0","id":"$ID",` + failed + `}`, result, false},
		{"the id as a fraction", "application/json", `{"jsonrpc":"2.0","id":$ID.0,` + failed + `}`, result, false},
		{"the id with an exponent", "text/plain", `{"jsonrpc":"2.0","id":$IDe0,` + failed + `}`, result, false},
		{"batch", "application/json", `[{"jsonrpc":"2.0","id":98,"result":{}},{"jsonrpc":"2.0","id":$ID,` + failed + `}]`, result, false},
		{"event", event, "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":$ID," + failed + "}\r\n\r\n", result, false},
		{"event of another type", "text/html", "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID," + failed + "}\n\n", result, false},
		{"end of a page", "text/html", "<html>" + page + `<script>{"jsonrpc":"2.0","id":$ID,` + failed + `}</script>`, result, false},
		{"end of a stream", event, strings.Repeat(": "+page[:1000]+"\n", 100) + `data: {"jsonrpc":"2.0","id":$ID,` + failed + "}\n\n", result, false},
		{"escaped in a page", "text/html", `<pre>{&quot;jsonrpc&quot;:&quot;2.0&quot;,&quot;id&quot;:$ID}</pre>`, "", true},
		{"escaped in a URL", "text/plain", `error=%7B%22jsonrpc%22%3A%222.0%22%2C%22id%22%3A$ID%7D`, "", true},
		{"escaped in a text", "application/json", `{"message":"{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"message\":\"no\"}}"}`, "", true},
		{"names in capitals", "application/json", `{"JsonRpc":"2.0","Id":$ID,"Error":{"Message":"no"}}`, "", true},
		{"within an event", event, `data: {"error":"{\"jsonrpc\":\"2.0\",\"id\":$ID}"}` + "\n\n", "", true},
	}
	for _, status := range []int{200, 202, 302, 307, 400, 401, 403, 404, 409, 410, 422, 500, 502, 503, 504, 520} {
		for _, stateful := range []bool{true, false} {
			t.Run(fmt.Sprint(status, " ", stateful), func(t *testing.T) {
				h := newWeb(t)
				h.stateful = stateful
				var c *mcp.Connection
				for _, test := range bodies {
					if c == nil || c.Err() != nil {
						c = connect(t, h.server())
					}
					h.now("tools/call", func(a *asking) {
						a.w.Header().Set("Location", "/elsewhere?"+strings.Repeat("x", h.seen("tools/call")%2))
						a.status(status, test.contentType, strings.ReplaceAll(test.body, "$ID", string(a.ID)))
					})
					before := h.seen("tools/call")
					got, err := call(t, c, `{}`)
					ran := h.seen("tools/call") - before
					switch {
					case test.want != "":
						if assert.NoError(t, err, test.name) {
							assert.Equal(t, test.want, got.Content, test.name)
						}
						assert.Equal(t, 1, ran, test.name)
						continue
					case status < 300 && err == nil:
						assert.Contains(t, test.body, `"id":null`) // it can only be this call's
					default:
						assert.ErrorContains(t, err, "; the tool may have run", test.name)
						assert.NotErrorIs(t, err, mcp.ErrNotSent, test.name)
					}
					switch {
					case status == http.StatusNotFound && stateful && !test.wrapped:
						assert.Equal(t, 2, ran, test.name) // as the specification says
					case status == http.StatusTemporaryRedirect && !test.wrapped:
						assert.Equal(t, 6, ran, test.name)
					default:
						assert.Equal(t, 1, ran, test.name)
					}
					h.now("tools/call", nil)
				}
				if c.Err() == nil {
					h.now("tools/call", nil)
					works(t, c)
				}
			})
		}
	}
}
