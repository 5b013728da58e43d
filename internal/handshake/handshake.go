// Package handshake begins a session: the SDK's client chooses the protocol
// version, over a transport of this module. All that follows goes past the SDK,
// whose decoding costs more than the rest of a call and loses a whole result
// with one wrong field.
package handshake

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

// A Link sends what the SDK says.
type Link interface {
	// Do returns when the call has ended: the call has its answer, or there
	// will be none.
	Do(ctx context.Context, call *rpc.Call) error
	Notify(ctx context.Context, method string, params []byte) error
}

// Do returns what the server says about itself. An empty version means that
// the server is asked for those that it speaks (server/discover). An answer
// that is an error is a *jsonrpc.Error.
func Do(ctx context.Context, link Link, client *sdk.Client, version string) (*sdk.InitializeResult, error) {
	c := &conn{link: link, answers: make(chan *jsonrpc.Response, 1), closed: make(chan struct{})}
	session, err := client.Connect(ctx, c, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		if c.err != nil {
			err = c.err // what the SDK was told in place of it says less
		}
		return nil, err
	}
	session.Close() // nothing is in flight
	return session.InitializeResult(), nil
}

// A conn is the link as the SDK sees it.
type conn struct {
	link    Link
	answers chan *jsonrpc.Response
	err     error // why the last exchange had no answer
	closed  chan struct{}
	close   sync.Once
}

func (c *conn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

func (c *conn) SessionID() string { return "" }

func (c *conn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}

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
		return c.link.Notify(ctx, request.Method, request.Params)
	}
	call := rpc.NewCall(request.Method, request.Params)
	err := c.link.Do(ctx, call)
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
		response.Result = plain(answer.Result)
	}
	select {
	case c.answers <- response:
	case <-ctx.Done():
	}
	return nil
}

// plain returns what the SDK needs of a result, in the types it expects: a
// server whose serverInfo.version is a number is a server all the same.
// Capabilities name tools unless the server declared others without it.
func plain(result []byte) []byte {
	out, capabilities := []byte(`{`), `{"tools":{}}`
	for name, value := range raw.Members(result) {
		switch string(name) {
		case "protocolVersion", "instructions":
			if !raw.IsString(value) {
				continue
			}
		case "supportedVersions":
			if value[0] != '[' {
				continue
			}
			value = versions(value)
		case "capabilities":
			if value[0] == '{' && raw.Null(raw.Member(value, "tools")) {
				capabilities = `{}`
			}
			continue
		default:
			continue
		}
		out = raw.AppendQuote(out, string(name))
		out = append(append(append(out, ':'), raw.Repair(value)...), ',')
	}
	return append(append(append(out, `"capabilities":`...), capabilities...), '}')
}

// versions keeps the strings of a list.
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
