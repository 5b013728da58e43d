package mcp_test

// This file plays what servers do to the stream of messages.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

const ok = `{"content":[{"type":"text","text":"ok"}]}`

// answers are what the scripted server prints for a call; $ID is the call's id.
// Each must give the result "ok", and the session must go on.
var answers = map[string]struct {
	print    string
	warnings []string
}{
	"a message":               {`{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", nil},
	"a carriage return":       {`{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\r\n", nil},
	"spaces around":           {"  \t" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + " \t \n", nil},
	"a byte-order mark":       {"\ufeff" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", nil},
	"NUL bytes around":        {"\x00" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\x00\n", nil},
	"blank lines":             {"\n\r\n  \n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n\n", nil},
	"an id as a string":       {`{"jsonrpc":"2.0","id":"$ID","result":$OK}` + "\n", nil},
	"an id as a float":        {`{"jsonrpc":"2.0","id":$ID.0,"result":$OK}` + "\n", nil},
	"the id last":             {`{"result":$OK,"jsonrpc":"2.0","id":$ID}` + "\n", nil},
	"no version":              {`{"id":$ID,"result":$OK}` + "\n", nil},
	"version 1.0":             {`{"jsonrpc":"1.0","id":$ID,"result":$OK}` + "\n", nil},
	"version 2":               {`{"jsonrpc":2.0,"id":$ID,"result":$OK}` + "\n", nil},
	"error null":              {`{"jsonrpc":"2.0","id":$ID,"result":$OK,"error":null}` + "\n", nil},
	"error empty":             {`{"jsonrpc":"2.0","error":{"code":0,"message":"","data":null},"id":$ID,"result":$OK}` + "\n", nil},
	"method null":             {`{"jsonrpc":"2.0","id":$ID,"method":null,"params":null,"result":$OK,"error":null}` + "\n", nil},
	"method empty":            {`{"jsonrpc":"2.0","method":"","id":$ID,"result":$OK}` + "\n", nil},
	"method echoed":           {`{"jsonrpc":"2.0","method":"tools/call","id":$ID,"result":$OK}` + "\n", nil},
	"unknown members":         {`{"jsonrpc":"2.0","id":$ID,"result":$OK,"x":[{}]}` + "\n", nil},
	"a batch":                 {`[{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":$ID,"result":$OK}]` + "\n", nil},
	"several lines":           {"{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n  \"result\": {\n    \"content\": [\n {\"type\":\"text\",\"text\":\"ok\"}\n ]\n  }\n}\n", nil},
	"a duplicate":             {`{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}` + "\n", nil},
	"unknown ids":             {`{"jsonrpc":"2.0","id":9999,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","result":{"y":1}}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped 2 answers without the id of a request that waits for one, the first: "{}"`}},
	"an error without id":     {`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped an answer without the id of a request that waits for one: "Parse error"`}},
	"odd notifications":       {`{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"zz","progress":"half"}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"chatty","data":1}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID}}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", nil},
	"a reply to nothing":      {`{"jsonrpc":"2.0","result":null}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped an answer without the id of a request that waits for one: "null"`}},
	"a late answer":           {`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", nil},
	"no line end":             {`{"jsonrpc":"2.0","id":$ID,"result":$OK}`, nil},
	"a carriage return alone": {`{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\r", nil},
	"NUL for a line end":      {`{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\x00", nil},
	"record separators":       {"\x1e" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", nil},
	"LS for a line end":       {`{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\u2028", nil},
	"two ended by NEL":        {`{"jsonrpc":"2.0","method":"notifications/message"}` + "\u0085" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\u0085", nil},
	"two ended by NUL":        {`{"jsonrpc":"2.0","method":"notifications/message"}` + "\x00" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\x00", nil},
	"a batch without an end":  {`[{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":$ID,"result":$OK}]`, nil},
	"lines without an end":    {"{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n  \"result\": $OK\n}", nil},
	"a batch over lines":      {"[\n{\"jsonrpc\":\"2.0\",\"id\":$ID,\n\"result\":$OK}\n]\n", nil},
	"content length":          {"Content-Length: 99\r\n\r\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}`, []string{`skipped a line of output that is not a JSON-RPC message: "Content-Length: 99"`}},
	"an echo":                 {`{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped a request of this client that the server sent back: "tools/call"`}},
	"a log line that quotes":  {`{"level":"debug","sent":{"jsonrpc":"2.0","id":$ID,"result":{}}}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped a line of output that is not a JSON-RPC message: "{\"level\":\"debug\",\"sent\":{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{}}}"`}},
	"null input requests":     {`{"jsonrpc":"2.0","id":$ID,"result":{"inputRequests":{"x":null},"content":[{"type":"text","text":"ok"}]}}` + "\n", nil},
	"a banner":                {"Server v1.0 started\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped a line of output that is not a JSON-RPC message: "Server v1.0 started"`}},
	"a JSON log line":         {`{"level":"info","id":$ID,"msg":"call"}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped a line of output that is not a JSON-RPC message: "{\"level\":\"info\",\"id\":$ID,\"msg\":\"call\"}"`}},
	"a log line on method":    {`{"method":"GET","path":"/"}` + "\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped a line of output that is not a JSON-RPC message: "{\"method\":\"GET\",\"path\":\"/\"}"`}},
	"numbers and words":       {"12\nnull\n\"x\"\n[1,2]\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped 5 lines of output that are not JSON-RPC messages, the first: "12"`}},
	"an open brace":           {"{\n" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped a line of output that is not a JSON-RPC message: "{"`}},
	"a colour":                {"\x1b[32m" + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\x1b[0m\n", []string{`skipped 2 lines of output that are not JSON-RPC messages, the first: ""`}},
	"a prompt before":         {"server> " + `{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", []string{`skipped a line of output that is not a JSON-RPC message: "server>"`}},
	"text behind":             {`{"jsonrpc":"2.0","id":$ID,"result":$OK} done` + "\n", []string{`skipped a line of output that is not a JSON-RPC message: "done"`}},
	"two on a line":           {`{"jsonrpc":"2.0","method":"notifications/message"}{"jsonrpc":"2.0","id":$ID,"result":$OK}` + "\n", nil},
}

func TestOutput(t *testing.T) {
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			server := stdioServer(t, "answer")
			server.Args = []string{strconv.Quote(strings.ReplaceAll(c.print, "$OK", ok))}
			connection := connect(t, server)
			for range 2 {
				result, err := call(t, connection, `{}`)
				require.NoError(t, err)
				assert.Equal(t, mcp.ToolResult{Content: "ok"}, said(result))
			}
			// What is printed for every call is printed twice, and what stands
			// behind an answer is read after the call has returned.
			if c.warnings == nil {
				assert.Empty(t, connection.Warnings())
				return
			}
			n := 1
			fmt.Sscanf(c.warnings[0], "skipped %d", &n)
			_, want, _ := strings.Cut(c.warnings[0], ": ")
			kind := "lines of output that are not JSON-RPC messages"
			for one, many := range map[string]string{" answer": "answers without the id of a request that waits for one", "a request of this client": "requests of this client that the server sent back"} {
				if strings.Contains(c.warnings[0], one) {
					kind = many
				}
			}
			want = fmt.Sprintf("skipped %d %s, the first: %s", 2*n, kind, strings.ReplaceAll(want, "$ID", "3"))
			assert.Eventually(t, func() bool { return slices.Equal(connection.Warnings(), []string{want}) },
				slack, time.Millisecond, "want %s", want)
		})
	}
}

func init() {
	servers["answer"] = func(p *mcptest.Peer) {
		text, _ := strconv.Unquote(os.Args[1])
		p.Call = func(r mcptest.Request) { p.Print(strings.ReplaceAll(text, "$ID", string(r.ID))) }
		p.Serve()
	}
	servers["noisy"] = func(p *mcptest.Peer) {
		p.Print("Welcome!\n{\"level\":30,\"msg\":\"listening\"}\n")
		p.On["initialize"] = func(r mcptest.Request) {
			p.Print("got initialize\n")
			p.Reply(r, strings.ReplaceAll(p.Initialize, "$VERSION", r.Params.ProtocolVersion))
			p.Print("sent initialize\n")
		}
		p.Serve()
	}
	servers["byte by byte"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			for _, b := range []byte(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":` + ok + "}\n") {
				p.Print(string(b))
			}
		}
		p.Serve()
	}
	servers["broken"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			id := string(r.ID)
			switch kind := string(r.Params.Arguments); {
			case strings.Contains(kind, "cut"):
				p.Print(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"abc` + "\n")
			case strings.Contains(kind, "comma"):
				p.Print(`{"result":{"content":[],},"jsonrpc":"2.0","id":` + id + "}\n")
			case strings.Contains(kind, "deep"):
				p.Print(`{"jsonrpc":"2.0","id":` + id + `,"result":` + strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000) + "}\n")
			case strings.Contains(kind, "seventeen"):
				p.Reply(r, mcptest.Text(strings.Repeat("x", 17<<20)))
			case strings.Contains(kind, "seventy"):
				p.Reply(r, mcptest.Text(strings.Repeat("x", 70<<20)))
			case strings.Contains(kind, "last"):
				p.Print(`{"result":` + mcptest.Text(strings.Repeat("x", 70<<20)) + `,"jsonrpc":"2.0","id":` + id + "}\n")
			case strings.Contains(kind, "neither"):
				p.Print(`{"jsonrpc":"2.0","id":` + id + "}\n")
			case strings.Contains(kind, "strange error"):
				p.Print(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":"E42","message":{"why":"<b>"}}}` + "\n")
			case strings.Contains(kind, "bare error"):
				p.Print(`{"jsonrpc":"2.0","id":` + id + `,"error":"no such thing"}` + "\n")
			default:
				p.Reply(r, ok)
			}
		}
		p.Serve()
	}
	servers["asks"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			for i, method := range []string{"ping", "roots/list", "sampling/createMessage", "elicitation/create", "vendor/x"} {
				p.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","method":%q,"params":{}}`+"\n", i, method))
			}
			var replies []string
			for range 5 {
				reply, _ := p.Read()
				replies = append(replies, reply.Raw)
			}
			p.Reply(r, mcptest.Text(strings.Join(replies, "\n")))
		}
		p.Serve()
	}
	servers["floods"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			for i := range 100_000 {
				p.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n"+`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`+"\n", i))
			}
			p.Reply(r, ok)
		}
		p.Serve()
	}
	servers["stderr flood"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			for range 100 {
				fmt.Fprint(os.Stderr, strings.Repeat("e", 100_000))
			}
			p.Reply(r, ok)
		}
		p.Serve()
	}
	servers["records"] = func(p *mcptest.Peer) { // tells what it was sent
		var lines []string
		arrived := make(chan string, 100)
		p.Call = func(r mcptest.Request) {
			if strings.Contains(string(r.Params.Arguments), "wait") {
				return // never answered
			}
			p.Reply(r, mcptest.Text(strings.Join(lines, "\n")))
		}
		go func() {
			for {
				r, ok := p.Read()
				if !ok {
					close(arrived)
					return
				}
				arrived <- r.Raw
				lines = append(lines, r.Raw)
				p.Answer(r)
			}
		}()
		for range arrived {
		}
	}
	servers["answers and exits"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			p.Reply(r, mcptest.Text(strings.Repeat("x", 1<<20)))
			os.Exit(0)
		}
		p.Serve()
	}
}

func call(t testing.TB, c *mcp.Connection, arguments string) (mcp.ToolResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	result, err := c.Tools()[0].Handler(ctx, json.RawMessage(arguments))
	isFitToShow(t, err)
	return result, err
}

func TestNoiseAroundTheHandshake(t *testing.T) {
	c := connect(t, stdioServer(t, "noisy"))
	result, err := call(t, c, `{"a":1}`)
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, result.Content)
	assert.Equal(t, []string{`skipped 4 lines of output that are not JSON-RPC messages, the first: "Welcome!"`}, c.Warnings())
}

func TestByteByByte(t *testing.T) {
	result, err := call(t, connect(t, stdioServer(t, "byte by byte")), `{}`)
	require.NoError(t, err)
	assert.Equal(t, "ok", result.Content)
}

func TestBrokenAnswersCostTheirCall(t *testing.T) {
	c := connect(t, stdioServer(t, "broken"))
	envelope := len(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":""}]}}`)
	tooLong := fmt.Sprintf("the server's answer of %d bytes is longer than the 67108864 allowed", 70<<20+envelope)
	for _, kinds := range [][2]string{
		{"seventy", tooLong},
		{"last", tooLong},
		{"cut", "decoding the server's answer: the message is incomplete"},
		{"comma", "decoding the server's answer: the text is not JSON"},
		{"deep", "decoding the server's answer: the JSON text nests too deeply"},
	} {
		kind, want := kinds[0], kinds[1]
		_, err := call(t, c, `{"kind":"`+kind+`"}`)
		assert.EqualError(t, err, `mcp server "test": calling tool "echo": `+want, kind)
		assert.NotErrorIs(t, err, mcp.ErrServerStopped)
		assert.NotErrorIs(t, err, mcp.ErrNotSent)
		result, err := call(t, c, `{}`)
		require.NoError(t, err, "the call after %s", kind)
		assert.Equal(t, "ok", result.Content)
	}
	result, err := call(t, c, `{"kind":"seventeen"}`)
	require.NoError(t, err)
	assert.Len(t, result.Content, 17<<20)
	assert.NoError(t, c.Err())
}

func TestOddAnswers(t *testing.T) {
	c := connect(t, stdioServer(t, "broken"))
	result, err := call(t, c, `{"kind":"neither"}`)
	require.NoError(t, err)
	assert.False(t, result.IsError)
	assert.NotEmpty(t, result.Content)
	for kind, want := range map[string]string{"strange error": `{"why":"<b>"}`, "bare error": "no such thing"} {
		result, err := call(t, c, `{"kind":"`+kind+`"}`)
		require.NoError(t, err)
		assert.True(t, result.IsError)
		assert.Contains(t, result.Content, want)
	}
}

func TestServerAsks(t *testing.T) {
	result, err := call(t, connect(t, stdioServer(t, "asks")), `{}`)
	require.NoError(t, err)
	assert.Equal(t, `{"jsonrpc":"2.0","id":"s0","result":{}}
{"jsonrpc":"2.0","id":"s1","error":{"code":-32601,"message":"this client does not support roots/list"}}
{"jsonrpc":"2.0","id":"s2","error":{"code":-32601,"message":"this client does not support sampling/createMessage"}}
{"jsonrpc":"2.0","id":"s3","error":{"code":-32601,"message":"this client does not support elicitation/create"}}
{"jsonrpc":"2.0","id":"s4","error":{"code":-32601,"message":"this client does not support vendor/x"}}`, result.Content)
}

func TestFloods(t *testing.T) {
	for _, name := range []string{"floods", "stderr flood"} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, stdioServer(t, name))
			result, err := call(t, c, `{}`)
			require.NoError(t, err)
			assert.Equal(t, "ok", result.Content)
			assert.Empty(t, c.Warnings())
		})
	}
}

func TestHandshakeOnTheWire(t *testing.T) {
	c := connect(t, stdioServer(t, "records"))
	result, err := call(t, c, ` {"q":"a<b && c>d \u2028 \/", "n":12345678901234567890} `)
	require.NoError(t, err)
	lines := strings.Split(result.Content, "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"github.com/seed94b59a13/mcp","version":"(devel)"},"protocolVersion":"2025-11-25","capabilities":{}}}`, lines[0])
	assert.Equal(t, `{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`, lines[1])
	assert.Equal(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`, lines[2])
	assert.Equal(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"q":"a<b && c>d \u2028 \/","n":12345678901234567890}}}`, lines[3])
}

func TestCancelledCall(t *testing.T) {
	c := connect(t, stdioServer(t, "records"))
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := c.Tools()[0].Handler(ctx, json.RawMessage(`{"wait":true}`))
		assert.ErrorIs(t, err, context.Canceled)
		assert.EqualError(t, err, `mcp server "test": calling tool "echo": context canceled`)
	})
	wire := func() string {
		result, err := call(t, c, `{}`)
		require.NoError(t, err)
		return result.Content
	}
	sent := func(what string) int { return strings.Count(wire(), what) }
	require.Eventually(t, func() bool { return sent(`"wait":true`) == 1 }, slack, time.Millisecond)
	cancel()
	wg.Wait()
	require.Eventually(t, func() bool { return sent("notifications/cancelled") == 1 }, slack, time.Millisecond)
	id := regexp.MustCompile(`"id":(\d+),.*"wait":true`).FindStringSubmatch(wire())[1]
	assert.Equal(t, 1, sent(`"params":{"reason":"context canceled","requestId":`+id+`}`))
	assert.NoError(t, c.Err())

	// A call whose context has ended is never sent.
	_, err := c.Tools()[0].Handler(ctx, json.RawMessage(`{"never":1}`))
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.Zero(t, sent(`"never"`))
}

func TestLastWordsAreHeard(t *testing.T) {
	c := connect(t, stdioServer(t, "answers and exits"))
	result, err := call(t, c, `{}`)
	require.NoError(t, err)
	assert.Len(t, result.Content, 1<<20)
	<-c.Done()
	assert.ErrorIs(t, c.Err(), mcp.ErrServerStopped)
	assert.EqualError(t, c.Err(), `mcp server "test": server stopped: exit status 0`)
	_, err = call(t, c, `{}`)
	assert.ErrorIs(t, err, mcp.ErrServerStopped)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.Len(t, c.Tools(), 1, "the list stays")
}

func TestManyCallers(t *testing.T) {
	c := connect(t, stdioServer(t, "plain"))
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			want := fmt.Sprintf(`{"i":%d}`, i)
			result, err := call(t, c, want)
			assert.NoError(t, err)
			assert.Equal(t, want, result.Content)
		})
	}
	wg.Wait()
}

func init() {
	servers["tells secrets"] = func(p *mcptest.Peer) {
		p.Print("key is " + os.Getenv("API_KEY") + "\n")
		p.Call = func(mcptest.Request) {
			fmt.Fprintln(os.Stderr, "cannot use", os.Getenv("API_KEY"), "of", os.Getenv("HOME"), os.Getenv("SHORT"))
			os.Exit(7)
		}
		p.Serve()
	}
	servers["deaf"] = func(p *mcptest.Peer) { // reads one call and the first byte of another, and says so
		for {
			r, _ := p.Read()
			if r.Method == "tools/call" {
				break
			}
			p.Answer(r)
		}
		fmt.Fprintln(os.Stderr, "first")
		os.Stdin.Read(make([]byte, 1))
		fmt.Fprintln(os.Stderr, "second")
		select {}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	server := stdioServer(t, "tells secrets", "API_KEY=hunter2-hunter2", "HOME=/home/somebody", "SHORT=short")
	c := connect(t, server)
	assert.Equal(t, []string{`skipped a line of output that is not a JSON-RPC message: "key is [masked]"`}, c.Warnings())
	_, err := call(t, c, `{}`)
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": server stopped: exit status 7; stderr: cannot use [masked] of /home/somebody short; the tool may have run`)
	assert.ErrorIs(t, err, mcp.ErrServerStopped)
	assert.NotErrorIs(t, err, mcp.ErrNotSent)
	<-c.Done()
	assert.EqualError(t, c.Err(), `mcp server "test": server stopped: exit status 7; stderr: cannot use [masked] of /home/somebody short`)
}

// A server that does not read its input holds up no caller, and what was never
// written is known not to have been sent.
func TestDeafServer(t *testing.T) {
	server := stdioServer(t, "deaf")
	server.StopTimeout = 100 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	first, second := &signalled{when: "first", done: make(chan struct{})}, &signalled{when: "second", done: make(chan struct{})}
	server.Stderr = io.MultiWriter(first, second)
	c := connect(t, server)
	large := json.RawMessage(`{"a":"` + strings.Repeat("x", 1<<19) + `"}`) // more than a pipe takes
	var wg sync.WaitGroup
	stuck := func(read *signalled) {
		wg.Go(func() {
			_, err := c.Tools()[0].Handler(ctx, large)
			assert.ErrorIs(t, err, context.Canceled)
			assert.NotErrorIs(t, err, mcp.ErrNotSent, "some of it was")
		})
		<-read.done
	}
	stuck(first)
	stuck(second)
	cancel()
	wg.Wait()
	for range 200 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			_, err := c.Tools()[0].Handler(ctx, nil)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorIs(t, err, mcp.ErrNotSent)
		})
	}
	wg.Wait()
	start := time.Now()
	require.NoError(t, c.Close())
	assert.Less(t, time.Since(start), 300*time.Millisecond+slack)
}

// The next call does not overtake the notice that one was cancelled.
func TestNoticeOfACancellationComesFirst(t *testing.T) {
	c := connect(t, stdioServer(t, "records"))
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.Tools()[0].Handler(ctx, json.RawMessage(fmt.Sprintf(`{"wait":%d}`, i)))
			assert.ErrorIs(t, err, context.Canceled)
		})
		require.Eventually(t, func() bool {
			result, err := call(t, c, `{}`)
			require.NoError(t, err)
			return strings.Contains(result.Content, fmt.Sprintf(`"wait":%d}`, i))
		}, 20*time.Second, time.Millisecond)
		cancel()
		wg.Wait()
		result, err := call(t, c, `{}`)
		require.NoError(t, err)
		require.Equal(t, i+1, strings.Count(result.Content, "notifications/cancelled"))
	}
}
