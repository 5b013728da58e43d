// Package program is the main function of the examples with a framework: its
// flags, and the MCP server whose tools their loops get.
package program

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/seed94b59a13/mcp"
)

// A Task is what the flags say.
type Task struct{ BaseURL, Model, Prompt string }

// A Loop gives a model the prompt and the tools until it has an answer.
type Loop func(ctx context.Context, task Task, tools []mcp.Tool) (answer string, err error)

// MaxTurns bounds a loop: a model may call tools for ever.
const MaxTurns = 20

// ErrTurns is what a loop ends with then.
var ErrTurns = fmt.Errorf("no answer after %d turns", MaxTurns)

// Main runs the loop with the tools of the server that the arguments start, and
// prints the answer. The base URL and the model are what is used without flags.
// Ctrl-C ends the loop's context, and then the server.
func Main(baseURL, model string, loop Loop) {
	log.SetFlags(0)
	var task Task
	flag.StringVar(&task.BaseURL, "base-url", baseURL, "the `URL` of the API")
	flag.StringVar(&task.Model, "model", model, "the model")
	flag.StringVar(&task.Prompt, "prompt", "Try one of your tools and tell what it did.", "the task")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("the arguments must be the command of an MCP server")
	}
	answer, err := run(flag.Args(), task, loop)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}

func run(command []string, task Task, loop Loop) (string, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	connection, err := mcp.Connect(ctx, mcp.Server{Name: "example", Command: command[0], Args: command[1:], Env: mcp.BaseEnv()})
	if err != nil {
		return "", err
	}
	defer connection.Close()
	return loop(ctx, task, connection.Tools())
}
