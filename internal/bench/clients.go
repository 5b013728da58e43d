package main

// This file has the three clients behind one interface.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/client"
	mcpgotypes "github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp"
)

// All do the same with the same server, in what each has for it: Call fails for a
// result without content, so that no client can be fast by dropping it.
type client interface {
	Call(ctx context.Context, tool string) error
	List(ctx context.Context) error
	Close() error
}

// arguments are those of a usual small call.
var arguments = json.RawMessage(`{"path":"/some/where","limit":10}`)

// A dialer connects a client to a server whose list has that many tools, and
// gets the first listing.
type dialer func(ctx context.Context, tools int) (client, error)

// A place is where the servers are: programs, or one that has been started, by
// its URL.
type place struct{ program, url string }

// args and env are what a program is started with.
var args = []string{"-server", "stdio"}

func env(tools int) []string { return []string{fmt.Sprintf("BENCH_TOOLS=%d", tools)} }

func (p place) address(tools int) string { return fmt.Sprintf("%s/%d", p.url, tools) }

// dialerOf returns the dialer of a client. On stdio every connection starts a
// server; over HTTP there is one for all, which stop ends.
func dialerOf(name, transport string) (dial dialer, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	p, stop := place{program: self}, func() {}
	if transport == "http" {
		if p.url, stop, err = startHTTP(self); err != nil {
			return nil, nil, err
		}
	}
	dial, ok := map[string]dialer{"ours": p.dialOurs, "sdk": p.dialSDK, "mcpgo": p.dialMCPGo}[name]
	if !ok {
		stop()
		return nil, nil, fmt.Errorf("there is no client %q", name)
	}
	return dial, stop, nil
}

// startHTTP starts a server for HTTP, and returns its URL. The server ends when its
// input does, also if this program dies.
func startHTTP(program string) (url string, stop func(), err error) {
	server := exec.Command(program, "-server", "http")
	server.Stderr = os.Stderr
	input, err := server.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	output, err := server.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		input.Close() // which ends it
		server.Wait()
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimSpace(line), stop, nil
}

// It needs no listing after Connect, which makes one.
func (p place) dialOurs(ctx context.Context, tools int) (client, error) {
	server := mcp.Server{Name: "bench", Command: p.program, Args: args, Env: env(tools)}
	if p.url != "" {
		server = mcp.Server{Name: "bench", URL: p.address(tools)}
	}
	c, err := mcp.Connect(ctx, server)
	if err != nil {
		return nil, err
	}
	return &ours{c, c.Tools()[0]}, nil
}

// The session lists nothing by itself: a listing is added, as a host that wants
// tools has to.
func (p place) dialSDK(ctx context.Context, tools int) (client, error) {
	command := exec.Command(p.program, args...)
	command.Env = env(tools)
	var transport sdk.Transport = &sdk.CommandTransport{Command: command}
	if p.url != "" {
		transport = &sdk.StreamableClientTransport{Endpoint: p.address(tools)}
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return nil, err
	}
	c := &plain{session}
	return c, c.List(ctx)
}

// Its HTTP client is started with a context of its own, which must live as long as
// it.
func (p place) dialMCPGo(ctx context.Context, tools int) (client, error) {
	var c *mcpgo.Client
	var err error
	if p.url != "" {
		if c, err = mcpgo.NewStreamableHttpClient(p.address(tools)); err == nil {
			err = c.Start(context.Background())
		}
	} else {
		c, err = mcpgo.NewStdioMCPClient(p.program, env(tools), args...)
	}
	if err != nil {
		return nil, err
	}
	var request mcpgotypes.InitializeRequest
	request.Params.ClientInfo = mcpgotypes.Implementation{Name: "bench", Version: "1"}
	if _, err := c.Initialize(ctx, request); err != nil {
		return nil, err
	}
	client := &other{c}
	return client, client.List(ctx)
}

// ours is this module, by the tools it makes: a call includes the reading of the
// result into a text for a model.
type ours struct {
	connection *mcp.Connection
	tool       mcp.Tool // the list has tools by number; the server goes by the arguments
}

func (c *ours) Call(ctx context.Context, tool string) error {
	result, err := c.tool.Handler(ctx, argumentsFor(tool))
	if err == nil && (result.IsError || result.Content == "" && len(result.Images) == 0) {
		err = errors.New(result.Content)
	}
	return err
}

func (c *ours) List(ctx context.Context) error { return c.connection.RefreshTools(ctx) }
func (c *ours) Close() error                   { return c.connection.Close() }

// plain is the official SDK's session, which decodes a result into its types.
type plain struct{ session *sdk.ClientSession }

func (c *plain) Call(ctx context.Context, tool string) error {
	result, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: "tool_0", Arguments: argumentsFor(tool)})
	if err == nil && (result.IsError || len(result.Content) == 0) {
		err = errors.New("no result")
	}
	return err
}

func (c *plain) List(ctx context.Context) error {
	_, err := c.session.ListTools(ctx, nil)
	return err
}

func (c *plain) Close() error { return c.session.Close() }

// other is mark3labs/mcp-go.
type other struct{ client *mcpgo.Client }

func (c *other) Call(ctx context.Context, tool string) error {
	var request mcpgotypes.CallToolRequest
	request.Params.Name = "tool_0"
	request.Params.Arguments = argumentsFor(tool)
	result, err := c.client.CallTool(ctx, request)
	if err == nil && (result.IsError || len(result.Content) == 0) {
		err = errors.New("no result")
	}
	return err
}

func (c *other) List(ctx context.Context) error {
	_, err := c.client.ListTools(ctx, mcpgotypes.ListToolsRequest{})
	return err
}

func (c *other) Close() error { return c.client.Close() }

// argumentsFor tells the server which result to give.
func argumentsFor(tool string) json.RawMessage {
	if tool == "small call" {
		return arguments
	}
	return json.RawMessage(`{"give":"` + tool + `"}`)
}
