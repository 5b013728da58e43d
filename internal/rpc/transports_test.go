package rpc_test

// This file compares the ways that an answer can take.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/stdio"
	"github.com/seed94b59a13/mcp/internal/streamable"
)

// A process ends when it is told to.
type process chan struct{}

func (p process) Wait() error { <-p; return nil }
func (p process) BeforeStop() {}
func (p process) Terminate()  { close(p) }
func (p process) Kill()       {}

func (p process) Warnings() []string { return nil }

// after is the answer to the call behind the one that is tried.
const after = `{"jsonrpc":"2.0","id":2,"result":{"after":true}}`

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// do makes a call, and says what its answer was.
func do(t *testing.T, link interface {
	Do(context.Context, *rpc.Call) error
}) string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a call that hangs fails the test
	defer cancel()
	call := rpc.NewCall("tools/list", nil)
	link.Do(ctx, call)
	require.NoError(t, ctx.Err(), "the call hangs")
	answer, err, _ := call.Outcome()
	defer answer.Release()
	switch {
	case err != nil:
		return "failed"
	case answer.Error != nil:
		return "error " + string(answer.Error)
	}
	return "result " + string(answer.Result)
}

// FuzzTransports gives any output for an answer, over stdio, as JSON and as an
// event. Where it holds the answer, all three find the same; the call behind it
// has its own.
func FuzzTransports(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"x":1}}`, `{"id":"1","result":null}`, `[{"jsonrpc":"2.0","id":1,"error":{"code":1}}]`, `{"jsonrpc":"2.0","id":1,"error":"no"}`,
		`{"jsonrpc":"2.0","method":"notifications/message"}{"jsonrpc":"2.0","id":1,"result":[]}`, `> {"jsonrpc":"2.0","id":1,"result":7}`, `{"jsonrpc":"2.0","id":9,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"res`, "log", `[[[`, "{\"id\":1,\"result\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		output = bytes.Map(func(r rune) rune { // one line
			if r < ' ' {
				return ' '
			}
			return r
		}, output)
		found := false
		for m, skipped := range rpc.Messages(output) {
			id, ok := raw.Whole(m.ID)
			if skipped == nil && m.Method == "" && (!ok || id != 1) {
				return // over HTTP it belongs to the call of its stream, or to another
			}
			found = found || skipped == nil && m.Method == ""
		}
		if !found {
			return
		}
		pipe := func() (r, w *os.File) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			return r, w
		}
		in, stdin := pipe()
		stdout, out := pipe()
		stderr, errs := pipe()
		defer in.Close()
		defer out.Close()
		defer errs.Close()
		lines := stdio.New(stdio.Config{Process: make(process), Stdin: stdin, Stdout: stdout, Stderr: stderr, Limit: 1 << 20, Pending: &rpc.Pending{}, OnEnd: func(error) {}})
		defer lines.Stop()
		go func() { // ends with the pipe
			buf := make([]byte, 4096)
			in.Read(buf)
			out.Write(append(bytes.Clone(output), '\n'))
			in.Read(buf)
			io.WriteString(out, after+"\n")
			io.Copy(io.Discard, in)
		}()
		want := do(t, lines)
		require.Equal(t, `result {"after":true}`, do(t, lines))
		target, _ := url.Parse("http://server.test/mcp")
		for kind, wrap := range map[string]func(string) string{
			"application/json":  func(s string) string { return s },
			"text/event-stream": func(s string) string { return "data: " + s + "\n\n" },
		} {
			body := wrap(string(output))
			link := streamable.New(streamable.Config{
				URL: target, Header: http.Header{}, Limit: 1 << 20, Pending: &rpc.Pending{}, OnEnd: func(error) {},
				StatusError: func(_ int, _ http.Header, _, text string) error { return errors.New(text) },
				Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					io.Copy(io.Discard, r.Body)
					text := body
					body = wrap(after)
					return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader([]byte(text))), ContentLength: -1, Request: r}, nil
				}),
			})
			require.Equal(t, want, do(t, link), kind)
			require.Equal(t, `result {"after":true}`, do(t, link), kind)
			link.Stop()
		}
	})
}
