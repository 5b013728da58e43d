// Package handshake begins a session: the SDK's client chooses the protocol
// version, over a transport of this module. All that follows goes past the SDK,
// whose decoding costs more than the rest of a call and loses a whole result
// with one wrong field.
package handshake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// A Transport sends what the SDK says.
type Transport interface {
	// Do returns when the call has ended: the call has its answer, or there
	// will be none.
	Do(ctx context.Context, call *rpc.Call) error
	Notify(ctx context.Context, method string, params []byte) error
}

// Info is what a server says about itself.
type Info struct {
	Name, Title, Version string // as it calls itself
	Protocol             string // the version that was chosen
	Instructions         string
	Tools                bool // it may have tools
}

// maxError bounds the text of an error of the SDK, in bytes.
const maxError = 512

// maxVersion bounds the name of a protocol version, in bytes.
const maxVersion = 256

// Do returns what the server says about itself. An empty version means that
// the server is asked for those that it speaks (server/discover). An answer
// that is an error is a *jsonrpc.Error.
func Do(ctx context.Context, transport Transport, client *sdk.Client, version string, quoter *secret.Quoter) (*Info, error) {
	c := &conn{transport: transport, quoter: quoter, answers: make(chan *jsonrpc.Response, 1), closed: make(chan struct{})}
	session, err := client.Connect(ctx, c, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		switch {
		case c.err != nil:
			err = c.err // what the SDK was told in place of it says less
		case !errors.As(err, new(*jsonrpc.Error)): // the SDK quotes what the server says
			err = quoter.Error(err, maxError)
		}
		return nil, err
	}
	session.Close() // nothing is in flight
	result := session.InitializeResult()
	c.info.Protocol, c.info.Instructions = result.ProtocolVersion, result.Instructions
	c.info.Tools = result.Capabilities == nil || result.Capabilities.Tools != nil
	return &c.info, nil
}

// A conn is the transport as the SDK sees it.
type conn struct {
	transport Transport
	quoter    *secret.Quoter
	answers   chan *jsonrpc.Response
	info      Info  // what the last answer says
	err       error // why the last exchange had no answer
	closed    chan struct{}
	close     sync.Once
}

// Connect, SessionID and Close are for the SDK: what it opens and closes here is
// the handshake alone, the transport below goes on.
func (c *conn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

func (c *conn) SessionID() string { return "" }

func (c *conn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}

// Read returns the answers in the order of the requests, of which the SDK sends
// one at a time.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case answer := <-c.answers:
		return answer, nil
	case <-c.closed:
	case <-ctx.Done():
	}
	return nil, io.EOF
}

// Write does a whole exchange. An error that it returned would end the SDK's
// session, which may still go on with another version: it is told of an answer
// that is one.
func (c *conn) Write(ctx context.Context, message jsonrpc.Message) error {
	request, ok := message.(*jsonrpc.Request)
	if !ok {
		return nil
	}
	if !request.IsCall() {
		return c.transport.Notify(ctx, request.Method, request.Params)
	}
	call := rpc.NewCall(request.Method, request.Params)
	err := c.transport.Do(ctx, call)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answer, failure, _ := call.Outcome()
	c.err = nil
	response := &jsonrpc.Response{ID: request.ID}
	switch {
	case cmp.Or(failure, err) != nil:
		c.err = fmt.Errorf("calling %q: %w", request.Method, cmp.Or(failure, err))
		response.Error = &jsonrpc.Error{Message: c.err.Error()}
	case answer.Error != nil:
		e := rpc.ParseError(answer.Error)
		response.Error = &e
	default:
		c.info = about(answer.Result)
		response.Result = c.plain(answer.Result)
	}
	select {
	case c.answers <- response:
	case <-ctx.Done():
	}
	return nil
}

// about returns how the server calls itself.
func about(result []byte) (info Info) {
	var server []byte
	for name, value := range raw.Members(result) {
		switch {
		case raw.Named(name, "serverInfo"):
			server = value
		case server == nil && string(name) == "_meta": // protocol 2026-07-28
			server = raw.Member(value, sdk.MetaKeyServerInfo)
		}
	}
	for name, value := range raw.Members(server) {
		text, ok := raw.String(value)
		if !ok && len(value) > 0 && value[0] != '{' && value[0] != '[' && !raw.Null(value) {
			text = string(value) // a version that is a number
		}
		switch string(name) {
		case "name":
			info.Name = text
		case "title":
			info.Title = text
		case "version":
			info.Version = text
		}
	}
	return info
}

// plain returns what the SDK needs of a result, in the types it expects: a
// server whose serverInfo.version is a number is a server all the same.
// Capabilities name tools unless the server declared others without it: many do
// not declare them at all.
func (c *conn) plain(result []byte) []byte {
	out, tools := []byte(`{`), true
	for name, value := range raw.Members(result) {
		known := ""
		switch {
		case raw.Named(name, "protocolVersion") && raw.IsString(value):
			known = "protocolVersion"
			// No version is long, and the SDK quotes one that it does not know.
			if text, _ := raw.String(value); len(text) > maxVersion {
				value = raw.AppendQuote(nil, c.quoter.Quote(text, maxVersion))
			}
		case raw.Named(name, "instructions") && raw.IsString(value):
			known = "instructions"
		case raw.Named(name, "supportedVersions") && value[0] == '[':
			known, value = "supportedVersions", versions(value)
		case raw.Named(name, "capabilities"):
			tools = mayHaveTools(value)
		}
		if known != "" {
			out = raw.AppendQuote(out, known)
			out = append(append(append(out, ':'), raw.Repair(value)...), ',')
		}
	}
	if tools {
		return append(out, `"capabilities":{"tools":{}}}`...)
	}
	return append(out, `"capabilities":{}}`...)
}

// mayHaveTools reports whether a server with such capabilities is asked for
// tools: not one that declared prompts or resources alone.
func mayHaveTools(capabilities []byte) bool {
	others := false
	for name, value := range raw.Members(capabilities) {
		if raw.Null(value) || string(value) == "false" {
			continue
		}
		switch {
		case raw.Named(name, "tools"):
			return true
		case raw.Named(name, "prompts"), raw.Named(name, "resources"):
			others = true
		}
	}
	return !others
}

// versions keeps the strings of a list: the SDK would refuse the answer for
// anything else in it, and the server may still speak one of them.
func versions(list []byte) []byte {
	out := []byte{'['}
	for value := range raw.Elements(list) {
		if raw.IsString(value) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, value...)
		}
	}
	return append(out, ']')
}
