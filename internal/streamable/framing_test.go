package streamable

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// answersWhole are answers of one request each, as they stand on the wire.
var answersWhole = map[string]string{
	"length":         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	"no body":        "HTTP/1.1 202 Accepted\r\ncontent-length:0\r\n\r\n",
	"204":            "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
	"304":            "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
	"chunks":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n",
	"trailers":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n",
	"informational":  "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
	"bare line ends": "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
	"length twice":   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.0":       "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\nok",
	"another HTTP":   "HTTP/1.7 200 OK\r\nContent-Length: 2\r\n\r\nok",
	"more space":     "HTTP/1.1   200\r\nContent-Length: 2\r\n\r\nok",
	"two sizes":      "HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"folded lines":   "HTTP/1.1 200 OK\r\nX: y\r\n Content-Length: 5\r\nContent-Length:\r\n\t2\r\n\r\nok",
	"folded coding":  "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\nX: y\r\n\r\n0\r\n\r\n",
}

// What stands behind an answer is not expected, however the network cuts it.
func TestFraming(t *testing.T) {
	for name, answer := range answersWhole {
		for _, behind := range []string{"", "x", "\r\n", answer, "HTTP/1.1 408 Request Timeout\r\n\r\n"} {
			for cut := 1; cut <= len(answer)+1; cut++ {
				var f framing
				f.begin(true)
				text, n := []byte(answer+behind), 0
				for len(text) > n {
					piece := text[n:min(n+cut, len(text))]
					got := f.pass(piece)
					n += got
					if got < len(piece) {
						break
					}
				}
				assert.Equal(t, len(answer), n, "%s and %q in pieces of %d", name, behind, cut)
			}
		}
	}
	for name, answer := range map[string]string{
		"until the end":  "HTTP/1.1 200 OK\r\n\r\nhello",
		"HTTP/1.0":       "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nhello",
		"an upgrade":     "HTTP/1.1 101 Switching Protocols\r\n\r\nhello",
		"two lengths":    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhello",
		"another coding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nhello",
		"a wrong size":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello",
		"no HTTP":        "SSH-2.0-OpenSSH\r\nhello\r\n\r\n",
	} {
		var f framing
		f.begin(true)
		assert.Equal(t, len(answer), f.pass([]byte(answer)), name)
	}
	var f framing
	assert.Equal(t, 5, f.pass([]byte("hello")), "before the first request")
	f.begin(false)
	assert.Equal(t, 5, f.pass([]byte("hello")), "encrypted")
	f.end()
	assert.Equal(t, 0, f.pass([]byte("hello")), "between two requests")
}

// Whatever net/http takes for an answer has passed, and nothing behind one after
// which it keeps the connection.
func FuzzFraming(f *testing.F) {
	for _, answer := range answersWhole {
		f.Add([]byte(answer), 7)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		if cut <= 0 || len(data) > 1<<16 {
			return
		}
		read := func(text []byte) (bodies []string, kept []byte) {
			src := bytes.NewReader(text)
			r := bufio.NewReader(src)
			for range 3 { // informational answers before it
				resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodPost})
				if err != nil {
					return bodies, nil
				}
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					return bodies, nil
				}
				bodies = append(bodies, string(body))
				if resp.StatusCode >= 200 {
					if !resp.Close {
						kept, _ = io.ReadAll(r)
					}
					return bodies, kept
				}
			}
			return bodies, nil
		}
		var framed framing
		framed.begin(true)
		var passed bytes.Buffer
		for rest := data; len(rest) > 0; {
			piece := rest[:min(cut, len(rest))]
			n := framed.pass(piece)
			passed.Write(piece[:n])
			if n < len(piece) {
				break
			}
			rest = rest[n:]
		}
		want, _ := read(data)
		got, kept := read(passed.Bytes())
		assert.Equal(t, want, got)
		assert.Empty(t, kept)
	})
}
