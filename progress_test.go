package mcp_test

// This file proves what callers learn of calls that run, what ends silent
// calls, and what callers may add to a request. The scripted server does as it
// is told by other calls, so that nothing here waits for time to pass.

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
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

func init() {
	servers["told"] = func(p *mcptest.Peer) { toldServer(p) }
	servers["told-modern"] = func(p *mcptest.Peer) {
		p.On["initialize"] = func(r mcptest.Request) {
			p.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":-32022,"message":"unsupported","data":{"supported":["2026-07-28"]}}}` + "\n")
		}
		p.On["server/discover"] = func(r mcptest.Request) {
			p.Reply(r, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0}`)
		}
		toldServer(p)
	}
}

// toldServer has the tools work, whose call it leaves open, and order, which
// tells it what to do about that.
func toldServer(p *mcptest.Peer) {
	p.Tools = `[{"name":"work"},{"name":"order"}]`
	var (
		work      *mcptest.Request // the open call
		token     = "0"            // of the latest one
		begun     *mcptest.Request // the order to say when work is called
		cancelled = 0
		ended     *mcptest.Request // the order to say when work is cancelled
	)
	p.On["notifications/cancelled"] = func(mcptest.Request) {
		if cancelled++; ended != nil {
			p.Reply(*ended, mcptest.Text("cancelled"))
			ended = nil
		}
	}
	callWork := func(r mcptest.Request) {
		work = &r
		if r.Params.Meta.ProgressToken != nil {
			token = string(r.Params.Meta.ProgressToken)
		}
		if begun != nil {
			p.Reply(*begun, mcptest.Text(r.Raw))
			begun = nil
		}
		var arguments struct{ Steps int }
		json.Unmarshal(r.Params.Arguments, &arguments)
		for range arguments.Steps {
			time.Sleep(100 * time.Millisecond)
			p.Print(strings.ReplaceAll(progress(`"progress":1`), "$TOKEN", token) + "\n")
		}
		if arguments.Steps > 0 {
			p.Reply(r, mcptest.Text("worked"))
		}
	}
	p.Call = func(r mcptest.Request) {
		if r.Params.Name == "work" {
			callWork(r)
			return
		}
		var order order
		json.Unmarshal(r.Params.Arguments, &order)
		for _, line := range order.Say {
			p.Print(strings.ReplaceAll(line, "$TOKEN", token) + "\n")
		}
		if order.Finish {
			p.Reply(*work, mcptest.Text("done"))
			work = nil
		}
		switch {
		case order.AwaitCall && work == nil:
			begun = &r
		case order.AwaitCall:
			p.Reply(r, mcptest.Text(work.Raw))
		case order.AwaitEnd && cancelled == 0:
			ended = &r
		case order.AwaitEnd:
			p.Reply(r, mcptest.Text("cancelled"))
		default:
			p.Reply(r, mcptest.Text("ok"))
		}
	}
	p.Serve()
}

// An order to a told server, carried out in the order of the fields.
type order struct {
	Say       []string // print these lines; $TOKEN is the token of work
	Finish    bool     // answer work with "done"
	AwaitCall bool     // answer with the request for work, once it is there
	AwaitEnd  bool     // answer once work was cancelled
}

// A told is a connection to a told server.
type told struct {
	*mcp.Connection
	work, order mcp.Tool
}

func connectTold(t testing.TB, name string, change func(*mcp.Server)) told {
	server := stdioServer(t, name)
	if change != nil {
		change(&server)
	}
	c := connect(t, server)
	return told{c, c.Tools()[0], c.Tools()[1]}
}

// tell gives an order. When it returns, what the server did has arrived, too.
func (c told) tell(t testing.TB, order order) string {
	t.Helper()
	arguments, err := json.Marshal(order)
	require.NoError(t, err)
	result, err := c.order.Handler(t.Context(), arguments)
	require.NoError(t, err)
	return result.Content
}

func (c told) say(t testing.TB, lines ...string) {
	t.Helper()
	c.tell(t, order{Say: lines})
}

func (c told) finish(t testing.TB) {
	t.Helper()
	c.tell(t, order{Finish: true})
}

// start calls work in the background and returns when the server has the
// request. It ends with an error unless the answer is "done".
func (c told) start(t testing.TB, ctx context.Context) (request string, ended <-chan error) {
	t.Helper()
	end := make(chan error, 1)
	go func() {
		result, err := c.work.Handler(ctx, nil)
		if err == nil && result.Content != "done" {
			err = errors.New(result.Content)
		}
		end <- err
	}()
	return c.tell(t, order{AwaitCall: true}), end
}

func progress(members string) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,` + members + `}}`
}

// soon fails the test when nothing comes: a wrong program must not hang it.
func soon[T any](t testing.TB, values <-chan T) T {
	t.Helper()
	select {
	case v := <-values:
		return v
	case <-time.After(20 * time.Second):
		stacks := make([]byte, 1<<20)
		require.FailNow(t, "nothing came", "%s", stacks[:runtime.Stack(stacks, true)])
		panic("unreachable")
	}
}

func TestProgress(t *testing.T) {
	c := connectTold(t, "told", nil)
	updates := make(chan mcp.Progress, 100)
	_, ended := c.start(t, mcp.WithProgress(t.Context(), func(p mcp.Progress) { updates <- p }))
	for _, step := range []struct {
		members string
		want    mcp.Progress
	}{
		{`"progress":1`, mcp.Progress{Done: 1}},
		{`"progress":2.5,"total":10,"message":"half way"`, mcp.Progress{Done: 2.5, Total: 10, Message: "half way"}},
		{`"progress":3,"total":null,"message":7`, mcp.Progress{Done: 3}},
		{`"progress":4,"message":"a\u001b[1mb\u202e\udb40\udc41\ud800"`, mcp.Progress{Done: 4, Message: "ab\uFFFD"}},
		{`"progress":1e2,"_meta":{}`, mcp.Progress{Done: 100}},
		{`"progress":-1`, mcp.Progress{Done: -1}},
	} {
		c.say(t, progress(step.members))
		assert.Equal(t, step.want, soon(t, updates))
	}
	c.finish(t)
	require.NoError(t, soon(t, ended))
	c.say(t, progress(`"progress":5`)) // too late
	assert.Empty(t, updates)
	assert.Empty(t, c.Warnings())
}

func TestProgressThatSaysNothing(t *testing.T) {
	c := connectTold(t, "told", nil)
	updates := make(chan mcp.Progress, 1000)
	_, ended := c.start(t, mcp.WithProgress(t.Context(), func(p mcp.Progress) { updates <- p }))
	c.say(t,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"zz","progress":"half"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":12345,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":null,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[1],"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":[1]}`,
		`{"jsonrpc":"2.0","method":"notifications/progress"}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"chatty","data":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/vendor","params":{}}`,
		progress(`"progress":"half"`), progress(`"progress":null`), progress(`"progress":{}`), progress(`"total":1`), progress(`"progress":1e999`),
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"$TOKEN","progress":9}}`, // an echo as text counts
	)
	assert.Equal(t, mcp.Progress{Done: 9}, soon(t, updates))
	c.finish(t)
	require.NoError(t, soon(t, ended))
	assert.Empty(t, updates)
}

func TestProgressIsCoalesced(t *testing.T) {
	c := connectTold(t, "told", nil)
	entered, gate := make(chan mcp.Progress, 100), make(chan struct{})
	_, ended := c.start(t, mcp.WithProgress(t.Context(), func(p mcp.Progress) {
		entered <- p
		<-gate
	}))
	c.say(t, progress(`"progress":0`))
	soon(t, entered) // f is in its first call now
	for _, n := range []string{"1", "2", "3", "4"} {
		c.say(t, progress(`"progress":`+n))
	}
	assert.Empty(t, entered)
	gate <- struct{}{}
	assert.Equal(t, mcp.Progress{Done: 4}, soon(t, entered))
	c.say(t, progress(`"progress":5`), progress(`"progress":6`))
	close(gate)
	assert.Equal(t, mcp.Progress{Done: 6}, soon(t, entered))
	c.finish(t)
	require.NoError(t, soon(t, ended))
	assert.Empty(t, entered)
}

// TestLastProgress proves that an f that is quick learns what came before the
// answer, and that no call of it is under way or starts once Handler returned.
func TestLastProgress(t *testing.T) {
	c := connectTold(t, "told", nil)
	var running atomic.Bool
	for range 50 {
		updates := make(chan mcp.Progress, 100)
		_, ended := c.start(t, mcp.WithProgress(t.Context(), func(p mcp.Progress) {
			running.Store(true)
			updates <- p
			running.Store(false)
		}))
		c.tell(t, order{Say: []string{progress(`"progress":1`), progress(`"progress":2`)}, Finish: true})
		require.NoError(t, soon(t, ended))
		require.False(t, running.Load())
		var last mcp.Progress
		for len(updates) > 0 {
			last = <-updates
		}
		assert.Equal(t, mcp.Progress{Done: 2}, last)
		c.say(t, progress(`"progress":3`))
		require.Empty(t, updates)
	}
}

func TestProgressThatBlocks(t *testing.T) {
	c := connectTold(t, "told", nil)
	entered, gate := make(chan mcp.Progress, 100), make(chan struct{})
	var calls atomic.Int32
	_, ended := c.start(t, mcp.WithProgress(t.Context(), func(p mcp.Progress) {
		calls.Add(1)
		entered <- p
		<-gate
	}))
	c.say(t, progress(`"progress":0`))
	soon(t, entered)
	c.say(t, progress(`"progress":1`))
	c.finish(t)
	start := time.Now()
	require.NoError(t, soon(t, ended))
	assert.Less(t, time.Since(start), slack)
	c.say(t, progress(`"progress":2`)) // the connection goes on, too
	close(gate)                        // the goroutine of f ends now: NoLeaks
	assert.Equal(t, int32(1), calls.Load())

	ctx, cancel := context.WithCancel(t.Context())
	gate2 := make(chan struct{})
	_, ended = c.start(t, mcp.WithProgress(ctx, func(p mcp.Progress) {
		entered <- p
		<-gate2
	}))
	c.say(t, progress(`"progress":0`))
	soon(t, entered)
	cancel()
	assert.ErrorIs(t, soon(t, ended), context.Canceled)
	close(gate2)
}

func TestProgressThatPanics(t *testing.T) {
	c := connectTold(t, "told", nil)
	for name, end := range map[string]func(){"panic": func() { panic("f is broken") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			entered := make(chan mcp.Progress, 100)
			_, ended := c.start(t, mcp.WithProgress(t.Context(), func(p mcp.Progress) {
				entered <- p
				end()
			}))
			c.say(t, progress(`"progress":1`))
			soon(t, entered)
			c.say(t, progress(`"progress":2`))
			c.finish(t)
			require.NoError(t, soon(t, ended))
			assert.Empty(t, entered)
		})
	}
}

// request returns the request for work as the server got it.
func (c told) request(t testing.TB, ctx context.Context) string {
	t.Helper()
	request, ended := c.start(t, ctx)
	c.finish(t)
	require.NoError(t, soon(t, ended))
	return request
}

// metaOf returns the _meta of a request, without a token's value.
func metaOf(t testing.TB, line string) string {
	t.Helper()
	var request struct {
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(line), &request), line)
	if request.Params.Meta == nil {
		return ""
	}
	if _, ok := request.Params.Meta["progressToken"]; ok {
		request.Params.Meta["progressToken"] = json.RawMessage(`"token"`)
	}
	out, err := json.Marshal(request.Params.Meta)
	require.NoError(t, err)
	return string(out)
}

func TestRequestMeta(t *testing.T) {
	meta := map[string]any{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tenant": map[string]any{"id": 9007199254740993}}
	trace := mcp.WithMeta(t.Context(), meta)
	meta["traceparent"] = "changed later"
	const traced = `"tenant":{"id":9007199254740993},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`
	for _, c := range []struct {
		name    string
		timeout time.Duration
		ctx     context.Context
		want    string
	}{
		{"nothing", 0, t.Context(), ""},
		{"empty metadata", 0, mcp.WithMeta(mcp.WithMeta(t.Context(), nil), map[string]any{}), ""},
		{"no function", 0, mcp.WithProgress(t.Context(), nil), ""},
		{"metadata", 0, trace, `{` + traced + `}`},
		{"metadata on metadata", 0, mcp.WithMeta(trace, map[string]any{"tenant": nil, "example.com/a": []int{1}}),
			`{"example.com/a":[1],"tenant":null,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`},
		{"progress", 0, mcp.WithProgress(t.Context(), func(mcp.Progress) {}), `{"progressToken":"token"}`},
		{"progress and metadata", 0, mcp.WithProgress(trace, func(mcp.Progress) {}), `{"progressToken":"token",` + traced + `}`},
		{"a time limit", time.Minute, t.Context(), `{"progressToken":"token"}`},
		{"a time limit and metadata", time.Minute, trace, `{"progressToken":"token",` + traced + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := connectTold(t, "told", func(s *mcp.Server) { s.CallTimeout = c.timeout })
			assert.Equal(t, c.want, metaOf(t, server.request(t, c.ctx)))
			assert.Equal(t, c.want, metaOf(t, server.request(t, c.ctx)), "the same again")
		})
	}
	t.Run("2026-07-28", func(t *testing.T) {
		server := connectTold(t, "told-modern", nil)
		var meta map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(metaOf(t, server.request(t, mcp.WithProgress(trace, func(mcp.Progress) {})))), &meta))
		assert.Equal(t, `"2026-07-28"`, string(meta["io.modelcontextprotocol/protocolVersion"]))
		assert.Contains(t, meta, "io.modelcontextprotocol/clientInfo")
		assert.Contains(t, meta, "io.modelcontextprotocol/clientCapabilities")
		assert.Equal(t, `{"id":9007199254740993}`, string(meta["tenant"]))
		assert.Contains(t, meta, "traceparent")
		assert.Equal(t, `"token"`, string(meta["progressToken"]))
		assert.Len(t, meta, 6)
	})
}

func TestTokensDiffer(t *testing.T) {
	c := connectTold(t, "told", nil)
	ctx := mcp.WithProgress(t.Context(), func(mcp.Progress) {})
	assert.NotEqual(t, c.request(t, ctx), c.request(t, ctx))
}

func TestMetaThatIsRefused(t *testing.T) {
	c := connectTold(t, "told", nil)
	for _, key := range []string{
		"progressToken", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/related-task", "modelcontextprotocol.io/x", "mcp.dev/x",
		"dev.mcp/x", "com.MCP.tools/x", "api.modelcontextprotocol.org/x", "tools.mcp.com/",
	} {
		_, err := c.work.Handler(mcp.WithMeta(t.Context(), map[string]any{key: 1}), nil)
		assert.EqualError(t, err, `mcp server "test": calling tool "work": request not sent: adding metadata: the key "`+key+`" belongs to the protocol`)
		assert.ErrorIs(t, err, mcp.ErrNotSent)
	}
	for _, key := range []string{"com.example.mcp/x", "mcp", "mcp/x", "example.com/mcp", "modelcontextprotocol", "progresstoken", "", "/x"} {
		request := c.request(t, mcp.WithMeta(t.Context(), map[string]any{key: 1}))
		assert.Equal(t, `{"`+key+`":1}`, metaOf(t, request))
	}
	_, err := c.work.Handler(mcp.WithMeta(t.Context(), map[string]any{"a": func() {}}), nil)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.EqualError(t, err, `mcp server "test": calling tool "work": request not sent: adding metadata: encoding "a": json: unsupported type: func()`)
}

func TestCallTimeout(t *testing.T) {
	t.Run("H11 silence", func(t *testing.T) {
		c := connectTold(t, "told", func(s *mcp.Server) { s.CallTimeout = 500 * time.Millisecond })
		start := time.Now()
		_, err := c.work.Handler(t.Context(), nil)
		assert.EqualError(t, err, `mcp server "test": calling tool "work": no answer or progress for 500ms; the tool may have run`)
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.NotErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, context.Canceled)
		assert.NotErrorIs(t, err, mcp.ErrNotSent)
		assert.GreaterOrEqual(t, time.Since(start), 500*time.Millisecond)
	})
	t.Run("the server is told", func(t *testing.T) {
		c := connectTold(t, "told", func(s *mcp.Server) { s.CallTimeout = time.Second })
		_, err := c.work.Handler(t.Context(), nil)
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, "cancelled", c.tell(t, order{AwaitEnd: true}))
	})
	t.Run("H11 progress", func(t *testing.T) {
		c := connectTold(t, "told", func(s *mcp.Server) { s.CallTimeout = 1200 * time.Millisecond })
		result, err := c.work.Handler(t.Context(), []byte(`{"steps":15}`))
		require.NoError(t, err)
		assert.Equal(t, content("worked"), said(result))
	})
	t.Run("H11 progress for ever", func(t *testing.T) {
		c := connectTold(t, "told", func(s *mcp.Server) { s.CallTimeout = 10 * time.Second })
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := c.work.Handler(ctx, []byte(`{"steps":8}`))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	})
	t.Run("the context ends first", func(t *testing.T) {
		c := connectTold(t, "told", func(s *mcp.Server) { s.CallTimeout = time.Minute })
		ctx, cancel := context.WithCancelCause(t.Context())
		_, ended := c.start(t, ctx)
		cancel(os.ErrDeadlineExceeded) // the caller's own cause is not ours
		err := soon(t, ended)
		assert.ErrorIs(t, err, context.Canceled)
		assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	})
	t.Run("an answer in time", func(t *testing.T) {
		c := connectTold(t, "told", func(s *mcp.Server) { s.CallTimeout = time.Minute })
		c.say(t)
	})
}

// TestCancelledCallsLeaveNothing cancels many calls at random moments.
func TestCancelledCallsLeaveNothing(t *testing.T) {
	c := connectTold(t, "told", func(s *mcp.Server) { s.CallTimeout = time.Minute })
	goroutines := runtime.NumGoroutine()
	var updates atomic.Int64
	const calls, atATime = 1000, 20
	for range calls / atATime {
		var wg sync.WaitGroup
		for range atATime {
			wg.Go(func() {
				// A moment from before the call to well behind an answer.
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(3*time.Millisecond)-100*time.Microsecond)
				defer cancel()
				ctx = mcp.WithProgress(ctx, func(mcp.Progress) { updates.Add(1) })
				ctx = mcp.WithMeta(ctx, map[string]any{"a": 1})
				if rand.N(2) == 0 {
					c.work.Handler(ctx, nil)
				} else {
					arguments, _ := json.Marshal(order{Say: []string{progress(`"progress":1`)}})
					c.order.Handler(ctx, arguments)
				}
			})
		}
		wg.Wait()
	}
	c.say(t) // the connection lives
	waiting, tokens := mcp.Waiting(c.Connection)
	assert.Zero(t, waiting)
	assert.Zero(t, tokens)
	// The SDK sends each cancellation in a goroutine of its own.
	for deadline := time.Now().Add(slack); runtime.NumGoroutine() > goroutines && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	before := updates.Load()
	c.say(t, progress(`"progress":1`))
	assert.Equal(t, before, updates.Load())
}

// TestProgressOverHTTP proves the same of a server of the official SDK, whose
// progress and answer come in one stream.
func TestProgressOverHTTP(t *testing.T) {
	for _, test := range []struct {
		name    string
		options *sdk.StreamableHTTPOptions
	}{{"stateful", nil}, {"stateless", &sdk.StreamableHTTPOptions{Stateless: true}}} {
		t.Run(test.name, func(t *testing.T) {
			s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "1"}, nil)
			next, cancelled := make(chan struct{}), make(chan struct{}, 1)
			sdk.AddTool(s, &sdk.Tool{Name: "work"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
				for i := range 3 {
					params := &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "step"}
					if err := r.Session.NotifyProgress(ctx, params); err != nil {
						return nil, nil, err
					}
					select {
					case <-next:
					case <-ctx.Done():
						cancelled <- struct{}{}
						return nil, nil, ctx.Err()
					case <-t.Context().Done():
						return nil, nil, nil
					}
				}
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: r.Params.Meta["tenant"].(string)}}}, nil, nil
			})
			h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, test.options))
			t.Cleanup(h.Close)

			c := connect(t, mcp.Server{Name: "test", URL: h.URL, CallTimeout: time.Minute})
			updates := make(chan mcp.Progress, 10)
			ctx := mcp.WithMeta(t.Context(), map[string]any{"tenant": "blue"})
			ended := make(chan mcp.ToolResult, 1)
			go func() {
				result, err := c.Tools()[0].Handler(mcp.WithProgress(ctx, func(p mcp.Progress) { updates <- p }), nil)
				assert.NoError(t, err)
				ended <- result
			}()
			for i := range 3 {
				assert.Equal(t, mcp.Progress{Done: float64(i + 1), Total: 3, Message: "step"}, soon(t, updates))
				next <- struct{}{}
			}
			assert.Equal(t, content("blue"), said(soon(t, ended)))
			assert.Empty(t, updates)

			short := connect(t, mcp.Server{Name: "test", URL: h.URL, CallTimeout: time.Second})
			_, err := short.Tools()[0].Handler(ctx, nil)
			assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
			assert.NotErrorIs(t, err, context.Canceled)
			assert.EqualError(t, err, `mcp server "test": calling tool "work": no answer or progress for 1s; the tool may have run`)
			if test.options == nil { // without a session the server does not know whose call it is
				soon(t, cancelled)
			}
		})
	}
}
