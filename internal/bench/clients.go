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

type client interface {
	Call(ctx context.Context, tool string) error
	List(ctx context.Context) error
	Close() error
}

// arguments are those of a usual small call.
var arguments = json.RawMessage(`{"path":"/some/where","limit":10}`)

// dialer returns what connects a client to a server whose list has that many
// tools. Each connection includes the first listing. On stdio every connection
// starts a server; over HTTP there is one for all, which stop ends.
func dialer(name, transport string) (dial func(ctx context.Context, tools int) (client, error), stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	stop = func() {}
	url := ""
	if transport == "http" {
		server := exec.Command(self, "-server", "http")
		server.Stderr = os.Stderr
		input, err := server.StdinPipe()
		if err != nil {
			return nil, nil, err
		}
		output, err := server.StdoutPipe()
		if err != nil {
			return nil, nil, err
		}
		if err := server.Start(); err != nil {
			return nil, nil, err
		}
		stop = func() {
			input.Close()
			server.Wait()
		}
		line, err := bufio.NewReader(output).ReadString('\n')
		if err != nil {
			return nil, nil, err
		}
		url = strings.TrimSpace(line)
	}
	env := func(tools int) []string { return []string{fmt.Sprintf("BENCH_TOOLS=%d", tools)} }
	address := func(tools int) string { return fmt.Sprintf("%s/%d", url, tools) }
	args := []string{"-server", "stdio"}
	switch name {
	case "ours":
		dial = func(ctx context.Context, tools int) (client, error) {
			server := mcp.Server{Name: "bench", Command: self, Args: args, Env: env(tools)}
			if url != "" {
				server = mcp.Server{Name: "bench", URL: address(tools)}
			}
			c, err := mcp.Connect(ctx, server)
			if err != nil {
				return nil, err
			}
			return &ours{c, c.Tools()[0]}, nil
		}
	case "sdk":
		dial = func(ctx context.Context, tools int) (client, error) {
			command := exec.Command(self, args...)
			command.Env = env(tools)
			var transport sdk.Transport = &sdk.CommandTransport{Command: command}
			if url != "" {
				transport = &sdk.StreamableClientTransport{Endpoint: address(tools)}
			}
			session, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, transport, nil)
			if err != nil {
				return nil, err
			}
			c := &plain{session}
			return c, c.List(ctx)
		}
	case "mcpgo":
		dial = func(ctx context.Context, tools int) (client, error) {
			var c *mcpgo.Client
			var err error
			if url != "" {
				if c, err = mcpgo.NewStreamableHttpClient(address(tools)); err == nil {
					err = c.Start(context.Background())
				}
			} else {
				c, err = mcpgo.NewStdioMCPClient(self, env(tools), args...)
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
	default:
		return nil, nil, fmt.Errorf("there is no client %q", name)
	}
	return dial, stop, nil
}

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
