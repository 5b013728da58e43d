package stdio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

// played returns a connection to a server that the test plays.
func played(t *testing.T) (c *Conn, in *bufio.Scanner, out, errs *os.File, ended chan error) {
	return playedBy(t, make(sleeper))
}

func playedBy(t *testing.T, process Process) (c *Conn, in *bufio.Scanner, out, errs *os.File, ended chan error) {
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	stdinRead, stdin := pipe()
	stdout, out := pipe()
	stderr, errs := pipe()
	ended = make(chan error, 1)
	c = New(Config{Process: process, Stdin: stdin, Stdout: stdout, Stderr: stderr, Limit: 1 << 20, StopTimeout: time.Millisecond, Pending: &rpc.Pending{}, OnEnd: func(err error) { ended <- err }})
	t.Cleanup(c.Stop)
	return c, bufio.NewScanner(stdinRead), out, errs, ended
}

// A server that is silent after a call was cancelled is pinged when the next
// call waits, and taken for gone if it stays silent.
func TestSilenceAfterACancellation(t *testing.T) {
	for _, kind := range []string{"silent", "answers the ping", "logs", "not cancelled"} {
		t.Run(kind, func(t *testing.T) {
			c, in, out, errs, ended := played(t)
			c.doubt.quietTime, c.doubt.pingTime = 10*time.Millisecond, 500*time.Millisecond
			if kind != "not cancelled" {
				require.NoError(t, c.Notify(t.Context(), rpc.MethodCancelled, rpc.Cancelled(7, "x")))
			}
			var wg sync.WaitGroup
			defer wg.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			wg.Go(func() { failed <- c.Do(ctx, rpc.NewCall("tools/call", nil)) })
			var methods []string
			for in.Scan() {
				m, _, err := rpc.Parse(in.Bytes())
				require.NoError(t, err)
				if methods = append(methods, m.Method); m.Method == rpc.MethodPing || kind == "not cancelled" {
					switch kind {
					case "answers the ping":
						fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", m.ID)
					case "logs":
						io.WriteString(errs, "still at work\n")
					}
					break
				}
			}
			if kind == "not cancelled" {
				assert.Equal(t, []string{"tools/call"}, methods)
				return
			}
			assert.Equal(t, []string{"notifications/cancelled", "tools/call", "ping"}, methods)
			if kind == "silent" {
				assert.ErrorContains(t, <-ended, "it has been silent since a call was cancelled")
				assert.ErrorIs(t, <-failed, errStopped)
				return
			}
			c.doubt.watches.Wait() // the ping has its answer, or there was another sign of life
			select {
			case err := <-ended:
				assert.NoError(t, err)
			default:
			}
		})
	}
}

// A server that may still work on what was cancelled is not left to itself for
// as long as another.
func TestStopAfterACancellation(t *testing.T) {
	c, in, _, _, _ := played(t)
	c.StopTimeout = 10 * time.Minute // the test ends before
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the call
		in.Scan()
		cancel()
	}()
	assert.ErrorIs(t, c.Do(ctx, rpc.NewCall("tools/call", nil)), context.Canceled)
	c.Stop()
	select {
	case <-c.exited:
	default:
		assert.Fail(t, "the server is still there")
	}
}
