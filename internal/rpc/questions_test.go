package rpc

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server that has withdrawn a question does not wait for a response, and may
// take the id for the next one before the first has been given up.
func TestWithdrawnQuestion(t *testing.T) {
	var running sync.WaitGroup
	var ended atomic.Int32
	type asked struct {
		context.Context
		answer chan struct{}
	}
	begun := make(chan asked, 1)
	b := &Pending{
		Go: func(f func()) bool { running.Go(func() { f(); ended.Add(1) }); return true },
		Elicit: func(ctx context.Context, _ []byte) []byte {
			a := asked{ctx, make(chan struct{})}
			begun <- a
			<-a.answer
			return []byte(`"result":{}`)
		},
	}
	replies := make(chan string, 2)
	asks := func(text string) {
		m, _, err := Parse([]byte(text))
		require.NoError(t, err)
		require.True(t, b.Asks(m, nil, func(reply []byte) { replies <- string(reply) }))
	}
	for _, id := range []string{`1`, `"a\u0020b"`} {
		question := `{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":{}}`
		asks(question)
		first := <-begun
		asks(strings.Replace(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}`, "ID", id, 1))
		<-first.Done()
		asks(question)
		second := <-begun
		close(first.answer)
		require.Eventually(t, func() bool { return ended.Load() == 1 }, time.Minute, time.Millisecond)
		require.NoError(t, second.Err(), "the second question has not ended with the first")
		close(second.answer)
		running.Wait()
		ended.Store(0)
		require.Len(t, replies, 1, "the first is not answered")
		assert.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`, <-replies)
		assert.Empty(t, b.asked)
	}
}
