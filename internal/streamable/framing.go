package streamable

// This file knows where an HTTP/1.1 answer ends on its network connection. What
// a server sends behind it answers nothing: net/http writes that to the host's
// log, secrets too, or takes it for the answer to the next request. Here it is
// the end of the connection.

import (
	"bytes"
	"strconv"
)

// A framing follows the answers on one network connection, without keeping
// anything but their heads. Where it does not understand one it lets everything
// pass: then it is up to net/http. The zero value does so, too.
type framing struct {
	state frame
	line  []byte // of the head or a chunk's size, as far as it is there
	left  int64  // bytes of the body or chunk

	status  int
	length  int64 // of the body; -1 if the head does not say
	chunked bool
}

// A frame is what comes next.
type frame int

const (
	anything frame = iota
	statusLine
	headerLine
	fixedBody
	chunkSize
	chunkBody
	trailerLine
	nothing
)

// maxLine bounds a line of a head, as net/http bounds the head.
const maxLine = 1 << 20

// begin is called when a request is about to be sent, whose answer can be read
// if it is plain.
func (f *framing) begin(plain bool) {
	if f.state = anything; plain {
		f.state, f.line = statusLine, f.line[:0]
	}
}

// end is called when there is nothing to be expected until begin.
func (f *framing) end() {
	f.state = nothing
}

// pass takes what was read and returns how much of it was to be expected.
func (f *framing) pass(data []byte) (expected int) {
	for expected < len(data) {
		rest := data[expected:]
		switch f.state {
		case anything:
			return len(data)
		case nothing:
			return expected
		case fixedBody, chunkBody:
			n := min(f.left, int64(len(rest)))
			expected += int(n)
			if f.left -= n; f.left == 0 && f.state == fixedBody {
				f.state = nothing
			} else if f.left == 0 {
				f.state = chunkSize
			}
		default:
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				f.line = append(f.line, rest...)
				expected = len(data)
				if len(f.line) > maxLine {
					f.state = anything
				}
				continue
			}
			line := rest[:n]
			if len(f.line) > 0 { // its start came before
				f.line = append(f.line, line...)
				line = f.line
			}
			f.next(bytes.TrimSuffix(line, []byte("\r")))
			if f.line = f.line[:0]; cap(f.line) > smallBuffer {
				f.line = nil
			}
			expected += n + 1
		}
	}
	return expected
}

// next takes a line.
func (f *framing) next(line []byte) {
	switch f.state {
	case statusLine:
		_, status, _ := bytes.Cut(line, []byte(" "))
		f.status, _ = strconv.Atoi(string(status[:min(len(status), 3)]))
		f.length, f.chunked = -1, false
		if f.state = headerLine; f.status < 100 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
			f.state = anything
		}
	case headerLine:
		if len(line) == 0 {
			f.state = f.body()
			return
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			if f.chunked = bytes.EqualFold(value, []byte("chunked")); !f.chunked {
				f.state = anything
			}
		case bytes.EqualFold(name, []byte("Content-Length")):
			n, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil || n < 0 || f.length >= 0 && f.length != n {
				f.state = anything
			}
			f.length = n
		}
	case chunkSize:
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 62)
		switch {
		case err != nil || n < 0:
			f.state = anything
		case n == 0:
			f.state = trailerLine
		default:
			f.state, f.left = chunkBody, n+2 // with the line end
		}
	case trailerLine:
		if len(line) == 0 {
			f.state = nothing
		}
	}
}

// body returns what comes behind a head (RFC 9112, section 6.3).
func (f *framing) body() frame {
	switch {
	case f.status == 101:
		return anything
	case f.status < 200:
		return statusLine
	case f.status == 204 || f.status == 304:
		return nothing
	case f.chunked:
		return chunkSize
	case f.length > 0:
		f.left = f.length
		return fixedBody
	case f.length == 0:
		return nothing
	}
	return anything // up to the end of the connection
}
