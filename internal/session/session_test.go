package session

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/progress"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// A mute transport never has an answer: during is called while it waits for one.
type mute struct {
	begins  bool // the call goes out
	during  func()
	ends    chan struct{}
	notices []string
}

func (m *mute) Do(ctx context.Context, call *rpc.Call) error {
	if m.begins {
		call.Begin()
	}
	m.during()
	select {
	case <-ctx.Done():
	case <-m.ends:
	}
	return nil
}

func (m *mute) Notify(_ context.Context, method string, _ []byte) error {
	m.notices = append(m.notices, method)
	return nil
}

func (m *mute) Stop()              { close(m.ends) }
func (m *mute) Abort()             { close(m.ends) }
func (m *mute) Quote() string      { return "; stderr: out of memory" }
func (m *mute) Warnings() []string { return nil }

func TestCallWithoutAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		before, begins bool // the context has ended before; the call goes out
		during         func(s *Session, end context.CancelCauseFunc)
		want           string
		is             []error
		notices        []string
	}{
		"a context that has ended": {before: true, want: "request not sent: context canceled", is: []error{ErrNotSent, context.Canceled}},
		"a context that ends before the call is out": {
			during: func(_ *Session, end context.CancelCauseFunc) { end(nil) },
			want:   "request not sent: context canceled", is: []error{ErrNotSent, context.Canceled},
		},
		"a context that ends": {
			begins: true, during: func(_ *Session, end context.CancelCauseFunc) { end(nil) },
			want: "context canceled", is: []error{context.Canceled}, notices: []string{rpc.MethodCancelled},
		},
		"silence": {
			begins: true, during: func(_ *Session, end context.CancelCauseFunc) { end(progress.Silence(time.Minute)) },
			want: "no answer or progress for 1m0s; the tool may have run", notices: []string{rpc.MethodCancelled},
		},
		"a server that ends": {
			begins: true, during: func(s *Session, _ context.CancelCauseFunc) {
				s.End(errors.New("exit status 7"))
				close(s.transport.(*mute).ends)
			},
			want: "server stopped: exit status 7; the tool may have run", is: []error{ErrStopped},
		},
		"a server that ends before the call is out": {
			during: func(s *Session, _ context.CancelCauseFunc) {
				s.End(errors.New("exit status 7"))
				close(s.transport.(*mute).ends)
			},
			want: "request not sent: server stopped: exit status 7", is: []error{ErrNotSent, ErrStopped},
		},
		"a close": {
			begins: true, during: func(s *Session, _ context.CancelCauseFunc) { s.Close() },
			want: "the connection is closed", is: []error{ErrClosed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mute{begins: test.begins, ends: make(chan struct{})}
				s := (&Config{Quoter: secret.New()}).prepare()
				s.transport = m
				ctx, end := context.WithCancelCause(t.Context())
				defer end(nil)
				if m.during = func() { test.during(s, end) }; test.before {
					end(nil)
				}
				_, err := s.Call(ctx, rpc.NewCall("tools/call", nil))
				assert.EqualError(t, err, test.want)
				for _, target := range []error{ErrNotSent, ErrStopped, ErrClosed, context.Canceled} {
					wanted := false
					for _, is := range test.is {
						wanted = wanted || is == target
					}
					assert.Equal(t, wanted, errors.Is(err, target), "%v", target)
				}
				assert.Equal(t, test.notices, m.notices)
			})
		})
	}
}

// What a session whose start has failed tells: first what the server answered,
// then how it ended, then what it said.
func TestGiveUp(t *testing.T) {
	refusal := fmt.Errorf("calling: %w", &jsonrpc.Error{Code: -32000, Message: "no licence for hunter2-hunter2"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for want, test := range map[string]struct {
		ctx  context.Context
		err  error
		ends error
	}{
		"initializing: no licence for [masked] (code -32000)":   {ended, refusal, errors.New("exit status 7")},
		"initializing: server stopped: exit status 7":           {ended, context.Canceled, errors.New("exit status 7")},
		"initializing: context canceled; stderr: out of memory": {ended, errors.New("the end of the input"), nil},
		"initializing: what came is not a handshake":            {t.Context(), errors.New("what came is not a handshake"), nil},
	} {
		s := (&Config{Quoter: secret.New("hunter2-hunter2")}).prepare()
		s.transport = &mute{ends: make(chan struct{})}
		if test.ends != nil {
			s.End(test.ends)
		}
		assert.EqualError(t, s.GiveUp(test.ctx, "initializing", test.err), want)
		assert.True(t, s.Over())
	}
}

// The wait before a start doubles with each that answered no call, from the second
// on, and the fifth of them is the last.
func TestStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := Starts{Begun: time.Now()}
		why := errors.New("exit status 7")
		require.NoError(t, starts.Ended(why, true))
		require.NoError(t, starts.Again(), "one that answered may be followed at once")
		for _, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
			require.NoError(t, starts.Ended(why, false))
			time.Sleep(wait - time.Millisecond)
			require.ErrorContains(t, starts.Again(), "server stopped: exit status 7; it may be started again in 2ms")
			time.Sleep(time.Millisecond)
			require.NoError(t, starts.Again())
		}
		assert.Equal(t, []string{"the server was started again (5 times so far), the last time after: server stopped: exit status 7"}, starts.Warnings())
		err := starts.Ended(why, false)
		require.EqualError(t, err, "server stopped: exit status 7; none of the last 5 starts answered a call")
		require.ErrorIs(t, err, ErrStopped)
		require.NoError(t, starts.Ended(why, true), "an answer makes good for all before it")
		require.NoError(t, starts.Ended(why, false))
	})
}
