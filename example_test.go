package mcp_test

// This file shows the main uses of the package. The test binary plays the
// servers.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func init() {
	servers["example"] = func(p *mcptest.Peer) {
		p.Tools = `[{"name":"divide","description":"Divides a by b.","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}]`
		p.Call = func(r mcptest.Request) {
			var in struct{ A, B float64 }
			json.Unmarshal(r.Params.Arguments, &in)
			if in.B == 0 {
				p.Reply(r, `{"isError":true,"content":[{"type":"text","text":"division by zero"}]}`)
				return
			}
			p.Reply(r, mcptest.Text(fmt.Sprint(in.A/in.B)))
		}
		p.Serve()
	}
	servers["example slow"] = func(p *mcptest.Peer) {
		p.Tools = `[{"name":"build"}]`
		var build mcptest.Request
		p.Call = func(r mcptest.Request) {
			build = r
			p.Print(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(r.Params.Meta.ProgressToken) + `,"progress":1,"total":2,"message":"compiled"}}` + "\n")
			p.Print(`{"jsonrpc":"2.0","id":"seen","method":"ping"}` + "\n")
		}
		p.On[""] = func(mcptest.Request) { p.Reply(build, mcptest.Text("linked")) } // the progress has arrived
		p.Serve()
	}
	servers["example changes"] = func(p *mcptest.Peer) {
		p.Tools = `[{"name":"log_in"}]`
		p.Call = func(r mcptest.Request) {
			p.Tools = `[{"name":"log_in"},{"name":"read_mail"}]`
			p.Reply(r, mcptest.Text("welcome"))
			p.Print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
		}
		p.Serve()
	}
}

// noTest is a testing.TB for examples, which have none.
type noTest struct{ testing.TB }

func (noTest) Helper()           {}
func (noTest) Name() string      { return "example" }
func (noTest) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// exampleServer stands for a server that is installed.
func exampleServer(name string) mcp.Server {
	command, env := mcptest.Command(noTest{}, name)
	return mcp.Server{Name: "math", Command: command, Env: env}
}

func ExampleConnect() {
	ctx := context.Background()
	connection, err := mcp.Connect(ctx, exampleServer("example")) // such as mcp.Server{Name: "math", Command: "math-mcp", Env: mcp.BaseEnv()}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()

	// For the model:
	tool := connection.Tools()[0]
	fmt.Println(tool.Name)
	fmt.Println(tool.Description)
	fmt.Println(string(tool.InputSchema))

	// What the model writes:
	for _, arguments := range []string{`{"a": 1, "b": 4}`, `{"a": 1, "b": 0}`} {
		result, err := tool.Handler(ctx, json.RawMessage(arguments))
		if err != nil {
			fmt.Println(err) // no answer came
			return
		}
		fmt.Println(result.Content, result.IsError)
	}
	// Output:
	// mcp__math__divide
	// Tool divide from the MCP server math. Divides a by b.
	// {"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}
	// 0.25 false
	// division by zero true
}

func ExampleConnectAll() {
	config := []byte(`{
		"mcpServers": {
			"math": {"command": "${MATH}", "env": {"MCPTEST_SERVER": "example"}}, // it plays the server
			"mail": {"url": "https://mail.test/mcp", "headers": {"Authorization": "Bearer ${MAIL_TOKEN}"}},
			"gone": {"command": "/no/such/program"},
		}
	}`)
	lookup := func(name string) (string, bool) { // os.LookupEnv for the variables of the host
		if name == "MATH" {
			self, err := os.Executable()
			return self, err == nil
		}
		return "", false
	}
	servers, err := mcp.ParseServers(config, lookup)
	fmt.Println(err)
	fmt.Println(len(servers))

	connections := mcp.ConnectAll(context.Background(), servers...)
	defer connections.Close()
	fmt.Println(connections.Err() != nil) // "gone" is not connected, the others are
	for _, tool := range connections.Tools() {
		fmt.Println(tool.Name)
	}
	// Output:
	// mcp server "mail": invalid server: headers "Authorization": variable "MAIL_TOKEN" is not set
	// 2
	// true
	// mcp__math__divide
}

func ExampleWithProgress() {
	ctx := context.Background()
	connection, err := mcp.Connect(ctx, exampleServer("example slow"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()

	ctx = mcp.WithProgress(ctx, func(p mcp.Progress) {
		fmt.Printf("%s: %g of %g\n", p.Message, p.Done, p.Total)
	})
	result, err := connection.Tools()[0].Handler(ctx, nil)
	fmt.Println(result.Content, err)
	// Output:
	// compiled: 1 of 2
	// linked <nil>
}

func ExampleConnection_ToolsChanged() {
	ctx := context.Background()
	connection, err := mcp.Connect(ctx, exampleServer("example changes"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()

	result, err := connection.Tools()[0].Handler(ctx, nil)
	fmt.Println(result.Content, err)
	for len(connection.Tools()) < 2 { // without an end in a program
		select {
		case <-connection.ToolsChanged():
			if err := connection.RefreshTools(ctx); err != nil {
				fmt.Println(err) // the list stays as it was
			}
		case <-connection.Done():
			fmt.Println(connection.Err())
			return
		}
	}
	for _, tool := range connection.Tools() {
		fmt.Println(tool.Name)
	}
	// Output:
	// welcome <nil>
	// mcp__math__log_in
	// mcp__math__read_mail
}

// A definition for an API that takes JSON Schema, here that of OpenAI.
func ExampleTool() {
	connection, err := mcp.Connect(context.Background(), exampleServer("example"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()

	for _, tool := range connection.Tools() {
		definition, err := json.MarshalIndent(map[string]any{
			"type": "function",
			"function": map[string]any{
				"name":        tool.Name,
				"description": tool.Description,
				"parameters":  tool.InputSchema,
			},
		}, "", "  ")
		fmt.Println(string(definition), err)
	}
	// Output:
	// {
	//   "function": {
	//     "description": "Tool divide from the MCP server math. Divides a by b.",
	//     "name": "mcp__math__divide",
	//     "parameters": {
	//       "type": "object",
	//       "properties": {
	//         "a": {
	//           "type": "number"
	//         },
	//         "b": {
	//           "type": "number"
	//         }
	//       },
	//       "required": [
	//         "a",
	//         "b"
	//       ]
	//     }
	//   },
	//   "type": "function"
	// } <nil>
}

func ExampleConnections_Status() {
	broken := mcp.Server{Name: "broken", Command: "/no/such/program"}
	connections := mcp.ConnectAll(context.Background(), exampleServer("example"), broken)
	defer connections.Close()
	for _, s := range connections.Status() {
		if s.Connection == nil {
			fmt.Println(s.Name, "could not be connected:", errors.Is(s.Err, os.ErrNotExist))
			continue
		}
		fmt.Println(s.Name, "offers", len(s.Connection.Tools()), "tool over protocol", s.Connection.Info().Protocol)
	}
	// Output:
	// math offers 1 tool over protocol 2025-11-25
	// broken could not be connected: true
}

func ExampleConnections_Set() {
	ctx := context.Background()
	connections := mcp.ConnectAll(ctx, exampleServer("example"))
	defer connections.Close()
	before := connections.All()[0]

	mail := exampleServer("example changes")
	mail.Name = "mail"
	err := connections.Set(ctx, exampleServer("example"), mail) // the configuration was read again
	fmt.Println(err, len(connections.All()), connections.All()[0] == before)
	// Output: <nil> 2 true
}

// Waiting as long as a server wants.
func ExampleHTTPError() {
	// What a Handler may return.
	err := fmt.Errorf("calling: %w", &mcp.HTTPError{StatusCode: 429, Header: http.Header{"Retry-After": {"7"}}})

	var answer *mcp.HTTPError
	if errors.As(err, &answer) && answer.StatusCode == http.StatusTooManyRequests {
		fmt.Println("again after", answer.Header.Get("Retry-After"), "seconds")
	}
	fmt.Println(err)
	// Output:
	// again after 7 seconds
	// calling: the server answered 429 Too Many Requests
}

// A program gets what it needs to run, and the secrets that are meant for it.
func ExampleBaseEnv() {
	server := mcp.Server{
		Name:         "search",
		Command:      "npx",
		Args:         []string{"-y", "example-search-server"},
		Env:          append(mcp.BaseEnv(), "SEARCH_API_KEY="+os.Getenv("SEARCH_API_KEY")),
		StartTimeout: 2 * time.Minute, // the first start downloads it
	}
	fmt.Println(server.Name, server.StartTimeout)
	// Output: search 2m0s
}

// What a loop around a model does with the calls that the model writes.
func ExampleCall() {
	ctx := context.Background()
	connection, err := mcp.Connect(ctx, exampleServer("example"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()

	for _, call := range []struct{ name, arguments string }{
		{"mcp__math__divide", `{"a": 1, "b": 4}`},
		{"mcp__math__divide", `{"a": 1, "b": 0}`},
		{"math_divide", `{"a": 1, "b": 4}`},
	} {
		result := mcp.Call(ctx, connection.Tools(), call.name, json.RawMessage(call.arguments))
		fmt.Println(result.Text())
	}
	// Output:
	// 0.25
	// The tool failed: division by zero
	// The tool failed: there is no tool "math_divide"; the nearest is "mcp__math__divide"
}

// All that a tool sent, in its order, for a program that has a place for files.
func ExamplePart() {
	ctx := context.Background()
	connection, err := mcp.Connect(ctx, exampleServer("example parts"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()

	result := mcp.Call(ctx, connection.Tools(), "mcp__math__plot", nil)
	for _, part := range result.Parts {
		fmt.Printf("%s %q %s %d\n", part.Type, part.Text, part.MIMEType, len(part.Data))
	}
	fmt.Println(result.Content)
	fmt.Println(result.Images[0].DataURL()[:30] + "…")
	// Output:
	// text "The curve:"  0
	// image "" image/gif 13
	// text "Its values:"  0
	// resource "[resource: file:///values.pdf, application/pdf, 4 bytes]" application/pdf 4
	// The curve:
	// [image 1]
	// Its values:
	// [resource: file:///values.pdf, application/pdf, 4 bytes]
	// data:image/gif;base64,R0lGODlh…
}

// A function of the application stands beside the tools of servers.
func ExampleNewTool() {
	type order struct {
		Dish   string `json:"dish" jsonschema:"what to eat"`
		People int    `json:"people,omitempty" jsonschema:"for how many"`
	}
	tool := mcp.NewTool("order", "Orders food.", func(ctx context.Context, in order) (string, error) {
		if in.Dish == "" {
			return "", errors.New("there is nothing to cook")
		}
		return fmt.Sprintf("%s for %d", in.Dish, max(in.People, 1)), nil
	})
	fmt.Println(string(tool.InputSchema))
	tools := []mcp.Tool{tool} // and those of connections
	for _, arguments := range []string{`{"dish":"soup","people":"2"}`, `{"dish":""}`} {
		fmt.Println(mcp.Call(context.Background(), tools, "order", json.RawMessage(arguments)).Text())
	}
	// Output:
	// {"type":"object","properties":{"dish":{"type":"string","description":"what to eat"},"people":{"type":"integer","description":"for how many"}},"required":["dish"],"additionalProperties":false}
	// soup for 2
	// The tool failed: there is nothing to cook
}

// A list of objects in fewer tokens.
func ExampleTOON() {
	fmt.Println(mcp.TOON(`[{"id": 1, "name": "Ana"}, {"id": 2, "name": "Bo"}]`))
	fmt.Println(mcp.TOON("plain text"))
	// Output:
	// [2]{id,name}:
	//   1,Ana
	//   2,Bo
	// plain text
}

// Tools served again as one MCP server.
func ExampleAddTools() {
	ctx := context.Background()
	connection, err := mcp.Connect(ctx, exampleServer("example"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()

	server := sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, nil)
	if err := mcp.AddTools(server, connection.Tools()...); err != nil {
		fmt.Println(err)
	}
	// A client of it, in the same program.
	here, there := sdk.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		fmt.Println(err)
		return
	}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	result, err := client.CallTool(ctx, &sdk.CallToolParams{Name: "mcp__math__divide", Arguments: map[string]any{"a": 1, "b": 4}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Content[0].(*sdk.TextContent).Text)
	// Output: 0.25
}

// Two definitions stand for those of all tools.
func ExampleSearchTools() {
	ctx := context.Background()
	connection, err := mcp.Connect(ctx, exampleServer("example"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()

	search, execute := mcp.SearchTools(connection.Tools)
	tools := []mcp.Tool{search, execute} // what the model sees
	found := mcp.Call(ctx, tools, "tool_search", json.RawMessage(`{"query":"division of two numbers"}`))
	fmt.Println(string(found.Structured))
	result := mcp.Call(ctx, tools, "execute_tool", json.RawMessage(`{"name":"mcp__math__divide","arguments":{"a":1,"b":4}}`))
	fmt.Println(result.Content)
	// Output:
	// {"tools":["mcp__math__divide"]}
	// 0.25
}

func init() {
	servers["example parts"] = func(p *mcptest.Peer) {
		p.Tools = `[{"name":"plot"}]`
		p.Call = func(r mcptest.Request) {
			p.Reply(r, `{"content":[{"type":"text","text":"The curve:"},`+
				`{"type":"image","mimeType":"image/gif","data":"R0lGODlhAQABAAAAAA=="},`+
				`{"type":"text","text":"Its values:"},`+
				`{"type":"resource","resource":{"uri":"file:///values.pdf","mimeType":"application/pdf","blob":"JVBERg=="}}]}`)
		}
		p.Serve()
	}
}

func ExampleQuestion() {
	server := exampleServer("asks its user")
	server.Elicit = func(_ context.Context, q mcp.Question) (json.RawMessage, error) {
		fmt.Printf("%s of %s asks: %s\n", q.Tool, q.Server, q.Message) // show the fields of q.Schema, too
		return json.RawMessage(`{"name": "Ada"}`), nil
	}
	connection, err := mcp.Connect(context.Background(), server)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close()
	result, err := connection.Tools()[0].Handler(context.Background(), json.RawMessage(`{"params": {"message": "Who are you?"}}`))
	fmt.Println(result.Content, err)
	// Output:
	// ask of math asks: Who are you?
	// {"action":"accept","content":{"name":"Ada"}} <nil>
}

// A platformToken authorizes with the token that a platform keeps in a file and
// replaces from time to time.
type platformToken string

func (file platformToken) Authorize(req *http.Request) error {
	token, err := os.ReadFile(string(file))
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+string(token))
	}
	return err
}

// Refused is for those that can get another token.
func (platformToken) Refused(*http.Response) (again bool, err error) { return false, nil }

// Tokens from elsewhere. For servers that want a login there is package oauth.
func ExampleAuthorizer() {
	server := mcp.Server{Name: "reports", URL: "https://mcp.example.com/mcp", Auth: platformToken("/var/run/secrets/tokens/mcp")}
	fmt.Println(server)
	// Output: mcp.Server{Name: "reports", URL: https://mcp.example.com/mcp, Auth: mcp_test.platformToken}
}
