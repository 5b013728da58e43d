package patience_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed94b59a13/mcp/internal/patience"
)

// A context ends when its time is over, but for the pauses, which may overlap.
func TestWithTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx, cancel := patience.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		inner, stop := context.WithCancel(ctx)
		defer stop()
		time.Sleep(4 * time.Second)
		first, second := patience.Pause(inner), patience.Pause(inner)
		time.Sleep(time.Hour)
		first()
		time.Sleep(time.Hour)
		assert.NoError(t, ctx.Err())
		second()
		<-inner.Done()
		assert.Equal(t, 2*time.Hour+10*time.Second, time.Since(begun))
		assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		assert.ErrorIs(t, context.Cause(inner), context.DeadlineExceeded)
	})
}

// The clocks of contexts around stand still, too, but not what else ends them.
func TestNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outermost, end := context.WithTimeout(t.Context(), time.Hour)
		defer end()
		outer, cancel := patience.WithTimeout(outermost, 2*time.Second)
		defer cancel()
		inner, cancel := patience.WithTimeout(outer, time.Second)
		defer cancel()
		defer patience.Pause(inner)()
		time.Sleep(time.Minute)
		assert.NoError(t, inner.Err())
		<-inner.Done()
		assert.ErrorIs(t, inner.Err(), context.DeadlineExceeded)
		assert.ErrorIs(t, outermost.Err(), context.DeadlineExceeded)
		cancelled, cancel := patience.WithTimeout(t.Context(), time.Second)
		cancel()
		assert.ErrorIs(t, cancelled.Err(), context.Canceled)
	})
}

// A limit begins anew with each sign of life, and never after its end.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l patience.Limit
		var over atomic.Int64
		l.Start(time.Second, func() { over.Add(1) })
		for range 5 {
			time.Sleep(900 * time.Millisecond)
			l.Restart(time.Second)
		}
		l.Pause()
		l.Restart(2 * time.Second) // progress while a person is asked
		time.Sleep(time.Minute)
		l.Resume()
		time.Sleep(1900 * time.Millisecond)
		assert.Zero(t, over.Load())
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, int64(1), over.Load())
		l.Stop()
		l.Restart(time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, int64(1), over.Load())
	})
}

// Of several that have ended, done wins.
func TestAwait(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	assert.False(t, patience.Await(ended, done, 0))
	assert.False(t, patience.Closed(done))
	assert.False(t, patience.Closed(nil))
	close(done)
	for range 100 {
		assert.True(t, patience.Await(ended, done, 0))
	}
	assert.True(t, patience.Closed(done))
}
