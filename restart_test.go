package mcp_test

// This file starts servers again that have ended by themselves.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

func init() {
	// It counts its starts and the calls that it got in files of the folder in
	// its argument, lists what stands in the file list.N there, or else one
	// tool, and does what a call asks for. A start for which there is a file
	// hang.N does not answer until the file is gone.
	servers["mortal"] = func(p *mcptest.Peer) {
		dir := os.Args[1]
		start := len(lines(dir, "starts")) + 1
		note(dir, "starts", strconv.Itoa(start))
		if list, err := os.ReadFile(filepath.Join(dir, "list."+strconv.Itoa(start))); err == nil {
			p.Tools = string(list)
		}
		if _, err := os.Stat(filepath.Join(dir, "exit."+strconv.Itoa(start))); err == nil {
			fmt.Fprintln(os.Stderr, "no license")
			os.Exit(4)
		}
		p.On["initialize"] = func(r mcptest.Request) {
			for {
				if _, err := os.Stat(filepath.Join(dir, "hang."+strconv.Itoa(start))); err != nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			p.Reply(r, strings.ReplaceAll(p.Initialize, "$VERSION", r.Params.ProtocolVersion))
		}
		p.Call = func(r mcptest.Request) {
			note(dir, "calls", string(r.Params.Arguments))
			switch {
			case strings.Contains(string(r.Params.Arguments), "die"):
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(7)
			case strings.Contains(string(r.Params.Arguments), "fail"):
				p.Fail(r, -32000, "refused")
			default:
				p.Reply(r, mcptest.Text("start "+strconv.Itoa(start)))
			}
		}
		p.Serve()
	}
}

func note(dir, name, line string) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, line)
		f.Close()
	}
}

func lines(dir, name string) []string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.Fields(string(text))
}

// mortal connects to a server that is started again.
func mortal(t *testing.T, change func(*mcp.Server)) (c *mcp.Connection, dir string) {
	t.Helper()
	dir = t.TempDir()
	server := stdioServer(t, "mortal")
	server.Args, server.Restart = []string{dir}, true
	if change != nil {
		change(&server)
	}
	return connect(t, server), dir
}

const (
	anew = "[the server had ended and was started anew before this call: what it held is gone]\n"

	otherTool = `[{"name":"echo","description":"Deletes all.","inputSchema":{"type":"object"}}]`
)

func TestRestart(t *testing.T) {
	c, dir := mortal(t, nil)
	tool := c.Tools()[0]
	result, err := tool.Handler(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "start 1", result.Content)

	_, err = tool.Handler(t.Context(), []byte(`{"a":"die"}`))
	assert.ErrorIs(t, err, mcp.ErrServerStopped)
	assert.NotErrorIs(t, err, mcp.ErrNotSent)
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": server stopped: exit status 7; stderr: out of memory; the tool may have run`)
	assert.NoError(t, c.Err(), "it can be started again")
	assert.Empty(t, c.Warnings())

	result, err = tool.Handler(t.Context(), nil)
	require.NoError(t, err, "a start that answered a call is followed by one without a wait")
	assert.Equal(t, anew+"start 2", result.Content)
	result, err = tool.Handler(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "start 2", result.Content, "the note is said once")
	assert.Equal(t, []string{"{}", `{"a":"die"}`, "{}", "{}"}, lines(dir, "calls"), "nothing is sent again")
	assert.Equal(t, []string{"the server was started again (1 time so far), the last time after: server stopped: exit status 7; stderr: out of memory"}, c.Warnings())

	_, err = tool.Handler(t.Context(), []byte(`{"a":"die"}`))
	assert.ErrorIs(t, err, mcp.ErrServerStopped)
	require.NoError(t, c.RefreshTools(t.Context()), "a refresh starts it as well")
	assert.Len(t, lines(dir, "starts"), 3)
	select {
	case <-c.ToolsChanged():
		t.Fatal("the same list is not a change")
	default:
	}
	result, err = tool.Handler(t.Context(), []byte(`{"a":"fail"}`))
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.Equal(t, anew+"[error] refused (code -32000)", result.Content)

	require.NoError(t, c.Close())
	_, err = tool.Handler(t.Context(), nil)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.Len(t, lines(dir, "starts"), 3, "nothing starts after Close")
}

// A call may find a session ended before the connection has been told. The start
// that it needs counts like any other.
func TestRestartOfASessionThatEndsJustNow(t *testing.T) {
	c, dir := mortal(t, nil)
	mcp.BeginsLate(c)
	mcp.EndSession(c, errors.New("it is gone"))
	_, err := call(t, c, `{}`)
	require.ErrorContains(t, err, "it is gone; it may be started again in", "it has answered no call")
	assert.Len(t, lines(dir, "starts"), 1)

	c, _ = mortal(t, nil)
	_, err = call(t, c, `{}`)
	require.NoError(t, err)
	mcp.EndSession(c, errors.New("it is gone"))
	_, err = call(t, c, `{}`)
	require.NoError(t, err)
	assert.Equal(t, []string{"the server was started again (1 time so far), the last time after: server stopped: it is gone"}, c.Warnings())
}

func TestRestartNoteIsCapped(t *testing.T) {
	c, _ := mortal(t, func(s *mcp.Server) { s.MaxOutput = 64 })
	_, err := call(t, c, `{}`)
	require.NoError(t, err)
	_, err = call(t, c, `{"a":"die"}`)
	require.Error(t, err)
	result, err := call(t, c, `{}`)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(result.Content), 64)
	assert.True(t, strings.HasPrefix(result.Content, "[the server had ended"), result.Content)
}

// A tool that the server describes differently after a restart is not the one
// that was meant.
func TestRestartWithOtherTools(t *testing.T) {
	c, dir := mortal(t, nil)
	tool := c.Tools()[0]
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list.2"), []byte(otherTool), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list.3"), []byte(`[{"name":"new"}]`), 0o600))
	_, err := tool.Handler(t.Context(), nil)
	require.NoError(t, err)
	_, err = tool.Handler(t.Context(), []byte(`{"a":"die"}`))
	require.Error(t, err)

	_, err = tool.Handler(t.Context(), nil)
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": request not sent: the server was started anew and describes the tool differently now: see the new list`)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	<-c.ToolsChanged()
	now := c.Tools()[0]
	assert.NotEqual(t, tool.Fingerprint, now.Fingerprint)
	result, err := now.Handler(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, anew+"start 2", result.Content)
	_, err = tool.Handler(t.Context(), nil)
	assert.ErrorIs(t, err, mcp.ErrNotSent, "the old one stays refused")

	_, err = now.Handler(t.Context(), []byte(`{"a":"die"}`))
	require.Error(t, err)
	_, err = now.Handler(t.Context(), nil)
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": request not sent: the server was started anew and does not offer the tool any more: see the new list`)
	assert.Equal(t, []string{"{}", `{"a":"die"}`, "{}", `{"a":"die"}`}, lines(dir, "calls"))
}

// Calls that come during a start share it, each as long as its own context
// lets it.
func TestRestartIsShared(t *testing.T) {
	c, dir := mortal(t, nil)
	_, err := call(t, c, `{}`)
	require.NoError(t, err)
	_, err = call(t, c, `{"a":"die"}`)
	require.Error(t, err)
	hang := filepath.Join(dir, "hang.2")
	require.NoError(t, os.WriteFile(hang, nil, 0o600))

	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := c.Tools()[0].Handler(ctx, nil)
		left <- err
	}()
	for len(lines(dir, "starts")) < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	err = <-left
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, mcp.ErrNotSent)

	var notes atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			result, err := call(t, c, `{}`)
			assert.NoError(t, err)
			if strings.HasPrefix(result.Content, anew) {
				notes.Add(1)
			}
		})
	}
	require.NoError(t, os.Remove(hang))
	wg.Wait()
	assert.Len(t, lines(dir, "starts"), 2)
	assert.Equal(t, int64(1), notes.Load())
	assert.Len(t, lines(dir, "calls"), 52)
}

func TestRestartWaits(t *testing.T) {
	c, dir := mortal(t, nil)
	_, err := call(t, c, `{"a":"die"}`) // the first start has answered nothing
	assert.ErrorIs(t, err, mcp.ErrServerStopped)
	for {
		// A busy machine may well be past the wait by now.
		_, err = call(t, c, `{}`)
		if err == nil {
			break
		}
		assert.ErrorIs(t, err, mcp.ErrNotSent)
		assert.ErrorIs(t, err, mcp.ErrServerStopped)
		assert.Regexp(t, `^mcp server "test": calling tool "echo": request not sent: server stopped: exit status 7; stderr: out of memory; it may be started again in [0-9]+(\.[0-9]+)?m?s$`, err)
		assert.Len(t, lines(dir, "starts"), 1)
	}
	assert.Len(t, lines(dir, "starts"), 2)
	assert.NoError(t, c.Err())
}

// Starts that fail end the connection.
func TestRestartGivesUp(t *testing.T) {
	if testing.Short() {
		t.Skip("the waits between starts take 15 s")
	}
	c, dir := mortal(t, nil)
	for i := range 9 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "exit."+strconv.Itoa(i+2)), nil, 0o600))
	}
	_, err := call(t, c, `{"a":"die"}`)
	require.Error(t, err)
	for open := true; open; {
		_, err = call(t, c, `{}`)
		require.ErrorIs(t, err, mcp.ErrNotSent)
		select {
		case <-c.Done():
			open = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	assert.EqualError(t, c.Err(), `mcp server "test": initializing: server stopped: exit status 4; stderr: no license; none of the last 5 starts answered a call`)
	assert.ErrorIs(t, c.Err(), mcp.ErrServerStopped)
	assert.Len(t, lines(dir, "starts"), 5)
	_, err = call(t, c, `{}`)
	assert.ErrorContains(t, err, "none of the last 5 starts answered a call")
	assert.Len(t, lines(dir, "starts"), 5)
}

// Close wins over a start, and over those who wait for it.
func TestCloseDuringRestart(t *testing.T) {
	c, dir := mortal(t, nil)
	_, err := call(t, c, `{}`)
	require.NoError(t, err)
	_, err = call(t, c, `{"a":"die"}`)
	require.Error(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hang.2"), nil, 0o600))
	waiting := make(chan error, 1)
	go func() {
		_, err := call(t, c, `{}`)
		waiting <- err
	}()
	for len(lines(dir, "starts")) < 2 {
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, c.Close())
	err = <-waiting
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.ErrorContains(t, err, "the connection is closed")
	assert.NoError(t, c.Err())
	assert.Len(t, lines(dir, "calls"), 2)
}

// Without Restart an end is an end, and a URL knows no restart.
func TestNoRestart(t *testing.T) {
	c, dir := mortal(t, func(s *mcp.Server) { s.Restart = false })
	_, err := call(t, c, `{"a":"die"}`)
	require.Error(t, err)
	<-c.Done()
	assert.EqualError(t, c.Err(), `mcp server "test": server stopped: exit status 7; stderr: out of memory`)
	_, err = call(t, c, `{}`)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.Len(t, lines(dir, "starts"), 1)
}
