package mcp_test

// This file tests that the words of a server reach whoever has to read them,
// wherever and in whatever encoding it says them.

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// toUTF16 encodes a text as programs of Windows do.
func toUTF16(order binary.AppendByteOrder, s string) string {
	var out []byte
	for _, c := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, c)
	}
	return string(out)
}

func init() {
	// Arguments: what to print on stdout and on stderr, and what to do then.
	servers["says words"] = func(p *mcptest.Peer) {
		out, _ := strconv.Unquote(os.Args[1])
		errs, _ := strconv.Unquote(os.Args[2])
		p.Print(out)
		io.WriteString(os.Stderr, errs)
		switch os.Args[3] {
		case "exits":
			os.Exit(2)
		case "reads":
			io.Copy(io.Discard, os.Stdin)
		}
		p.Serve()
	}
	servers["utf16"] = func(*mcptest.Peer) {
		var order binary.AppendByteOrder = binary.LittleEndian
		mark := "\ufeff"
		switch os.Args[1] {
		case "big":
			order = binary.BigEndian
		case "bare":
			mark = ""
		}
		mcptest.NewPeer(os.Stdin, writerFunc(func(text []byte) {
			io.WriteString(os.Stdout, toUTF16(order, mark+strings.ReplaceAll(string(text), "\n", "\r\n")))
			mark = ""
		})).Serve()
	}
	servers["repeats"] = func(*mcptest.Peer) { io.Copy(os.Stdout, os.Stdin) }
	// The argument is the answer to each call, and $ID its id.
	servers["nameless"] = func(p *mcptest.Peer) {
		p.On["notifications/initialized"] = func(mcptest.Request) {
			p.Print(`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no notifications here"}}` + "\n")
		}
		p.Call = func(r mcptest.Request) {
			p.Print(strings.ReplaceAll(os.Args[1], "$ID", string(r.ID)) + "\n")
		}
		p.Serve()
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// failsToStart returns the error of a start that has to fail: one that holds a
// text. Where the server gets to say it only on a machine that is less busy, it
// gets more time.
func failsToStart(t *testing.T, server mcp.Server, want string) (got string) {
	mcptest.NoLeaks(t)
	for limit := time.Second; !strings.Contains(got, want) && limit < 20*time.Second; limit *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := mcp.Connect(ctx, server)
		cancel()
		require.Error(t, err)
		got = err.Error()
	}
	return got
}

func TestWordsOfAStart(t *testing.T) {
	long := strings.Repeat("usage line\n", 1000)
	for name, test := range map[string]struct{ out, errs, then, want string }{
		"usage":             {"Usage: server <dir>\n  --port n\n", "", "exits", "exit status 2; stdout: Usage: server <dir>\n--port n"},
		"both":              {"EXAMPLE_API_KEY is not set\n", "fatal\n", "exits", "exit status 2; stderr: fatal; stdout: EXAMPLE_API_KEY is not set"},
		"a question":        {"Need to install x@1\nOk to proceed? (y) ", "", "reads", "context deadline exceeded; stdout: Need to install x@1\nOk to proceed? (y)"},
		"a secret":          {"bad token hunter2-hunter2, I say", "", "exits", "exit status 2; stdout: bad token [masked], I say"},
		"the end of much":   {long + "no key", "", "exits", "usage line\nno key"},
		"an object":         {`{"error":"no key"}`, "", "exits", `exit status 2; stdout: {"error":"no key"}`},
		"half a message":    {`{"jsonrpc":"2.0","id":1,"res`, "", "reads", `context deadline exceeded; stdout: {"jsonrpc":"2.0","id":1,"res`},
		"headers":           {"Content-Length: 40\r\n\r\n{", "", "reads", "context deadline exceeded; it sends messages with Content-Length headers, and may wait for some, where each message is to be a line; stdout: Content-Length: 40\n{"},
		"escape sequences":  {"", "\x1b[31mfatal\x1b[0m: \x1b]0;title\x07no key\x00\r\n\x1b[2K", "exits", "exit status 2; stderr: fatal: no key"},
		"hidden characters": {"a\u202eb\u200b\u0007c", "", "exits", "exit status 2; stdout: abc"},
		"UTF-16":            {"", toUTF16(binary.LittleEndian, "There is no distribution with the supplied name.\r\nError: WSL_E\r\n"), "exits", "exit status 2; stderr: There is no distribution with the supplied name.\nError: WSL_E"},
		"UTF-16 with mark":  {"", toUTF16(binary.LittleEndian, "\ufeffKeine Wörter €\r\n"), "exits", "exit status 2; stderr: Keine Wörter €"},
		"UTF-16 of others":  {"", toUTF16(binary.LittleEndian, "没有已安装的分发版。\r\n"), "exits", "exit status 2; stderr: 没有已安装的分发版。"},
		"mixed encodings":   {"", "plain ü\n" + toUTF16(binary.LittleEndian, "wide ü\r\n") + "plain again\n", "exits", "exit status 2; stderr: plain ü\nwide ü\nplain again"},
		"UTF-16 on stdout":  {toUTF16(binary.LittleEndian, "no key\r\n"), "", "exits", "exit status 2; stdout: no key"},
	} {
		t.Run(name, func(t *testing.T) {
			server := stdioServer(t, "says words", "TOKEN=hunter2-hunter2")
			server.Args = []string{strconv.Quote(test.out), strconv.Quote(test.errs), test.then}
			err := failsToStart(t, server, test.want)
			assert.True(t, strings.HasSuffix(err, test.want), "%s", err)
			assert.NotContains(t, err, "hunter2")
			assert.Less(t, len(err), 9<<10)
		})
	}
}

// What was printed at the start is not quoted for what went wrong later.
func TestWordsOfAnEnd(t *testing.T) {
	for last, want := range map[string]string{"": "exit status 7", "disk full\n": "exit status 7; stdout: disk full", "panic: no": "exit status 7; stdout: panic: no"} {
		server := stdioServer(t, "last words")
		server.Args = []string{strconv.Quote(last)}
		c := connect(t, server)
		_, err := call(t, c, `{}`)
		assert.ErrorIs(t, err, mcp.ErrServerStopped)
		<-c.Done()
		assert.EqualError(t, c.Err(), `mcp server "test": server stopped: `+want)
	}
}

func init() {
	servers["last words"] = func(p *mcptest.Peer) {
		p.Print("Welcome!\n")
		p.Call = func(mcptest.Request) {
			last, _ := strconv.Unquote(os.Args[1])
			p.Print(last)
			os.Exit(7)
		}
		p.Serve()
	}
}

func TestUTF16(t *testing.T) {
	for _, kind := range []string{"marked", "bare", "big"} {
		server := stdioServer(t, "utf16")
		server.Args = []string{kind}
		c := connect(t, server)
		for range 2 {
			result, err := call(t, c, `{"a":"ü €\ud83d\ude00 \u010a 😀ऀ"}`)
			require.NoError(t, err, kind)
			assert.Equal(t, `{"a":"ü €\ud83d\ude00 \u010a 😀ऀ"}`, result.Content)
		}
		assert.Empty(t, c.Warnings())
	}
}

func TestEcho(t *testing.T) {
	want := "initializing: context deadline exceeded; the program repeats what it is sent"
	err := failsToStart(t, stdioServer(t, "repeats"), want)
	assert.Contains(t, err, want)
	assert.NotContains(t, err, "does not support")
}

// An answer whose id names no request.
func TestNamelessAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"line longer than 64 KiB"}}`: "line longer than 64 KiB",
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"cannot read"}}`:                       "cannot read",
		`{"jsonrpc":"2.0","id":"","error":{"code":-32600,"message":"odd request"}}`:               "odd request",
		`{"jsonrpc":"2.0","id":[1],"error":{"code":-32600,"message":"odd request"}}`:              "odd request",
		`{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"odd request"}}`:                "odd request",
		`{"jsonrpc":"2.0","id":-1,"error":{"code":-32603,"message":"odd request"}}`:               "odd request",
	} {
		server := stdioServer(t, "nameless")
		server.Args = []string{answer}
		c := connect(t, server)
		result, err := call(t, c, `{}`)
		require.NoError(t, err, answer)
		assert.True(t, result.IsError)
		assert.Contains(t, result.Content, want)
		assert.Equal(t, []string{`skipped an answer without the id of a request that waits for one: "no notifications here"`}, c.Warnings())
	}
	// Nobody can say whose a result is, nor whose an error is where two wait.
	for answer, want := range map[string]string{
		`{"jsonrpc":"2.0","id":null,"result":{"content":[{"type":"text","text":"forty-two"}]}}`: "forty-two",
		`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"forty-two"}]}}`:  "forty-two",
		`{"jsonrpc":"2.0","id":77,"result":{"content":[{"type":"text","text":"forty-two"}]}}`:   "forty-two",
		`{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"forty-two"}}`:                    "forty-two",
	} {
		server := stdioServer(t, "nameless")
		server.Args = []string{strings.Repeat(answer, 2)}
		c := connect(t, server)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // ends with the call
			assert.Eventually(t, func() bool { return strings.Contains(fmt.Sprint(c.Warnings()), "skipped 3 answers") }, slack, time.Millisecond)
			cancel()
		}()
		_, err := c.Tools()[0].Handler(ctx, json.RawMessage(`{}`))
		assert.ErrorIs(t, err, context.Canceled, want)
	}
}

// A ping is answered however long its id, or its loss is told.
func TestLongIDs(t *testing.T) {
	server := stdioServer(t, "long ids")
	c := connect(t, server)
	result, err := call(t, c, `{}`)
	require.NoError(t, err)
	assert.Equal(t, "60000 bytes came back", result.Content)
	assert.Equal(t, []string{`skipped a request of the server whose id is too long to be sent back: "ping"`}, c.Warnings())
}

func init() {
	servers["long ids"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			p.Print(`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 200_000) + `","method":"ping"}` + "\n")
			p.Print(`{"jsonrpc":"2.0","id":"` + strings.Repeat("y", 60_000) + `","method":"ping"}` + "\n")
			reply, _ := p.Read()
			p.Reply(r, mcptest.Text(fmt.Sprint(strings.Count(reply.Raw, "y"), " bytes came back")))
		}
		p.Serve()
	}
}
