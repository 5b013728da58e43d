// Command cli shows the tools of a server that wants a login: it opens a
// browser the first time, and keeps the tokens in the user's folder.
//
//	cli https://mcp.example.com/mcp
//	cli logout https://mcp.example.com/mcp
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	folder, err := os.UserConfigDir()
	if err != nil {
		return err
	}
	auth := &oauth.Client{
		Name:  "My agent", // which the person is asked to trust
		Store: oauth.FileStore(filepath.Join(folder, "my-agent", "tokens")),
		Open: func(ctx context.Context, url string) (string, error) {
			fmt.Fprintln(os.Stderr, "Please log in at", url)
			return oauth.OpenBrowser(ctx, url)
		},
	}
	switch {
	case len(args) == 2 && args[0] == "logout":
		return auth.Logout(ctx, args[1])
	case len(args) != 1:
		return fmt.Errorf("usage: cli [logout] URL")
	}
	connection, err := mcp.Connect(ctx, mcp.Server{Name: "example", URL: args[0], Auth: auth})
	if err != nil {
		return err
	}
	defer connection.Close()
	for _, tool := range connection.Tools() {
		fmt.Println(tool.Name)
	}
	return nil
}
