package streamable

// This file tests notices, which get no answer.

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// A notice has been taken when Notify returns, so that no later request overtakes
// it; but nobody waits for a server that does not take it.
func TestNotify(t *testing.T) {
	var taken atomic.Int64
	goOn := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-goOn
		taken.Add(1)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer h.Close()
	target, err := url.Parse(h.URL + "/x")
	require.NoError(t, err)
	c := New(Config{URL: target, Transport: h.Client().Transport, Quoter: secret.New(), Pending: &rpc.Pending{}})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, c.Notify(ended, rpc.MethodCancelled, rpc.Cancelled(7, "x")))
	assert.Zero(t, taken.Load())
	close(goOn)
	for i := range 10 {
		require.NoError(t, c.Notify(t.Context(), rpc.MethodCancelled, rpc.Cancelled(7, "x")))
		assert.GreaterOrEqual(t, taken.Load(), int64(i+1))
	}
	require.Eventually(t, func() bool { return taken.Load() == 11 }, time.Minute, time.Millisecond, "that of the context that had ended, too")
	c.Stop()
}
