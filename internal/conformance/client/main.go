// Command client is the client under test in the conformance suite of the
// Model Context Protocol, see .ci/conformance. The suite starts it once for
// each scenario, with the URL of a server as its last argument. It is built on
// package mcp alone.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed94b59a13/mcp"
)

func main() {
	if err := run(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run connects, calls what the scenario is about, and closes. Its time is less than
// what the suite gives a client, so that it ends with an error of its own and is
// not killed.
func run(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	auth, err := authorizer(os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	if err != nil {
		return err
	}
	connection, err := mcp.Connect(ctx, mcp.Server{Name: "conformance", URL: url, Auth: auth, Elicit: agree})
	if err != nil {
		return err
	}
	defer connection.Close()
	calls, err := plan(os.Getenv("MCP_CONFORMANCE_CONTEXT"), connection.Tools())
	if err != nil {
		return err
	}
	var failures []error
	for _, call := range calls {
		result, err := call.tool.Handler(ctx, call.arguments)
		if err != nil {
			// A call that fails does not keep the others from the server, whose
			// checks are what the suite goes by.
			failures = append(failures, err)
		} else {
			fmt.Printf("%s: %s\n", call.tool.ServerTool, result.Content)
		}
	}
	return errors.Join(failures...)
}

// agree is a user who fills in nothing that has a default. The scenario checks that
// the defaults of the form come back.
func agree(context.Context, mcp.Question) (json.RawMessage, error) { return nil, nil }

// A call is one that the scenario asks for, with the arguments that a model would
// send.
type call struct {
	tool      mcp.Tool
	arguments json.RawMessage
}

// plan decides what is called: what the scenario's context says, or else each
// tool once. A tool that takes a schema gets the one of the tool before it, as
// the server gave it.
func plan(context string, tools []mcp.Tool) ([]call, error) {
	var given struct {
		ToolCalls []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if context != "" {
		if err := json.Unmarshal([]byte(context), &given); err != nil {
			return nil, err
		}
	}
	var calls []call
	for _, c := range given.ToolCalls {
		for _, tool := range tools {
			if tool.ServerTool == c.Name {
				calls = append(calls, call{tool, c.Arguments})
			}
		}
	}
	if len(given.ToolCalls) > 0 {
		return calls, nil
	}
	for i, tool := range tools {
		var schema struct {
			Properties map[string]json.RawMessage
		}
		// A schema of this module is always an object: it cannot fail.
		json.Unmarshal(tool.InputSchema, &schema)
		arguments := map[string]any{}
		for name := range schema.Properties {
			// Arguments of the scenarios' own tools: two numbers to be added, and a
			// schema.
			switch name {
			case "a":
				arguments[name] = 5
			case "b":
				arguments[name] = 3
			case "schema":
				arguments[name] = tools[max(0, i-1)].ServerSchema
			}
		}
		text, err := json.Marshal(arguments)
		if err != nil {
			return nil, err
		}
		calls = append(calls, call{tool, text})
	}
	return calls, nil
}
