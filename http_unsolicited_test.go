package mcp_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// A hostLog collects what is written with package log.
type hostLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *hostLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *hostLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// What a server sends when nothing was asked, or behind an answer, is in no log
// and is nobody's answer.
func TestHTTPUnsolicited(t *testing.T) {
	var logged hostLog
	before := log.Writer()
	log.SetOutput(&logged)
	defer log.SetOutput(before)
	const more = `HTTP/1.1 200 OK` + "\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"sk-secret-1\":1}"
	for _, secure := range []bool{false, true} {
		for name, late := range map[string]bool{"behind": false, "later": true} {
			for _, form := range []string{
				"1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s",
				"1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
				"1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: %d\r\n\r\n%s",
				"1.9  200\r\nContent-Length:\r\n %d\r\n\r\n%s",
			} {
				t.Run(fmt.Sprint(name, " ", secure, " ", form[:8]), func(t *testing.T) {
					h := unstarted()
					again, ended := make(chan struct{}, 1), make(chan struct{}, 1)
					h.on["tools/call"] = func(a *asking) {
						answer := a.answer(mcptest.Text(string(a.Params.Arguments)))
						conn, w, err := a.w.(http.Hijacker).Hijack()
						if err != nil {
							panic(err)
						}
						fmt.Fprintf(w, "HTTP/"+form, len(answer), answer)
						if late {
							w.Flush()
							<-again
						}
						w.WriteString(more)
						w.Flush()
						awaitEnd(conn)
						conn.Close()
						ended <- struct{}{}
					}
					if secure {
						h.StartTLS()
					} else {
						h.Start()
					}
					t.Cleanup(h.Close)
					server := h.server()
					server.BearerToken = "sk-secret-1"
					if secure {
						standard := http.DefaultTransport.(*http.Transport)
						trusting := standard.Clone()
						trusting.TLSClientConfig = h.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
						trusting.TLSClientConfig.NextProtos = []string{"http/1.1"}
						http.DefaultTransport = trusting
						defer func() { http.DefaultTransport = standard }()
					}
					c := connect(t, server)
					for range 3 {
						works(t, c)
						if late {
							again <- struct{}{}
						}
						select {
						case <-ended: // the client has closed the connection
						case <-time.After(20 * time.Second):
							t.Fatal("the connection stays open")
						}
					}
				})
			}
		}
	}
	t.Run("before", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		go func() { // ends with the listener
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				io.WriteString(conn, more)
				awaitEnd(conn)
				conn.Close()
			}
		}()
		for range 20 {
			refuses(t, mcp.Server{Name: "test", URL: "http://" + l.Addr().String(), BearerToken: "sk-secret-1"})
		}
	})
	assert.Empty(t, logged.String())
}

// awaitEnd returns when the other side has closed the connection.
func awaitEnd(conn net.Conn) {
	for b := make([]byte, 1); ; {
		if _, err := conn.Read(b); err != nil {
			return
		}
	}
}
