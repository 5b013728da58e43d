package rpc

// This file reads and writes the JSON-RPC envelope.

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

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
}

// ErrNoMessage says that a JSON text is no JSON-RPC message.
var ErrNoMessage = errors.New("the JSON text is not a JSON-RPC message")

// Parse reads the message at the start of data and returns what follows it.
// The message aliases data. A JSON-RPC batch is for [Batch].
func Parse(data []byte) (m Message, rest []byte, err error) {
	version, odd := false, false
	end, err := raw.Object(data, func(name, value []byte) bool {
		switch string(name) {
		case "jsonrpc":
			version = true // its value is not looked at: "2", 2.0 and "1.0" are seen
		case "id":
			if m.ID = value; raw.Null(value) {
				m.ID = nil
			}
		case "method":
			m.Method, _ = raw.String(value)
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
		return Message{}, nil, err
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
		return Message{}, nil, ErrNoMessage
	}
	if odd || m.Method == "" && m.ID == nil && m.Error == nil && m.Result == nil {
		return Message{}, nil, ErrNoMessage
	}
	return m, bytes.TrimSpace(data[end:]), nil
}

// Trim removes what surrounds a message: white space, the carriage return of
// Windows servers, a byte-order mark, NUL.
func Trim(data []byte) []byte {
	return bytes.Trim(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), " \t\r\n\x00")
}

// ParseAll calls take for the messages at the start of data, one behind the
// other, and returns what follows them.
func ParseAll(data []byte, take func(Message)) (rest []byte) {
	for len(data) > 0 {
		m, rest, err := Parse(data)
		if err != nil {
			break
		}
		take(m)
		data = rest
	}
	return data
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

// Batch returns the elements of a JSON-RPC batch, nil where data is none. No
// request of this client asks for one, but protocol 2025-03-26 allows them.
func Batch(data []byte) [][]byte {
	if len(data) == 0 || data[0] != '[' || !raw.Valid(data) {
		return nil
	}
	var elements [][]byte
	for element := range raw.Elements(data) {
		elements = append(elements, element)
	}
	return elements
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
const maxIDLength = 1 << 10

// reply answers a request of the server. This client offers nothing but to be
// alive (the spec demands that a ping is answered at once), and a server that
// asks for more must be told so: it may hold its own answer back until then.
func (m Message) reply() []byte {
	if len(m.ID) > maxIDLength {
		return nil
	}
	reply := append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...)
	if m.Method == "ping" {
		return append(reply, `,"result":{}}`...)
	}
	reply = append(reply, `,"error":{"code":-32601,"message":`...)
	reply = raw.AppendQuote(reply, "this client does not support "+m.Method[:min(len(m.Method), 100)])
	return append(reply, `}}`...)
}

// Encode returns a request as one line without its end; an id of 0 makes it a
// notification.
func Encode(id int64, method string, params []byte) []byte {
	line := make([]byte, 0, len(params)+len(method)+80)
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
	size := len(name) + len(arguments) + 80
	for _, members := range meta {
		size += len(members) + 1
	}
	const start = `{"_meta":{`
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

// MethodCancelled is that of the notification that a call is given up.
const MethodCancelled = "notifications/cancelled"

// Cancelled returns the parameters of that notification.
func Cancelled(id int64, reason string) []byte {
	params := raw.AppendQuote([]byte(`{"reason":`), reason)
	return append(strconv.AppendInt(append(params, `,"requestId":`...), id, 10), '}')
}

// ParseError reads a JSON-RPC error object leniently: codes that are strings,
// a message that is none, an error that is a bare string.
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
		e.Data = json.RawMessage(bytes.Clone(raw.Repair(data)))
	}
	if e.Message == "" && e.Code == 0 && e.Data == nil {
		e.Message = string(raw.Repair(object))
	}
	return e
}

// parseCode reads an error code, also one that is written as a string.
func parseCode(value []byte) (code int64, ok bool) {
	if raw.IsString(value) {
		value = value[1 : len(value)-1]
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
