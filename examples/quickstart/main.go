// Quickstart connects to an MCP server, shows its tools and calls some.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -- npx -y @modelcontextprotocol/server-everything
//
// Without a command it starts itself as the server, so that it needs nothing
// but Go.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/seed94b59a13/mcp"
)

const serve = "serve"

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.Arg(0) == serve {
		if err := runServer(); err != nil {
			log.Fatal(err)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, command []string) error {
	server := mcp.Server{Name: "quickstart", Env: mcp.BaseEnv()}
	bundled := len(command) == 0
	if bundled {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		command = []string{self, serve}
	}
	server.Command, server.Args = command[0], command[1:]

	connection, err := mcp.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer connection.Close()

	// What a model gets to see.
	tools := connection.Tools()
	for _, tool := range tools {
		fmt.Printf("%s\n  %s\n  %s\n", tool.Name, tool.Description, tool.InputSchema)
	}

	// What a model might do.
	calls := map[string]string{
		"add":    `{"a": 19, "b": 23}`,
		"divide": `{"a": 1, "b": 0}`, // fails: the model reads why and can try again
	}
	for _, tool := range tools {
		arguments, ok := calls[tool.ServerTool]
		if !ok || !bundled {
			if !harmless(tool) {
				continue
			}
			arguments = "{}"
		}
		result, err := tool.Handler(ctx, json.RawMessage(arguments))
		if err != nil {
			return err
		}
		fmt.Printf("\n%s(%s)\n", tool.Name, arguments)
		if result.IsError {
			fmt.Print("the tool failed: ")
		}
		fmt.Println(result.Content)
		for _, image := range result.Images {
			fmt.Printf("an image: %s, %d bytes\n", image.MIMEType, len(image.Data))
		}
	}

	if err := connection.RefreshTools(ctx); err != nil {
		return err
	}
	fmt.Printf("\nafter a refresh there are %d tools\n", len(connection.Tools()))
	for _, warning := range connection.Warnings() {
		fmt.Println("warning:", warning)
	}
	return connection.Close()
}

// harmless reports whether a tool says that it only reads, and can be called
// without arguments.
func harmless(tool mcp.Tool) bool {
	var schema struct{ Required []string }
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		return false
	}
	hints := tool.Annotations
	return len(schema.Required) == 0 && hints != nil && hints.ReadOnly != nil && *hints.ReadOnly
}
