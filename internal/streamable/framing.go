package streamable

// This file knows where an HTTP/1 answer ends on its network connection. What a
// server sends behind it answers nothing.

import (
	"bytes"
	"strconv"
)

// A framing follows the answers on one network connection, without keeping
// anything but a line. Where net/http does not take what comes for an answer, or
// takes it for the last one, it lets everything pass. The zero value does so, too.
type framing struct {
	state frame
	line  []byte // of the head or a chunk's size, as far as it is there
	left  int64  // bytes of the body or chunk

	status  int
	old     bool  // HTTP/1.0, which has no chunks
	length  int64 // of the body; -1 if the head does not say, wrong if it is
	chunked bool
	odd     bool   // it has a transfer coding that is not known
	sizing  []byte // a line that says how long the body is, until the next one
}

const wrong = -2 // a length that net/http does not take

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
					f.state = nothing
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
		version, status, _ := bytes.Cut(line, []byte(" "))
		status = bytes.TrimLeft(status, " ")
		*f = framing{state: headerLine, line: f.line, sizing: f.sizing[:0], length: -1, old: string(version) < "HTTP/1.1"}
		f.status, _ = strconv.Atoi(string(status[:min(len(status), 3)]))
		if f.status < 100 || !bytes.HasPrefix(version, []byte("HTTP/")) {
			f.state = anything
		}
	case headerLine:
		f.header(line)
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

// header takes a line of the head. One that says how long the body is may go on
// in the next, which begins with white space then.
func (f *framing) header(line []byte) {
	if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		if len(f.sizing) > 0 {
			f.sizing = append(append(f.sizing, ' '), line...)
		}
		return
	}
	name, value, _ := bytes.Cut(f.sizing, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case len(f.sizing) == 0:
	case bytes.EqualFold(name, transferEncoding):
		f.chunked = bytes.EqualFold(value, []byte("chunked"))
		f.odd = f.odd || !f.chunked
	default:
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 || f.length != -1 && f.length != n {
			n = wrong
		}
		f.length = n
	}
	f.sizing = f.sizing[:0]
	if len(line) == 0 {
		f.state = f.body()
		return
	}
	name, _, _ = bytes.Cut(line, []byte(":"))
	if bytes.EqualFold(name, contentLength) || bytes.EqualFold(name, transferEncoding) && !f.old {
		f.sizing = append(f.sizing, line...)
	}
}

var contentLength, transferEncoding = []byte("Content-Length"), []byte("Transfer-Encoding")

// body returns what comes behind a head (RFC 9112, section 6.3).
func (f *framing) body() frame {
	switch {
	case f.status == 101:
		return anything
	case f.status < 200:
		return statusLine
	case f.odd:
		return anything
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
