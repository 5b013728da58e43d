package streamable

// This file tests the network connections of the own transport.

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/secret"
)

// own returns a connection with a transport of its own to the URL.
func own(t *testing.T, address string, transport *http.Transport) *Conn {
	target, err := url.Parse(address)
	require.NoError(t, err)
	return New(Config{URL: target, Transport: transport, Own: transport, Quoter: secret.New()})
}

// A server that does not answer the TLS handshake costs the time for that, and
// the error is not taken for the caller's own.
func TestHandshakeThatHangs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	c := own(t, "https://"+l.Addr().String(), &http.Transport{TLSHandshakeTimeout: 50 * time.Millisecond})
	_, err = c.send(t.Context(), http.MethodPost, session{}, &request{body: []byte("{}")})
	assert.ErrorIs(t, err, errHandshake)
	assert.False(t, errors.Is(err, context.DeadlineExceeded))
	assert.Empty(t, c.conns)
}

// Connections of either kind are known while they are open.
func TestConnsAreKnown(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		h := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		h.EnableHTTP2 = http2
		h.StartTLS()
		c := own(t, h.URL, h.Client().Transport.(*http.Transport))
		resp, err := c.send(t.Context(), http.MethodPost, session{}, &request{body: []byte("{}")})
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, http2, resp.ProtoMajor == 2)
		assert.Len(t, c.conns, 1)
		c.closeAll()
		assert.Nil(t, c.conns)
		h.Close() // returns when the connection has ended
		_, err = c.send(t.Context(), http.MethodPost, session{}, &request{body: []byte("{}")})
		assert.Error(t, err)
	}
}
