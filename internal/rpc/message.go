package rpc

// This file reads and writes the JSON-RPC envelope.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A Message is one JSON-RPC message of a server, its parts as they came. A
// response has no Method, a notification no ID.
type Message struct {
	ID     []byte // nil where absent or null
	Method string
	Params []byte
	Result []byte
	Error  []byte
	Owned  bool // nobody else has the bytes: a response keeps them
}

// ErrNoMessage says that a JSON text is not a JSON-RPC message.
var ErrNoMessage = errors.New("the JSON text is not a JSON-RPC message")

// Parse reads the message at the start of data and returns what follows it.
// The message aliases data. Any output is for [Messages].
func Parse(data []byte) (m Message, rest []byte, err error) {
	m, end, err := parse(data)
	if err != nil {
		return Message{}, nil, err
	}
	return m, Trim(data[end:]), nil
}

// parse is Parse that returns how far it has read, also where it fails.
func parse(data []byte) (m Message, end int, err error) {
	version, odd := false, false
	end, err = raw.Object(data, func(name, value []byte) bool {
		switch string(name) {
		case "jsonrpc":
			version = true // its value is not looked at: "2", 2.0 and "1.0" are seen
		case "id":
			if m.ID = value; raw.Null(value) {
				m.ID = nil
			}
		case "method":
			m.Method = parseMethod(value)
			odd = m.Method == "" && !isBlank(value)
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
		return true
	})
	if err != nil {
		return Message{}, end, err
	}
	if !raw.Null(m.Result) && isBlankError(m.Error) {
		m.Error = nil
	}
	// Servers that write all fields of one type have a method in a response.
	if m.ID != nil && !(raw.Null(m.Result) && raw.Null(m.Error)) {
		m.Method, odd = "", false
	}
	// A log line may well have a member "error" or "id" or "method": without
	// the version only a complete response counts.
	if !version && (m.Method != "" || m.ID == nil || m.Result == nil && m.Error == nil) {
		return Message{}, end, ErrNoMessage
	}
	if odd || m.Method == "" && m.ID == nil && m.Error == nil && m.Result == nil {
		return Message{}, end, ErrNoMessage
	}
	return m, end, nil
}

// maxMethod is longer than the name of any method that this client knows, in
// bytes. A longer one is not decoded.
const maxMethod = 256

// parseMethod keeps a long name from being decoded, and from being kept.
func parseMethod(value []byte) string {
	if raw.IsString(value) && len(value) > maxMethod {
		return "a method with so long a name"
	}
	method, _ := raw.String(value)
	return method
}

// Space is what may stand around a message: white space, the carriage return of
// Windows servers, and the control characters that some servers end or begin a
// message with, such as NUL, the record separator of RFC 7464 and the line ends
// of Unicode.
const Space = " \t\r\n\v\f\x00\x02\x03\x04\x1c\x1d\x1e\x1f\u0085\u2028\u2029"

// Trim removes what surrounds a message: [Space] and a byte-order mark.
func Trim(data []byte) []byte {
	if n := len(data); n > 0 && data[0] == '{' && data[n-1] == '}' {
		return data // mostly
	}
	return bytes.Trim(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), Space)
}

// maxSearch bounds the search for messages in a text that has other things in
// it: what attempts that fail have read together, in lengths of the text. An
// attempt may read to the end, and there is a place for one at every brace.
const maxSearch = 8

// Messages yields what data holds, in order: each message, one behind another,
// in a batch or with text around it, and with a nil message's place each text
// that is none. A prompt or an escape sequence without a line end stands before
// some messages. It takes time in proportion to data, and no memory.
func Messages(data []byte) iter.Seq2[Message, []byte] {
	return func(yield func(m Message, skipped []byte) bool) {
		budget := maxSearch * len(data)
		for data = Trim(data); len(data) > 0; {
			if data[0] == '[' {
				if end, err := raw.Scan(data); err == nil {
					for element := range raw.Elements(data[:end]) {
						m, _, err := parse(element)
						if err != nil {
							m = Message{}
						} else {
							element = nil
						}
						if !yield(m, element) {
							return
						}
					}
					data = Trim(data[end:])
					continue
				}
			}
			m, start, end := search(data, &budget)
			if start > 0 && !yield(Message{}, data[:start]) || end > start && !yield(m, nil) {
				return
			}
			data = Trim(data[end:])
		}
	}
}

// search looks for the first message in data, which is data[start:end]. Without
// one, start is the end of data.
func search(data []byte, budget *int) (m Message, start, end int) {
	for *budget > 0 {
		n := bytes.IndexByte(data[start:], '{')
		if n < 0 {
			break
		}
		start += n
		if next := bytes.TrimLeft(data[start+1:min(start+9, len(data))], " \t\r\n"); len(next) > 0 && next[0] != '"' {
			start++ // what has no members is not a message
			continue
		}
		m, n, err := parse(data[start:])
		if err == nil {
			return m, start, start + n
		}
		*budget -= n
		if start++; errors.Is(err, ErrNoMessage) {
			start += n - 1 // what a log line quotes is not sent to this client
		}
	}
	return Message{}, len(data), len(data)
}

// isBlank reports whether a value stands for an absent one.
func isBlank(value []byte) bool {
	return raw.Empty(value) || string(value) == `""` || string(value) == "0"
}

// isBlankError reports whether an error object says nothing.
func isBlankError(object []byte) bool {
	if isBlank(object) || object[0] != '{' {
		return isBlank(object)
	}
	for _, value := range raw.Members(object) {
		if !isBlank(value) {
			return false
		}
	}
	return true
}

// FindID looks for the id of a response of which only the head and the tail
// are there, or which is broken in between.
func FindID(head, tail []byte) (id int64, ok bool) {
	// A log line may have a member "id" as well.
	if version := []byte(`"jsonrpc"`); !bytes.Contains(head, version) && !bytes.Contains(tail, version) {
		return 0, false
	}
	request := false
	raw.Object(head, func(name, value []byte) bool {
		switch string(name) {
		case "method":
			request = !isBlank(value)
		case "id":
			id, ok = raw.Whole(value)
		}
		return true
	})
	if ok || request {
		return id, ok && !request
	}
	// Some servers write the id last. What follows it must close the message.
	i := bytes.LastIndex(tail, []byte(`"id"`))
	if i < 0 {
		return 0, false
	}
	after := bytes.TrimLeft(tail[i+len(`"id"`):], " \t:")
	n, err := raw.Scan(after)
	if err != nil {
		return 0, false
	}
	switch string(bytes.TrimSpace(after[n:])) {
	case `}`, `,"jsonrpc":"2.0"}`:
		return raw.Whole(after[:n])
	}
	return 0, false
}

// maxIDLength bounds what of a server's request is kept for the reply.
const maxIDLength = 64 << 10

// reply answers a request of the server. This client offers nothing but to be
// alive (the spec demands that a ping is answered at once), and a server that
// asks for more must be told so: it may hold its own answer back until then.
func (m Message) reply() []byte {
	if len(m.ID) > maxIDLength {
		return nil
	}
	reply := append([]byte(`{"jsonrpc":"2.0","id":`), raw.Compact(m.ID)...) // on one line
	if m.Method == MethodPing {
		return append(reply, `,"result":{}}`...)
	}
	reply = append(reply, `,"error":{"code":-32601,"message":`...)
	reply = raw.AppendQuote(reply, "this client does not support "+m.Method[:min(len(m.Method), 100)])
	return append(reply, `}}`...)
}

// Encode returns a request as one line without its end; an id of 0 makes it a
// notification.
func Encode(id int64, method string, params []byte) []byte {
	const envelope = 56 // with an id of ten digits and the line's end
	line := make([]byte, 0, len(params)+len(method)+envelope)
	line = append(line, `{"jsonrpc":"2.0"`...)
	if id != 0 {
		line = strconv.AppendInt(append(line, `,"id":`...), id, 10)
	}
	line = raw.AppendQuote(append(line, `,"method":`...), method)
	if len(params) > 0 {
		line = append(append(line, `,"params":`...), params...)
	}
	return append(line, '}')
}

// Request returns the line of the call's request.
func (c *Call) Request() []byte { return Encode(c.id, c.Method, c.Params) }

// CallParams returns the parameters of a tool call. meta are members of its
// metadata, to which a token is added that is not 0. The arguments are checked
// and repaired JSON.
func CallParams(name string, arguments []byte, token int64, meta ...[]byte) []byte {
	const start = `{"_meta":{`
	size := len(`{"name":"","arguments":}`) + len(name) + len(arguments)
	if token != 0 {
		size += len(start) + len(`"progressToken":,`) + 20 // digits at most
	}
	for _, members := range meta {
		if len(members) > 0 {
			size += len(start) + len(members) + 2
		}
	}
	b := append(make([]byte, 0, size), start...)
	for _, members := range meta {
		if len(members) > 0 {
			b = append(append(b, members...), ',')
		}
	}
	if token != 0 {
		b = append(strconv.AppendInt(append(b, `"progressToken":`...), token, 10), ',')
	}
	if len(b) > len(start) {
		b = append(b[:len(b)-1], "},"...) // over the last comma
	} else {
		b = b[:1]
	}
	b = raw.AppendQuote(append(b, `"name":`...), name)
	b = append(b, `,"arguments":`...)
	return append(raw.AppendCompact(b, arguments), '}') // a message on stdio is one line
}

// ListParams returns the parameters of a listing from the cursor on; empty is
// the start.
func ListParams(cursor string, meta []byte) []byte {
	var members []byte
	if len(meta) > 0 {
		members = raw.AppendMember(members, "_meta", append(append([]byte{'{'}, meta...), '}'))
	}
	if cursor != "" {
		members = raw.AppendMember(members, "cursor", raw.AppendQuote(nil, cursor))
	}
	return append(append([]byte{'{'}, members...), '}')
}

// Methods of requests and notifications.
const (
	MethodInitialize = "initialize"
	MethodDiscover   = "server/discover"
	MethodListTools  = "tools/list"
	MethodCallTool   = "tools/call"
	MethodPing       = "ping"
	MethodElicit     = "elicitation/create"
	// MethodCancelled is that of the notification that a call is given up.
	MethodCancelled    = "notifications/cancelled"
	MethodInitialized  = "notifications/initialized"
	MethodProgress     = "notifications/progress"
	MethodToolsChanged = "notifications/tools/list_changed"
)

// Cancelled returns the parameters of that notification.
func Cancelled(id int64, reason string) []byte {
	params := raw.AppendQuote([]byte(`{"reason":`), reason)
	return append(strconv.AppendInt(append(params, `,"requestId":`...), id, 10), '}')
}

// Data of an error that is longer than maxErrorData, in bytes, is nothing to read
// for a program; its start is kept for people. That is more than a quote looks
// at, so that the quote knows where it cuts: of a secret that ended here it would
// show the rest.
const (
	maxErrorData  = 64 << 10
	keptErrorData = 8 << 10
)

// ParseError reads a JSON-RPC error object leniently: codes that are strings, a
// message that is not one, an error that is a bare string. Data that is long is
// a string with the start of it.
func ParseError(object []byte) jsonrpc.Error {
	var e jsonrpc.Error
	if s, ok := raw.String(object); ok {
		e.Message = s
		return e
	}
	e.Code, _ = parseCode(raw.Member(object, "code"))
	message := raw.Member(object, "message")
	if s, ok := raw.String(message); ok {
		e.Message = s
	} else if !raw.Null(message) {
		e.Message = string(raw.Repair(message))
	}
	if data := raw.Member(object, "data"); !raw.Null(data) {
		if n := len(data); n > maxErrorData {
			start := strings.ToValidUTF8(string(data[:keptErrorData]), "")
			data = raw.AppendQuote(nil, fmt.Sprintf("%s… (%d bytes)", start, n))
		}
		e.Data = json.RawMessage(bytes.Clone(raw.Repair(data)))
	}
	if e.Message == "" && e.Code == 0 && e.Data == nil {
		e.Message = string(raw.Repair(object))
	}
	return e
}

// maxCode is longer than any error code is written, in bytes.
const maxCode = 64

// parseCode reads an error code, also one that is written as a string.
func parseCode(value []byte) (code int64, ok bool) {
	if raw.IsString(value) {
		value = value[1 : len(value)-1]
	}
	if len(value) > maxCode { // the errors of strconv have a copy of it each
		return 0, false
	}
	if code, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return code, true
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}
