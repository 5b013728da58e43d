// Gateway serves the tools of the MCP servers in a configuration file as one
// server, on its standard input and output or over HTTP. It serves at once; tools
// come as their servers connect.
//
//	go run ./examples/gateway -config mcp.json [-http 127.0.0.1:8080] [-search]
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp"
)

func main() {
	config := flag.String("config", "mcp.json", "the `file` with the servers")
	address := flag.String("http", "", "the `address` to serve HTTP at; empty means standard input and output")
	searched := flag.Bool("search", false, "serve two tools that find and call all others")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	file, err := os.ReadFile(*config)
	if err != nil {
		log.Fatal(err)
	}
	servers, err := mcp.ParseServers(file, os.LookupEnv)
	if err != nil {
		log.Print(err) // the servers without a fault are there
	}
	g := newGateway(*searched)
	done := make(chan struct{})
	go func() {
		g.follow(ctx, servers)
		close(done)
	}()
	if *address == "" {
		err = g.server.Run(ctx, &sdk.StdioTransport{})
	} else {
		err = g.listen(ctx, *address)
	}
	stop() // ends follow
	<-done // its connections are closed
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
		log.Fatal(err)
	}
}

// A gateway is a server, and the tools of all connections.
type gateway struct {
	server   *sdk.Server
	searched bool

	mu    sync.Mutex
	tools map[string]map[string]mcp.Tool // by server and name
}

func newGateway(searched bool) *gateway {
	g := &gateway{searched: searched, tools: map[string]map[string]mcp.Tool{}}
	g.server = sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
	})
	if searched {
		search, execute := mcp.SearchTools(g.all)
		if err := mcp.AddTools(g.server, search, execute); err != nil {
			log.Print(err)
		}
	}
	return g
}

// listen serves HTTP until ctx ends.
func (g *gateway) listen(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Printf("serving at http://%s", listener.Addr())
	web := &http.Server{
		Handler:           sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return g.server }, nil),
		ReadHeaderTimeout: 10 * time.Second,
	}
	defer context.AfterFunc(ctx, func() { web.Close() })()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// follow connects the servers, side by side, and serves their tools until ctx ends.
// Then it closes the connections.
func (g *gateway) follow(ctx context.Context, servers []mcp.Server) {
	var group sync.WaitGroup
	for _, server := range servers {
		group.Go(func() {
			connection, err := mcp.Connect(ctx, server)
			if err != nil {
				log.Print(err)
				return
			}
			defer connection.Close()
			defer g.set(server.Name, nil)
			for {
				g.set(server.Name, connection.Tools())
				select {
				case <-connection.ToolsChanged():
				case <-connection.Done():
					log.Print(connection.Err())
					return
				case <-ctx.Done():
					return
				}
				if err := connection.RefreshTools(ctx); err != nil {
					log.Print(err)
				}
			}
		})
	}
	group.Wait()
}

// all returns the tools of all servers, always in one order.
func (g *gateway) all() (tools []mcp.Tool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, of := range g.tools {
		for _, tool := range of {
			tools = append(tools, tool)
		}
	}
	slices.SortFunc(tools, func(a, b mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

// set makes these the tools of a server. Clients are told of what changed alone.
func (g *gateway) set(server string, tools []mcp.Tool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, now := g.tools[server], map[string]mcp.Tool{}
	var changed []mcp.Tool
	for _, tool := range tools {
		now[tool.Name] = tool
		if old, ok := before[tool.Name]; !ok || old.Fingerprint != tool.Fingerprint {
			changed = append(changed, tool)
		}
	}
	g.tools[server] = now
	if g.searched {
		return // the list of the two stays
	}
	var gone []string
	for name := range before {
		if _, ok := now[name]; !ok {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		g.server.RemoveTools(gone...)
	}
	if err := mcp.AddTools(g.server, changed...); err != nil {
		log.Print(err)
	}
}
