// Package elicit reads the questions that servers have for their user, asks them,
// and checks the answers against what was asked for.
package elicit

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/text"
)

const (
	// Bounds of what a person is shown. All of it is the server's, and an
	// application may put whatever it gets into one dialog.
	maxParams  = 256 << 10 // bytes of a question
	maxMessage = 8 << 10   // bytes of a message
	maxLabel   = 1 << 10   // bytes of a title or description
	maxURL     = 8 << 10

	maxRequests = 32 // questions of one input: a person answers each
)

// A Question is what a server wants to know: either a form with the fields of
// Schema, or that its user opens URL.
type Question struct {
	Message string
	Schema  []byte // a JSON object; nil with a URL
	URL     string

	form form
}

// maxQuoted bounds a word of the server in an error, in bytes. It is more than the
// caller shows of one, who masks it before it is cut.
const maxQuoted = 4 << 10

// Parse reads the params of a question. The error says what is wrong with it.
func Parse(params []byte) (q Question, err error) {
	if len(params) > maxParams {
		return Question{}, fmt.Errorf("the question has more than %d bytes", maxParams)
	}
	var schema []byte
	mode := ""
	for name, value := range raw.Members(params) {
		// Of members that share a name the last one counts.
		switch string(name) {
		case "mode":
			mode, _ = raw.String(value)
		case "message":
			q.Message, _ = raw.String(value)
		case "url":
			q.URL, _ = raw.String(value)
		case "requestedSchema":
			schema = value
		}
	}
	q.Message = label(q.Message, maxMessage)
	switch {
	// Version 2025-06-18 has forms alone, and no mode; of a server that leaves it
	// out since then, the url tells.
	case mode == "url" || mode == "" && q.URL != "":
		return q, checkURL(q.URL)
	case mode != "" && mode != "form":
		return Question{}, fmt.Errorf("the mode %q of the question is not known", text.Start(mode, maxQuoted))
	}
	q.URL = "" // of a form it says nothing, and could be taken for one to open
	q.form, err = parseForm(schema)
	q.Schema = q.form.schema
	return q, err
}

// checkURL refuses what is not a page of the web: an address of another scheme may
// start a program of the user's, or read a file.
func checkURL(s string) error {
	if len(s) > maxURL {
		return fmt.Errorf("the url of the question has more than %d bytes", maxURL)
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("the url of the question is not an http or https address")
	}
	return nil
}

// label returns what a person may see of a text, limit bytes and a clause at
// most.
func label(s string, limit int) string {
	s, _ = text.Prompt(s)
	return text.Start(s, limit)
}

// Answers to a question, as results of its request.
var (
	// A person who says no, and one who does not say: the server may ask the latter
	// again (client/elicitation, Response Actions).
	Declined = []byte(`{"action":"decline"}`)
	Canceled = []byte(`{"action":"cancel"}`)
)

const accepted = `{"action":"accept"}` // without content

// Accept returns the answer of a person who has filled in the form with content,
// a JSON object, or has agreed to open the URL. Fields that are missing get
// their defaults. The error names the field that does not fit.
func (q *Question) Accept(content []byte) ([]byte, error) {
	if q.URL != "" {
		return []byte(accepted), nil
	}
	content, err := q.form.fill(content)
	if err != nil {
		return nil, err
	}
	return object(raw.AppendMember([]byte(`"action":"accept"`), "content", content)), nil
}

// An Input is what a server needs before it can go on with a call (protocol
// 2026-07-28). It is a copy, since a person takes longer than the memory of a
// result is lent.
type Input struct {
	Requests []Request
	State    []byte // the JSON text of what is to be sent back with the answers; nil for none
}

// A Request is one question of an input, under the name that its answer gets.
type Request struct {
	Name   string
	Params []byte
}

// Required reads a result that asks for input. ok is false for any other, and for
// one that asks for something other than a person's answers: sampling or roots, which
// are not offered, so that the result is shown as one that cannot be gone on with.
func Required(result []byte) (input Input, ok bool) {
	kind := ""
	var requests []byte
	for name, value := range raw.Members(result) {
		switch string(name) {
		case "resultType":
			kind, _ = raw.String(value)
		case "inputRequests":
			requests = value
		case "requestState":
			if !raw.Null(value) {
				input.State = bytes.Clone(value)
			}
		}
	}
	if kind != "input_required" {
		return Input{}, false
	}
	for name, request := range raw.Members(requests) {
		if method, _ := raw.String(raw.Member(request, "method")); method != rpc.MethodElicit {
			return Input{}, false
		}
		input.Requests = append(input.Requests, Request{string(name), bytes.Clone(raw.Member(request, "params"))})
	}
	// With a state alone, the server wants the same call once more.
	return input, input.State != nil || !raw.Null(requests)
}

// respond returns the members that a call has more when it is sent again.
func (in *Input) respond(answers [][]byte) []byte {
	var responses []byte
	for i, request := range in.Requests {
		responses = raw.AppendMember(responses, request.Name, answers[i])
	}
	members := raw.AppendMember(nil, "inputResponses", object(responses))
	if in.State != nil {
		members = raw.AppendMember(members, "requestState", in.State)
	}
	return members
}
