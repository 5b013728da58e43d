package streamable

// This file tells apart why a request has no answer. A tool call is sent again
// only after words that a server says before it looks at the call: anything else
// may be the tool's own.

import (
	"bytes"
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

// An outcome is what became of one attempt to send a request.
type outcome int

const (
	answered       outcome = iota // the call has its answer, or f has it
	sessionLost                   // refused unread: the server does not know the session
	versionRefused                // refused unread: it wants f.version
	noVersion                     // it speaks no version that we do
	gone                          // the server will not speak with this client again
	inDoubt                       // failed; it may be that the session is lost
	unread                        // failed for what the head says; nothing is claimed about the call
	failed
)

// classify says what became of an attempt. A nil failure means that there is
// none.
func (c *Conn) classify(s session, r *request, f *failure) outcome {
	tool := r.method == rpc.MethodCallTool
	// What the call's own id says comes first, then what allows to send it again,
	// by how certain that is. The statuses that merely explain come last.
	switch {
	case f == nil && r.refused:
		return sessionLost
	case f == nil || f.answer != nil && tool:
		return answered
	case s.id != "" && !r.renewed && f.losesSession(tool):
		return sessionLost
	case !r.reversioned && r.method != rpc.MethodDiscover && f.refusesVersion(r):
		refused := cmp.Or(s.version, r.version())
		f.version = protocol.Named(f.body, refused)
		if r.method == rpc.MethodInitialize { // which may be a guess
			f.version, _ = protocol.Instead(f.body, refused)
		}
		switch {
		case f.version != "":
			return versionRefused
		case r.method == rpc.MethodInitialize:
			return noVersion
		}
		return unread
	case r.reversioned && r.method == rpc.MethodInitialize && f.refusesVersion(r):
		return noVersion
	case f.answer != nil && f.speaksAsServer() && r.method != rpc.MethodInitialize:
		return answered
	case s.id == "" && f.status == http.StatusGone && r.method != rpc.MethodDiscover && c.hasBegun():
		return gone
	case s.id != "" && !r.renewed && f.mayLoseSession():
		return inDoubt
	case f.refusesHead():
		return unread
	}
	return failed
}

// refusesHead reports whether the status is one that is given for the head of a
// request, or for who sends it, before anything looks at the body (RFC 9110,
// section 15.5; RFC 6585). A 401 without the challenge that it must have may be a
// tool's own, and so may a 403.
func (f *failure) refusesHead() bool {
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return f.resp.Header.Get("WWW-Authenticate") != ""
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusProxyAuthRequired, http.StatusLengthRequired,
		http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType, http.StatusExpectationFailed,
		http.StatusUpgradeRequired, http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return false
}

// speaksAsServer reports whether the status is one that an MCP server itself
// gives to its answers. The others are of gateways, whose status says more than
// their body.
func (f *failure) speaksAsServer() bool {
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return false
	}
	return true
}

// losesSession reports whether the server has refused the request since it does
// not know the session, and has certainly not acted on it. What is not a tool
// call may be sent again whenever that may be so.
func (f *failure) losesSession(tool bool) bool {
	switch {
	case f.status == http.StatusNotFound && f.answer == nil && !f.partial:
		return true // the specification: "Session Management", point 3
	case f.saysLost():
		return true
	case tool:
		return false
	}
	return !f.meansIt(jsonrpc.CodeInvalidRequest, -32000, -32001) && f.mayLoseSession()
}

// meansIt reports whether the body is an answer to the call with a code other
// than those with which servers refuse a request unread.
func (f *failure) meansIt(refusals ...int64) bool {
	// A refusal is short.
	return f.answer != nil && (len(f.answer.Error) > maxWords || !slices.Contains(refusals, rpc.ParseError(f.answer.Error).Code))
}

// mayLoseSession reports whether the failure looks like that of a server that
// does not know the session. Many say so in their own words.
func (f *failure) mayLoseSession() bool {
	switch f.status {
	case http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusBadRequest:
		return loses.MatchString(f.says())
	}
	return false
}

// loses are words of servers that do not know a session, in either order.
var loses = regexp.MustCompile(`(?is)session.*` + isLost + `|` + isLost + `.*session|not initialized`)

const isLost = `(not found|valid|unknown|missing|expired|required|exist|terminated)`

// says returns the words of a failure that is short.
func (f *failure) says() string {
	if f.said == "" && len(f.body) <= maxShown {
		return strings.TrimSpace(string(f.body))
	}
	return f.said
}

// A refusal is what a server says of a session that it does not know, before it
// looks at the request: an error with the code whose id is not the request's, or
// plain words with the status.
type refusal struct {
	code int64
	said string
}

var lostSessions = []refusal{
	{-32001, "Session not found"},                              // TypeScript and C# SDK
	{-32600, "Session not found"},                              // Python SDK
	{-32600, "Session terminated"},                             // Python SDK, as mcp-proxy passes it on
	{32600, "Session terminated"},                              // the same, before 1.10
	{-32600, "Bad Request: Missing session ID"},                // Python SDK
	{-32600, "Not Found: Invalid or expired session ID"},       // Python SDK
	{-32600, "Not Found: Session has been terminated"},         // Python SDK
	{-32600, "Not Found: Session not found or expired"},        // Swift SDK
	{-32000, "Bad Request: No valid session ID provided"},      // TypeScript SDK, its examples
	{-32000, "Bad Request: Server not initialized"},            // TypeScript and Kotlin SDK
	{-32000, "Bad Request: Mcp-Session-Id header is required"}, // TypeScript and C# SDK
	{-32603, "lack session"},                                   // ThinkInAIXYZ/go-mcp
	{-32603, "Failed to receive: lack session"},                // ThinkInAIXYZ/go-mcp

	{http.StatusBadRequest, "Bad Request: No valid session ID provided"},              // Python and Kotlin SDK
	{http.StatusBadRequest, "Bad Request: Session ID is required"},                    // Rust SDK
	{http.StatusUnauthorized, "Unauthorized: Session not found"},                      // Rust SDK before 0.9
	{http.StatusUnprocessableEntity, "Unexpected message, expect initialize request"}, // Rust SDK
}

// tellsLost reports whether an error object is one of lostSessions.
func tellsLost(object []byte) bool {
	if len(object) > maxShown {
		return false
	}
	e := rpc.ParseError(object)
	return slices.Contains(lostSessions, refusal{e.Code, e.Message})
}

// saysLost reports whether the body is one of those words.
func (f *failure) saysLost() bool {
	if !raw.Null(f.message.Error) {
		return tellsLost(f.message.Error)
	}
	return len(f.body) <= maxShown && slices.Contains(lostSessions, refusal{int64(f.status), string(bytes.TrimSpace(f.body))})
}

// refusedVersions begin the words with which SDKs refuse a version, before they
// look at the request. What follows is a version, or a list of them.
var refusedVersions = []string{
	"Bad Request: Unsupported protocol version (supported versions: ", // Go and TypeScript SDK
	"Bad Request: Unsupported protocol version: ",                     // TypeScript, Python and Kotlin SDK
	"Bad Request: Unsupported MCP-Protocol-Version: ",                 // Rust SDK
}

// refusesVersion reports whether the protocol version was refused, and the
// request unread. What is not a tool call may be sent again whenever a version
// is the matter.
func (f *failure) refusesVersion(r *request) bool {
	if f.status != http.StatusBadRequest {
		return false
	}
	if r.method == rpc.MethodInitialize && !raw.Null(f.message.Error) {
		e := rpc.ParseError(f.message.Error)
		_, ok := protocol.Refused(&e, r.version())
		return ok
	}
	if r.method == rpc.MethodCallTool {
		return f.answer == nil && slices.ContainsFunc(refusedVersions, func(start string) bool { return strings.HasPrefix(f.says(), start) })
	}
	return !f.meansIt(sdk.CodeUnsupportedProtocolVersion, jsonrpc.CodeInvalidRequest) &&
		namesVersion.Match(f.body)
}

var namesVersion = regexp.MustCompile(`(?i)protocol[ -]?version`)
