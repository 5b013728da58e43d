package mcp_test

// This file compares the package with the plain SDK session on the same
// scripted server, both in one run: ratios of CPU time, and allocations. CPU
// time is that of this process, so the server's own does not count.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
	"github.com/seed94b59a13/mcp/internal/raw"
)

func init() { servers["bench"] = benchServer }

const (
	megabyte   = 1 << 20
	imageBytes = 4 * megabyte
	benchTools = 1000
)

// benchResults are the results of the bench server's tools, made once.
func benchResults() map[string]string {
	png := mcptest.PNG(imageBytes)
	return map[string]string{
		"small": mcptest.Text("hello"),
		"text":  mcptest.Text(strings.Repeat(strings.Repeat("x", 79)+"\n", megabyte/80)),
		"image": `{"content":[{"type":"image","mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString(png) + `"}]}`,
	}
}

// benchList is a list of n tools with a schema of about a kilobyte each.
func benchList(n int, rewrite bool) string {
	var list strings.Builder
	for i := range n {
		if i > 0 {
			list.WriteByte(',')
		}
		var properties []string
		for p := range 8 {
			property := fmt.Sprintf(`"property_%d":{"type":"string","description":"What the property number %d of this tool is for, in a sentence."}`, p, p)
			if rewrite && p == 0 {
				property = `"property_0":{"$ref":"#/$defs/Thing"},"tuple":{"type":"array","items":[{"type":"string"}]}`
			}
			properties = append(properties, property)
		}
		defs := ""
		if rewrite {
			defs = `"$schema":"http://json-schema.org/draft-07/schema#","$defs":{"Thing":{"type":"object","properties":{"a":{"type":"array"}}}},`
		}
		fmt.Fprintf(&list, `{"name":"tool_%d","description":"Does the thing number %d.","inputSchema":{%s"type":"object","properties":{%s},"required":["property_1"]}}`,
			i, i, defs, strings.Join(properties, ","))
	}
	return `{"tools":[` + list.String() + `]}`
}

// changeList makes a list differ from the one before, in one tool or in all.
func changeList(list, kind string, number int) string {
	switch thing := fmt.Sprintf("Does the thing, for the time %d,", number); kind {
	case "one":
		return strings.Replace(list, "Does the thing number 0", thing, 1)
	case "all":
		return strings.ReplaceAll(list, "Does the thing", thing)
	}
	return list
}

// benchServer answers from prebuilt bytes.
func benchServer(p *mcptest.Peer) {
	results := benchResults()
	lists := map[string]string{"bench": `{"tools":[{"name":"small","inputSchema":{"type":"object","properties":{}}},{"name":"text"},{"name":"image"}]}`}
	current, flip := "bench", 0
	p.On["tools/list"] = func(r mcptest.Request) {
		if current == "bench" {
			p.Reply(r, lists[current])
			return
		}
		kind, name, _ := strings.Cut(current, " ")
		if lists[name] == "" {
			lists[name] = benchList(benchTools, name == "rewrite")
		}
		flip++
		p.Reply(r, changeList(lists[name], kind, flip))
	}
	p.ServeFast(func(params []byte) string {
		if list, ok := raw.String(raw.Member(raw.Member(params, "arguments"), "list")); ok {
			current = list
		}
		name, _ := raw.String(raw.Member(params, "name"))
		return results[name]
	})
}

// usage is what a run of one side used.
type usage struct {
	cpu, mallocs, bytes float64
}

func measure(n int, f func()) usage {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := cpuTime()
	for range n {
		f()
	}
	cpu := cpuTime() - start
	runtime.ReadMemStats(&after)
	return usage{
		cpu:     float64(cpu.Nanoseconds()) / float64(n),
		mallocs: float64(after.Mallocs-before.Mallocs) / float64(n),
		bytes:   float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
	}
}

// compare reports how one operation of this package stands to the same one of
// the plain session. payload is the size that bytes are divided by.
func compare(b *testing.B, payload int, ours, plain func()) {
	ours()
	plain()
	b.ResetTimer()
	we, they := measure(b.N, ours), measure(b.N, plain)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(we.cpu/they.cpu, "cpu/plain")
	b.ReportMetric(we.cpu/1e3, "cpu-µs")
	b.ReportMetric(we.mallocs, "allocs")
	b.ReportMetric(they.mallocs, "plain-allocs")
	if payload > 0 {
		b.ReportMetric(we.bytes/float64(payload), "B/payload-B")
		b.ReportMetric(they.bytes/float64(payload), "plain-B/payload-B")
	} else {
		b.ReportMetric(we.bytes, "B")
		b.ReportMetric(they.bytes, "plain-B")
	}
}

func plainStdio(b *testing.B, server mcp.Server) *sdk.ClientSession {
	command := exec.Command(server.Command)
	command.Env = server.Env
	session, err := sdk.NewClient(&sdk.Implementation{Name: "plain", Version: "1"}, nil).
		Connect(context.Background(), &sdk.CommandTransport{Command: command}, nil)
	require.NoError(b, err)
	b.Cleanup(func() { session.Close() })
	return session
}

func BenchmarkStdio(b *testing.B) {
	server := stdioServer(b, "bench")
	ours, err := mcp.Connect(b.Context(), server)
	require.NoError(b, err)
	b.Cleanup(func() { ours.Close() })
	benchCompare(b, ours, plainStdio(b, server))
}

// benchCompare runs all comparisons on two sessions with bench servers.
func benchCompare(b *testing.B, ours *mcp.Connection, plain *sdk.ClientSession) {
	ctx := context.Background()
	handlers := map[string]mcp.Tool{}
	for _, tool := range ours.Tools() {
		handlers[tool.ServerTool] = tool
	}
	arguments := json.RawMessage(`{"path":"/some/where","limit":10}`)
	callOurs := func(name string) {
		result, err := handlers[name].Handler(ctx, arguments)
		if err != nil || result.IsError {
			b.Fatal(err, result.Content)
		}
	}
	callPlain := func(name string) {
		result, err := plain.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments})
		if err != nil || result.IsError {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		payload int
	}{{"small", 0}, {"text", megabyte}, {"image", imageBytes}} {
		b.Run(c.name, func(b *testing.B) {
			compare(b, c.payload, func() { callOurs(c.name) }, func() { callPlain(c.name) })
		})
	}
	list := func(name, kind string) {
		b.Run(name, func(b *testing.B) {
			// Which list the server gives is chosen by arguments.
			choice := json.RawMessage(`{"list":"` + kind + `"}`)
			_, err := handlers["small"].Handler(ctx, choice)
			require.NoError(b, err)
			_, err = plain.CallTool(ctx, &sdk.CallToolParams{Name: "small", Arguments: choice})
			require.NoError(b, err)
			compare(b, 0, func() {
				if err := ours.RefreshTools(ctx); err != nil {
					b.Fatal(err)
				}
			}, func() {
				if _, err := plain.ListTools(ctx, nil); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	list("list", "one clean") // differs from the one before in one tool
	list("anew", "all clean")
	list("rewrite", "all rewrite")
	list("unchanged", "same clean")
	b.Run("callers", func(b *testing.B) {
		const callers = 256
		run := func(call func()) func() {
			return func() {
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for range 20 {
							call()
						}
					})
				}
				wg.Wait()
			}
		}
		throughput(b, callers*20, run(func() { callOurs("small") }), run(func() { callPlain("small") }))
	})
}

// throughput reports calls a second, of both sides, over enough rounds for the
// collector to be in step.
func throughput(b *testing.B, calls int, ours, plain func()) {
	rounds := b.N + 9
	rate := func(f func()) float64 {
		f()
		start := time.Now()
		for range rounds {
			f()
		}
		return float64(rounds*calls) / time.Since(start).Seconds()
	}
	we, they := rate(ours), rate(plain)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(we, "calls/s")
	b.ReportMetric(we/they, "x-plain")
}
