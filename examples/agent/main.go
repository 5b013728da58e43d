// Agent is a small agent in the terminal: a model behind an OpenAI-compatible
// endpoint, with the tools of the MCP servers in a configuration file.
//
//	go run . -config mcp.json -base-url http://localhost:11434/v1 -model qwen3
//
// The key, if the endpoint wants one, is in OPENAI_API_KEY. The agent asks
// before it runs a tool, and when a server wants to know something. Ctrl-C
// cancels what runs, a second one ends the agent.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp"
)

func main() {
	log.SetFlags(0)
	a := agent{key: os.Getenv("OPENAI_API_KEY"), out: os.Stdout, approved: map[string]string{}}
	flag.StringVar(&a.baseURL, "base-url", "https://api.openai.com/v1", "the `URL` of the API")
	flag.StringVar(&a.model, "model", "gpt-5-mini", "the model")
	flag.StringVar(&a.approvedFile, "approved", "approved.json", "the `file` that remembers approved tools")
	config := flag.String("config", "mcp.json", "the `file` with the servers")
	flag.Parse()
	file, err := os.ReadFile(*config)
	if err != nil {
		log.Fatal(err)
	}
	servers, err := mcp.ParseServers(file, os.LookupEnv)
	if err != nil {
		log.Print(err) // the servers without a fault are there
	}
	approved, _ := os.ReadFile(a.approvedFile)
	json.Unmarshal(approved, &a.approved) // what cannot be read is asked again
	a.interrupts = make(chan os.Signal, 1)
	signal.Notify(a.interrupts, os.Interrupt)
	a.run(context.Background(), servers, os.Stdin)
}

type agent struct {
	baseURL, model, key, approvedFile string
	approved                          map[string]string // fingerprints by the names of tools
	history                           []any             // messages, as the API takes them
	lines                             chan string       // what the user types
	terminal                          chan struct{}     // full while somebody asks the user
	interrupts                        chan os.Signal
	interrupted                       bool   // since the last prompt
	quit                              func() // ends the context of run

	printing sync.Mutex // calls run side by side
	out      io.Writer
}

func (a *agent) run(ctx context.Context, servers []mcp.Server, in io.Reader) {
	ctx, a.quit = context.WithCancel(ctx)
	defer a.quit()
	a.lines, a.terminal = make(chan string), make(chan struct{}, 1)
	go func() { // ends with the input: nothing stops a read from a terminal
		defer close(a.lines)
		for scanner := bufio.NewScanner(in); scanner.Scan() && ctx.Err() == nil; {
			a.lines <- scanner.Text()
		}
	}()
	for i := range servers {
		a.configure(&servers[i])
	}
	connections := mcp.ConnectAll(ctx, servers...)
	defer connections.Close()
	a.show(connections)
	if instructions := connections.Instructions(); instructions != "" {
		a.history = append(a.history, object{"role": "system", "content": "What the MCP servers say about their use:\n" + instructions})
	}
	for {
		var prompt string
		var ok bool
		a.interruptible(ctx, func(ctx context.Context) {
			a.terminal <- struct{}{} // no question comes between
			defer func() { <-a.terminal }()
			prompt, ok = a.ask(ctx, "> ")
		})
		if !ok {
			return
		}
		if prompt == "/status" {
			a.show(connections)
			continue
		}
		a.interrupted = false
		a.history = append(a.history, object{"role": "user", "content": prompt})
		if err := a.answer(ctx, connections); err != nil {
			a.printf("%v\n", err)
		}
	}
}

// configure sets what an agent that runs for long wants of each server. What the
// configuration file says counts.
func (a *agent) configure(s *mcp.Server) {
	s.Restart = true // when it has crashed and is needed again
	s.Elicit = a.elicit
	s.CallTimeout = cmp.Or(s.CallTimeout, 2*time.Minute)
	s.MaxOutput = cmp.Or(s.MaxOutput, 50_000) // what fits into a context window
}

// show prints how each server does.
func (a *agent) show(connections *mcp.Connections) {
	for _, status := range connections.Status() {
		switch c := status.Connection; {
		case c == nil:
			a.printf("%s: %v\n", status.Name, status.Err) // the others are connected
		case status.Err != nil:
			a.printf("%s: has ended: %v\n", status.Name, status.Err)
		default:
			info := c.Info()
			a.printf("%s: %s %s, protocol %s, %d tools\n", status.Name, info.Name, info.Version, info.Protocol, len(c.Tools()))
		}
	}
	for _, warning := range connections.Warnings() {
		a.printf("warning: %s\n", warning)
	}
}

// interruptible runs f with a context that ends at an interrupt. The second one
// after a prompt ends everything.
func (a *agent) interruptible(ctx context.Context, f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	select {
	case <-a.interrupts:
		if a.interrupted {
			a.quit()
		}
		a.interrupted = true
		cancel()
		<-done
	case <-done:
	}
}

func (a *agent) printf(format string, args ...any) {
	a.printing.Lock()
	defer a.printing.Unlock()
	fmt.Fprintf(a.out, format, args...)
}

// ask returns the next line of the user; ok is false when there is none.
func (a *agent) ask(ctx context.Context, question string) (line string, ok bool) {
	a.printf("%s", question)
	select {
	case line, ok = <-a.lines:
	case <-ctx.Done():
	}
	return line, ok
}

// allowed asks the user, unless the tool was approved just as it is now.
func (a *agent) allowed(ctx context.Context, tool mcp.Tool, arguments string) bool {
	approved := a.approved[tool.Name]
	if approved == tool.Fingerprint {
		return true
	}
	hints, _ := json.Marshal(tool.Annotations) // a server may claim anything
	a.printf("%s %s\nthe server's hints: %s\n", tool.Name, arguments, hints)
	if approved != "" {
		a.printf("it has CHANGED since you approved it\n")
	}
	line, _ := a.ask(ctx, "allow? (y)es, (a)lways, (n)o: ")
	if line == "a" {
		a.approved[tool.Name] = tool.Fingerprint
		file, _ := json.Marshal(a.approved)
		if err := os.WriteFile(a.approvedFile, file, 0o600); err != nil {
			a.printf("%v\n", err)
		}
	}
	return line == "y" || line == "a"
}
