package main

// This file is the server that all clients speak to. It answers from bytes
// that it has ready.

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/seed94b59a13/mcp/internal/mcptest"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

// A scripted server has results by the name of a case. They are texts that are made
// once: a server that works for its answers takes time of the processors that the
// clients are measured on.
type scripted struct {
	tools int

	mu      sync.Mutex
	results map[string]string
	list    string
	changes int // lists that differ from the one before; 0 means that none do
}

func newScripted(tools int) *scripted {
	return &scripted{tools: tools, results: map[string]string{}}
}

// result returns the result of a case, made at the first time. mu is held.
func (s *scripted) result(give string) string {
	if s.results[give] == "" {
		// Lines as a file has them: their ends are escapes in JSON, which a decoder
		// has to undo.
		lines := func(n int) string { return mcptest.Text(strings.Repeat(strings.Repeat("x", 79)+"\n", n/80)) }
		switch give {
		case "1 MiB text":
			s.results[give] = lines(1 << 20)
		case "32 MiB text":
			s.results[give] = lines(32 << 20)
		case "4 MiB image":
			png := mcptest.PNG(4 << 20)
			s.results[give] = `{"content":[{"type":"image","mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString(png) + `"}]}`
		default:
			s.results[give] = mcptest.Text("hello")
		}
	}
	return s.results[give]
}

// answer returns the result of a request, "" for what is not one.
func (s *scripted) answer(m rpc.Message) string {
	switch m.Method {
	case "initialize":
		return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`
	case "tools/list":
		return s.toolList()
	case "tools/call":
		// Tools all do the same: the arguments say which result is wanted.
		give, _ := raw.String(raw.Member(raw.Member(m.Params, "arguments"), "give"))
		s.mu.Lock()
		defer s.mu.Unlock()
		if give == "change" {
			s.changes++
		}
		return s.result(give)
	}
	return ""
}

// toolList is a list of tools with a schema of about a kilobyte each. A client that
// keeps what has not changed is to be seen: once a change was asked for, each list
// differs from all before, in the text of one tool.
func (s *scripted) toolList() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == "" {
		var list strings.Builder
		for i := range s.tools {
			var properties []string
			for p := range 8 {
				properties = append(properties, fmt.Sprintf(`"property_%d":{"type":"string","description":"What the property number %d of this tool is for, in a sentence."}`, p, p))
			}
			fmt.Fprintf(&list, `,{"name":"tool_%d","description":"Does the thing number %d.","inputSchema":{"type":"object","properties":{%s}}}`, i, i, strings.Join(properties, ","))
		}
		s.list = `{"tools":[` + list.String()[1:] + `]}`
	}
	if s.changes == 0 {
		return s.list
	}
	s.changes++
	return strings.Replace(s.list, "the thing number 0.", fmt.Sprintf("thing %d.", s.changes), 1)
}

const methodNotFound = `"error":{"code":-32601,"message":"Method not found"}`

// envelope is the answer to a message, nil for none. Notifications and answers get
// none. The client that asks server/discover first is told so by an error, as by
// servers of the versions before 2026-07-28.
func (s *scripted) envelope(m rpc.Message) []byte {
	if m.ID == nil || m.Method == "" {
		return nil
	}
	body := methodNotFound
	if result := s.answer(m); result != "" {
		body = `"result":` + result
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + body + "}\n")
}

// serve plays the server until its input ends. On stdio it has one connection, and
// the number of tools is in the environment; over HTTP the path says how many, so
// that one server has lists of all lengths. Answers are plain JSON: a stream would
// measure how each client reads events.
func serve(transport string) {
	if transport == "stdio" {
		tools, _ := strconv.Atoi(os.Getenv("BENCH_TOOLS"))
		s := newScripted(tools)
		peer := mcptest.NewPeer(os.Stdin, os.Stdout)
		for {
			r, ok := peer.Read()
			if !ok {
				return
			}
			if m, _, err := rpc.Parse([]byte(r.Raw)); err == nil {
				peer.Print(string(s.envelope(m)))
			}
		}
	}
	var mu sync.Mutex
	servers := map[string]*scripted{}
	handler := func(w http.ResponseWriter, r *http.Request) {
		// No stream of the server's own, and no sessions to end.
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		mu.Lock()
		s := servers[r.URL.Path]
		if s == nil {
			tools, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
			s = newScripted(tools)
			servers[r.URL.Path] = s
		}
		mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		m, _, err := rpc.Parse(body)
		answer := s.envelope(m)
		if err != nil || answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	// The program that started this one reads the address of it.
	fmt.Printf("http://%s\n", listener.Addr())
	go http.Serve(listener, http.HandlerFunc(handler)) // ends with the program
	io.Copy(io.Discard, os.Stdin)
}
