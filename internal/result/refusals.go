package result

// This file shows the answers of a tools/call that are not a result: errors, and
// questions that this client has no answer to.

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/text"
)

// Refuse returns the result of a call that has no other. It is an error to a model,
// and under the same cap as any result.
func Refuse(limits Limits, content string) Result {
	c := contents{limits: limits}
	c.write(c.clean(content))
	return Result{Content: c.content(), IsError: true}
}

// Refusal shows the error object of a JSON-RPC answer. What the user would have to
// open before the call (code -32042, version 2025-11-25) comes as a line for each
// address, so that a model can tell its user.
func Refusal(object []byte) string {
	e := rpc.ParseError(object)
	var lines []string
	if e.Code == sdk.CodeURLElicitationRequired {
		for elicitation := range raw.Elements(raw.Member(e.Data, "elicitations")) {
			if line := question(elicitation); line != "" {
				lines = append(lines, line)
			}
		}
	}
	if lines != nil {
		e.Data = nil // the lines are what it says
	}
	return strings.Join(append([]string{errorText("[error] ", e)}, lines...), "\n")
}

// ErrorText shows an error that a server answered with.
func ErrorText(e jsonrpc.Error) string { return errorText("", e) }

// errorText is an error as a text: what the server says, its code, and the start of
// data, which may be anything, such as a trace.
func errorText(start string, e jsonrpc.Error) string {
	var b strings.Builder
	b.Grow(len(start) + len(e.Message) + min(len(e.Data), maxNote) + 64) // at once: a message may be large
	b.WriteString(start)
	b.WriteString(e.Message)
	if e.Message == "" {
		b.WriteString("the server gave no message")
	}
	if e.Code != 0 {
		fmt.Fprintf(&b, " (code %d)", e.Code)
	}
	if len(e.Data) > 0 {
		fmt.Fprintf(&b, ": %s", text.Start(string(e.Data), maxNote))
	}
	return b.String()
}

// question shows what a server asks its user: a message, a URL, or both.
func question(params []byte) string {
	message, _ := raw.String(raw.Member(params, "message"))
	address, _ := raw.String(raw.Member(params, "url"))
	if message != "" && address != "" {
		message += ": "
	}
	return text.Start(message+address, maxNote)
}

// maxQuestions bounds how many questions of a server are shown.
const maxQuestions = 10

// lacking returns what a tool needs that this client does not offer, "" where
// the result is one. Content that came all the same is delivered beside it.
func (m *members) lacking(tool string) string {
	said := !raw.Null(m.content) || !raw.Null(m.structured)
	var what string
	var details []string
	switch {
	// A result that has nothing but questions asks, whatever its resultType says.
	case m.kind == "input_required", !said && len(m.requests) > 0 && m.requests[0] == '{':
		what = "needs input"
		for _, request := range raw.Members(m.requests) {
			if len(details) == maxQuestions {
				details = append(details, "and more")
				break
			}
			method, _ := raw.String(raw.Member(request, "method"))
			asked := question(raw.Member(request, "params"))
			if method != "" && asked != "" {
				method += ": "
			}
			if method+asked != "" {
				details = append(details, method+asked)
			}
		}
	case m.kind == "task", !said && !raw.Null(raw.Member(m.task, "taskId")):
		what = "wants to run as a task"
	default:
		return ""
	}
	s := fmt.Sprintf("[the tool %q %s, which this client does not offer", tool, what)
	if len(details) > 0 {
		s += ": " + strings.Join(details, "; ")
	}
	return s + "]"
}
