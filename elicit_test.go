package mcp_test

// This file has servers that ask their user.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
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

func init() {
	// Each call asks with the params in its argument params, as often as its
	// argument times says, and answers with what it got the last time. It asks
	// once more outside of a call if its argument later says so, and tells what
	// it got in the next call that only looks.
	servers["asks its user"] = func(p *mcptest.Peer) {
		type call struct {
			mcptest.Request
			params json.RawMessage
			left   int
		}
		var (
			calls = map[string]*call{}
			last  = "nothing"
			asked int
		)
		p.Tools = `[{"name":"ask","inputSchema":{"type":"object"}}]`
		ask := func(id string, params json.RawMessage) {
			p.Print(`{"jsonrpc":"2.0","id":"` + id + `","method":"elicitation/create","params":` + string(params) + "}\n")
		}
		p.Call = func(r mcptest.Request) {
			var arguments struct {
				Params json.RawMessage
				Times  int
				Later  bool
			}
			json.Unmarshal(r.Params.Arguments, &arguments)
			if arguments.Params == nil {
				p.Reply(r, mcptest.Text(last))
				return
			}
			asked++
			id := "q" + strconv.Itoa(asked)
			if arguments.Later {
				p.Reply(r, mcptest.Text("soon"))
				ask(id, arguments.Params)
				return
			}
			calls[id] = &call{r, arguments.Params, arguments.Times}
			ask(id, arguments.Params)
		}
		p.On[""] = func(r mcptest.Request) { // an answer
			var id string
			json.Unmarshal(r.ID, &id)
			last = string(r.Result) + string(r.Error)
			c := calls[id]
			switch {
			case c == nil:
				p.Print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n") // it has been heard
			case c.left > 1:
				c.left--
				ask(id, c.params)
			default:
				delete(calls, id)
				p.Reply(c.Request, mcptest.Text(last))
			}
		}
		p.Serve()
	}
}

const whoAsks = `{"message":"Who are you?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","default":7}},"required":["name"]}}`

// asked is an Elicit that answers and counts.
type asked struct {
	count  atomic.Int64
	last   atomic.Pointer[mcp.Question]
	answer func(ctx context.Context, q mcp.Question) (json.RawMessage, error)
}

func (a *asked) elicit(ctx context.Context, q mcp.Question) (json.RawMessage, error) {
	a.count.Add(1)
	a.last.Store(&q)
	return a.answer(ctx, q)
}

func says(answer string, err error) *asked {
	return &asked{answer: func(context.Context, mcp.Question) (json.RawMessage, error) { return json.RawMessage(answer), err }}
}

func connectAsked(t *testing.T, a *asked) *mcp.Connection {
	server := stdioServer(t, "asks its user")
	server.Elicit = a.elicit
	return connect(t, server)
}

func TestElicit(t *testing.T) {
	const url = `{"mode":"url","message":"Log in","elicitationId":"1","url":"https://example.test/login?x=1#y"}`
	for _, test := range []struct {
		name, params string
		a            *asked
		want, err    string
	}{
		{"a form", whoAsks, says(`{"name":"Ada"}`, nil), `{"action":"accept","content":{"name":"Ada","age":7}}`, ""},
		{"an address", url, says(``, nil), `{"action":"accept"}`, ""},
		{"declined", whoAsks, says(``, mcp.ErrDeclined), `{"action":"decline"}`, ""},
		{"declined in other words", whoAsks, says(``, fmt.Errorf("no: %w", mcp.ErrDeclined)), `{"action":"decline"}`, ""},
		{"another error", whoAsks, says(``, errors.New("no terminal")), `{"action":"cancel"}`, ""},
		{"an answer that does not fit", whoAsks, says(`{"name":7}`, nil), "", `calling tool "ask": asking the user: the field "name" of the answer is not a text`},
		{"an answer that is not JSON", whoAsks, says(`name=Ada`, nil), "", `calling tool "ask": asking the user: the answer is not a JSON object`},
		{"a form that cannot be shown", `{"message":"x","requestedSchema":{"properties":{"a":{"type":"object"}}}}`, says(``, nil), "",
			`calling tool "ask": asking the user: the field "a" of the requested schema is not of a type that a form has`},
		{"a panic", whoAsks, &asked{answer: func(context.Context, mcp.Question) (json.RawMessage, error) { panic("oh") }}, "",
			`calling tool "ask": asking the user: Server.Elicit panicked: oh`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := connectAsked(t, test.a)
			result, err := call(t, c, `{"params":`+test.params+`}`)
			if test.err != "" {
				assert.EqualError(t, err, `mcp server "test": `+test.err)
				assert.NotErrorIs(t, err, mcp.ErrNotSent)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, result.Content)
			assert.Equal(t, int64(1), test.a.count.Load())
			assert.Empty(t, c.Warnings())
		})
	}
	a := says(`{"name":"Ada"}`, nil)
	c := connectAsked(t, a)
	_, err := call(t, c, `{"params":`+whoAsks+`}`)
	require.NoError(t, err)
	assert.Equal(t, mcp.Question{Server: "test", Tool: "ask", Message: "Who are you?",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","default":7}},"required":["name"]}`)}, *a.last.Load())
	_, err = call(t, c, `{"params":`+url+`}`)
	require.NoError(t, err)
	assert.Equal(t, mcp.Question{Server: "test", Tool: "ask", Message: "Log in", URL: "https://example.test/login?x=1#y"}, *a.last.Load())
	_, err = call(t, c, `{"params":`+whoAsks+`,"times":1000}`)
	require.NoError(t, err)
	assert.Equal(t, int64(1002), a.count.Load())
}

// A server may ask while no call is under way.
func TestElicitOutsideOfACall(t *testing.T) {
	a := says(`{"name":"Ada"}`, nil)
	c := connectAsked(t, a)
	_, err := call(t, c, `{"later":true,"params":`+whoAsks+`}`)
	require.NoError(t, err)
	<-c.ToolsChanged()
	result, err := call(t, c, `{}`)
	require.NoError(t, err)
	assert.Equal(t, `{"action":"accept","content":{"name":"Ada","age":7}}`, result.Content)
	assert.Empty(t, a.last.Load().Tool)
}

// Without Elicit nothing is declared, and the server is told that there is
// nobody to ask.
func TestNoElicit(t *testing.T) {
	c := connect(t, stdioServer(t, "asks its user"))
	result, err := call(t, c, `{"params":`+whoAsks+`}`)
	require.NoError(t, err)
	assert.Equal(t, `{"code":-32601,"message":"this client does not support elicitation/create"}`, result.Content)

	for elicits, want := range map[bool]string{false: `"capabilities":{}`, true: `"capabilities":{"elicitation":{"form":{},"url":{}}}`} {
		h := newWeb(t)
		var initialize atomic.Pointer[string]
		h.on["initialize"] = func(a *asking) { initialize.Store(&a.Raw); a.pass() }
		server := h.server()
		if elicits {
			server.Elicit = says(``, nil).elicit
		}
		connect(t, server)
		assert.Contains(t, *initialize.Load(), want)
	}
}

// While a person is asked the clock of CallTimeout stands still, and that of
// the context does not.
func TestElicitTakesItsTime(t *testing.T) {
	release := make(chan struct{})
	a := &asked{answer: func(ctx context.Context, _ mcp.Question) (json.RawMessage, error) {
		select {
		case <-release:
			return json.RawMessage(`{"name":"Ada"}`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	server := stdioServer(t, "asks its user")
	server.Elicit, server.CallTimeout = a.elicit, time.Second
	c := connect(t, server)
	time.AfterFunc(1500*time.Millisecond, func() { close(release) }) // longer than CallTimeout
	result, err := call(t, c, `{"params":`+whoAsks+`}`)
	require.NoError(t, err)
	assert.Contains(t, result.Content, "Ada")

	release = make(chan struct{}) // for ever
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Tools()[0].Handler(ctx, []byte(`{"params":`+whoAsks+`}`))
		ended <- err
	}()
	for a.count.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	for { // the server is told, and hears it in its own time
		result, err = call(t, c, `{}`)
		require.NoError(t, err)
		if result.Content == `{"action":"cancel"}` {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// A host that never answers does not hold up Close.
func TestCloseDuringAQuestion(t *testing.T) {
	for _, arguments := range []string{`{"params":` + whoAsks + `}`, `{"later":true,"params":` + whoAsks + `}`} {
		release := make(chan struct{})
		a := &asked{answer: func(context.Context, mcp.Question) (json.RawMessage, error) { <-release; return nil, nil }}
		server := stdioServer(t, "asks its user")
		server.Elicit = a.elicit
		c, err := mcp.Connect(t.Context(), server)
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() {
			_, err := c.Tools()[0].Handler(t.Context(), []byte(arguments))
			ended <- err
		}()
		for a.count.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, c.Close())
		if strings.Contains(arguments, "later") {
			require.NoError(t, <-ended)
		} else {
			require.ErrorContains(t, <-ended, "the connection is closed")
		}
		close(release)
	}
}

// Calls that run side by side ask side by side.
func TestElicitConcurrently(t *testing.T) {
	const calls = 200
	everybody := make(chan struct{})
	a := &asked{}
	a.answer = func(_ context.Context, q mcp.Question) (json.RawMessage, error) {
		if a.count.Load() == calls {
			close(everybody)
		}
		<-everybody
		return json.RawMessage(`{"name":` + strconv.Quote(q.Message) + `}`), nil
	}
	work := func(t *testing.T, c *mcp.Connection) {
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				message := fmt.Sprintf("m%d", i)
				result, err := c.Tools()[0].Handler(t.Context(), []byte(`{"params":{"message":"`+message+`"},"message":"`+message+`"}`))
				if assert.NoError(t, err) {
					assert.Contains(t, result.Content, message)
				}
			})
		}
		wg.Wait()
	}
	t.Run("stdio", func(t *testing.T) { work(t, connectAsked(t, a)) })
	a.count.Store(0)
	everybody = make(chan struct{})
	t.Run("HTTP", func(t *testing.T) {
		h := newWeb(t)
		h.Config.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return official("2025-11-25") }, nil)
		server := h.server()
		server.Elicit = a.elicit
		work(t, connect(t, server))
	})
}

// official is a server of the official SDK with a tool that asks.
func official(version string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, &sdk.ServerOptions{SupportedProtocolVersions: []string{version}})
	s.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var arguments struct {
			Message string
			Aside   bool // on the stream for what belongs to no call
		}
		json.Unmarshal(r.Params.Arguments, &arguments)
		if arguments.Aside {
			ctx = context.WithoutCancel(context.Background())
		}
		schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","default":7}}}`)
		answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: arguments.Message, RequestedSchema: schema})
		if err != nil {
			return nil, err
		}
		text, _ := json.Marshal(answer)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
	})
	return s
}

func TestElicitOverHTTP(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		h := newWeb(t)
		s := official(version)
		h.Config.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
		a := says(`{"name":"Ada"}`, nil)
		server := h.server()
		server.Elicit = a.elicit
		result, err := call(t, connect(t, server), `{"message":"Who?"}`)
		require.NoError(t, err)
		assert.JSONEq(t, `{"action":"accept","content":{"name":"Ada","age":7}}`, result.Content)
		assert.Equal(t, "ask", a.last.Load().Tool)
		assert.Equal(t, "Who?", a.last.Load().Message)
	}
	t.Run("on the stream for what belongs to no call", func(t *testing.T) {
		h := newWeb(t)
		s := official("2025-11-25")
		var streams atomic.Int64
		handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
		h.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				streams.Add(1)
			}
			handler.ServeHTTP(w, r)
		})
		a := says(`{"name":"Ada"}`, nil)
		server := h.server()
		server.Elicit = a.elicit
		c := connect(t, server)
		assert.Zero(t, streams.Load(), "nothing is open before it is needed")
		for range 3 {
			result, err := call(t, c, `{"message":"Who?","aside":true}`)
			require.NoError(t, err)
			assert.JSONEq(t, `{"action":"accept","content":{"name":"Ada","age":7}}`, result.Content)
			assert.Equal(t, "ask", a.last.Load().Tool, "the only call under way")
		}
		assert.Equal(t, int64(1), streams.Load())
	})
	t.Run("a server without such a stream", func(t *testing.T) {
		h := newWeb(t) // answers GET by 405
		server := h.server()
		server.Elicit = says(``, nil).elicit
		c := connect(t, server)
		for range 3 {
			_, err := call(t, c, `{}`)
			require.NoError(t, err)
		}
		assert.Equal(t, 1, h.seen("GET"))
	})
	// A version that knows no questions.
	h := newWeb(t)
	s := official("2025-03-26")
	h.Config.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	a := says(`{"name":"Ada"}`, nil)
	server := h.server()
	server.Elicit = a.elicit
	result, err := call(t, connect(t, server), `{"message":"Who?"}`)
	require.NoError(t, err)
	assert.Zero(t, a.count.Load())
	assert.NotContains(t, result.Content, "Ada")
}

// rounds is a server of protocol 2026-07-28 that answers a call by what its
// argument has, one result after the other, and then with the params.
func rounds(t *testing.T) *web {
	h := newWeb(t)
	h.on["server/discover"] = func(a *asking) { a.result(discovered) }
	var mu sync.Mutex
	n := map[string]int{}
	h.on["tools/call"] = func(a *asking) {
		var arguments struct{ Results []json.RawMessage }
		json.Unmarshal(a.Params.Arguments, &arguments)
		mu.Lock()
		defer mu.Unlock()
		i := n[string(a.Params.Arguments)]
		n[string(a.Params.Arguments)]++
		if i < len(arguments.Results) {
			a.result(string(arguments.Results[i]))
			return
		}
		var raw struct{ Params json.RawMessage }
		json.Unmarshal([]byte(a.Raw), &raw)
		text, _ := json.Marshal(string(raw.Params))
		a.result(`{"resultType":"complete","content":[{"type":"text","text":` + string(text) + `}]}`)
	}
	return h
}

func TestElicitInRounds(t *testing.T) {
	const (
		two   = `{"resultType":"input_required","inputRequests":{"b":{"method":"elicitation/create","params":{"message":"1"}},"a":{"method":"elicitation/create","params":{"message":"2"}}},"requestState":"st\u0061te <é>"}`
		busy  = `{"resultType":"input_required","requestState":"busy"}`
		other = `{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{}}}}`
		wrong = `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"1","requestedSchema":{"type":"object","properties":{"x":{"type":"string"}}}}}}}`
	)
	h := rounds(t)
	var order []string
	a := &asked{answer: func(_ context.Context, q mcp.Question) (json.RawMessage, error) {
		order = append(order, q.Message)
		if q.Message == "2" {
			return nil, mcp.ErrDeclined
		}
		return json.RawMessage(`{"x":1}`), nil
	}}
	server := h.server()
	server.Elicit = a.elicit
	c := connect(t, server)
	results := func(all ...string) string { return `{"results":[` + strings.Join(all, ",") + `]}` }

	result, err := call(t, c, results(two))
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "2"}, order, "in the server's order")
	assert.Contains(t, result.Content, `"inputResponses":{"b":{"action":"accept","content":{"x":1}},"a":{"action":"decline"}},"requestState":"st\u0061te <é>"}`)
	assert.Contains(t, result.Content, `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}`)
	assert.Equal(t, "echo", a.last.Load().Tool)
	assert.Equal(t, 2, h.seen("tools/call"))

	result, err = call(t, c, results(busy, busy, busy))
	require.NoError(t, err)
	assert.Contains(t, result.Content, `"inputResponses":{},"requestState":"busy"}`)
	_, err = call(t, c, results(busy, busy, busy, busy))
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": giving up a tool that needed input 4 times over`)
	_, err = call(t, c, results(two, two, two, two, two, two, two, two, two, two))
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": giving up a tool that needed input 10 times over`)
	_, err = call(t, c, results(wrong))
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": asking the user: the field "x" of the answer is not a text`)
	result, err = call(t, c, results(other))
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.Contains(t, result.Content, "which this client does not offer")

	// The context ends while a person is asked.
	ctx, cancel := context.WithCancel(t.Context())
	a.answer = func(ctx context.Context, _ mcp.Question) (json.RawMessage, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err = c.Tools()[0].Handler(ctx, []byte(results(two, busy)))
	assert.ErrorIs(t, err, context.Canceled)

	// Without anybody to ask it is as before.
	result, err = call(t, connect(t, h.server()), results(two, other))
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.Contains(t, result.Content, `[the tool "echo" needs input, which this client does not offer`)
}

// The official SDK asks in rounds as well.
func TestElicitInRoundsOfTheSDK(t *testing.T) {
	s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if answer, ok := r.Params.InputResponses["who"].(*sdk.ElicitResult); ok {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(answer.Action, answer.Content["name"], r.Params.RequestState)}}}, nil
		}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"who": &sdk.ElicitParams{Mode: "form", Message: "Who?"}}, RequestState: "state"}, nil
	})
	h := newWeb(t)
	h.Config.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
	server := h.server()
	server.Elicit = says(`{"name":"Ada"}`, nil).elicit
	c := connect(t, server)
	assert.Equal(t, "2026-07-28", c.Info().Protocol)
	result, err := call(t, c, `{}`)
	require.NoError(t, err)
	assert.Equal(t, "acceptAdastate", strings.ReplaceAll(result.Content, " ", ""))
}

// A tool may want its user to open addresses before it is called.
func TestURLsBeforeACall(t *testing.T) {
	const wants = `{"code":-32042,"message":"log in first","data":{"elicitations":[{"mode":"url","message":"A","url":"https://a.test","elicitationId":"1"},{"mode":"url","message":"B","url":"https://b.test","elicitationId":"2"}]}}`
	h := newWeb(t)
	h.on["tools/call"] = func(a *asking) {
		a.status(200, "application/json", `{"jsonrpc":"2.0","id":`+string(a.ID)+`,"error":`+wants+`}`)
	}
	var urls []string
	var deny string
	server := h.server()
	server.Elicit = func(_ context.Context, q mcp.Question) (json.RawMessage, error) {
		urls = append(urls, q.URL)
		if q.URL == deny {
			return nil, mcp.ErrDeclined
		}
		return nil, nil
	}
	c := connect(t, server)
	result, err := call(t, c, `{}`)
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.Equal(t, `[the tool "echo" needed its user to do something in a browser first, and the user has agreed: call it again]`, result.Content)
	assert.Equal(t, []string{"https://a.test", "https://b.test"}, urls)
	assert.Equal(t, 1, h.seen("tools/call"), "the model calls it again, not the library")

	urls, deny = nil, "https://a.test"
	result, err = call(t, c, `{}`)
	require.NoError(t, err)
	assert.Equal(t, `[the tool "echo" needs its user to do something in a browser first, and the user did not agree]`, result.Content)
	assert.Equal(t, []string{"https://a.test"}, urls)
}

// What a server asks for may be a secret of its own.
func TestElicitShowsNoSecret(t *testing.T) {
	key := long(200)
	server := stdioServer(t, "asks its user", "API_KEY="+key)
	server.Elicit = func(context.Context, mcp.Question) (json.RawMessage, error) { return nil, nil }
	c := connect(t, server)
	for _, params := range []string{
		`{"mode":"%","message":"x"}`,
		`{"message":"x","requestedSchema":{"type":"%"}}`,
		`{"message":"x","requestedSchema":{"type":"object","properties":{"%":{"type":"object"}}}}`,
		`{"message":"x","requestedSchema":{"type":"object","properties":{"%":{"type":"string"}},"required":["%"]}}`,
	} {
		_, err := call(t, c, `{"params":`+strings.ReplaceAll(params, "%", key)+`}`)
		assert.ErrorContains(t, err, "[masked]")
		showsNoPart(t, fmt.Sprint(err), key)
	}
}
