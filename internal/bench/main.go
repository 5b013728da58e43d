// Bench compares this module with the official SDK's session and with
// mark3labs/mcp-go, on the same scripted servers and in one run. See README.md.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Every measurement runs in a process of its own, so that no client inherits
// the heap or the connections of another. The process is this program again,
// with the measurement as its argument; its server is a third one.
func main() {
	// What is printed is a table to be copied: no line has the time before it.
	log.SetFlags(0)
	measurement := flag.String("measure", "", "used by the program itself: client, transport and case")
	server := flag.String("server", "", "used by the program itself: stdio or http")
	quick := flag.Bool("quick", false, "few rounds: to see that it works")
	flag.Parse()
	switch {
	case *server != "":
		serve(*server)
	case *measurement != "":
		parts := strings.Split(*measurement, "/")
		result, err := measure(parts[0], parts[1], parts[2], *quick)
		if err != nil {
			log.Fatal(err)
		}
		json.NewEncoder(os.Stdout).Encode(result)
	default:
		if err := report(*quick); err != nil {
			log.Fatal(err)
		}
	}
}

// A result is what one operation took, on average. The case idle has other things
// in it: what one connection holds of the heap in Bytes, and its goroutines in
// Allocs.
type result struct {
	Wall   time.Duration // of one operation
	CPU    time.Duration // of this process
	Bytes  float64       // allocated
	Allocs float64
	Peak   int64 // bytes of memory at the most, where the system tells
}

// cases are the measurements, in the order of the table. rounds are as many as take
// some seconds in all: few where one takes long. Only for the largest text is the
// peak of memory told, since it says whether a client holds a message once or many
// times.
var cases = []struct {
	name   string
	rounds int
	peak   bool
}{
	// What an agent does most: the overhead of a client alone.
	{"small call", 20_000, false},
	// Large results: how often a client copies and decodes what it got.
	{"1 MiB text", 60, false},
	{"4 MiB image", 20, false},
	{"32 MiB text", 4, true},
	// Lists that differ from the one before in one tool, as after a notification
	// that the list has changed; and one that is the same.
	{"list of 10", 2000, false},
	{"list of 1,000", 10, false},
	{"unchanged refresh", 10, false},
	// The life of connections: of agents that start many servers and keep them for
	// weeks.
	{"connect", 10, false},
	{"20 servers at once", 2, false},
	{"close", 10, false},
	{"idle", 20, false},
}

// report measures all cases with all clients, and prints a table for each
// transport. A client that cannot do a case fails in that cell alone: another may
// be at fault for messages that are too long.
func report(quick bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s/%s, %d CPUs\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, transport := range []string{"stdio", "http"} {
		fmt.Printf("\n| %s | this module | SDK session | mcp-go |\n|---|---|---|---|\n", transport)
		for _, c := range cases {
			row := []string{c.name}
			for _, client := range []string{"ours", "sdk", "mcpgo"} {
				command := exec.Command(self, "-measure", client+"/"+transport+"/"+c.name, fmt.Sprintf("-quick=%v", quick))
				command.Stderr = os.Stderr
				out, err := command.Output()
				if err != nil {
					row = append(row, "fails")
					continue
				}
				var r result
				if err := json.Unmarshal(out, &r); err != nil {
					return err
				}
				row = append(row, cell(c.name, c.peak, r))
			}
			fmt.Printf("| %s |\n", strings.Join(row, " | "))
		}
	}
	return nil
}

// cell tells of a result what matters in its case. Where servers start and end, the
// time is what a user waits for, and allocations say little; elsewhere the time
// that passes is also that of the server.
func cell(name string, peak bool, r result) string {
	switch {
	case name == "idle":
		return fmt.Sprintf("%.0f KiB, %.0f goroutines", r.Bytes/1024, r.Allocs)
	case peak:
		return fmt.Sprintf("%v CPU, peak %d MiB", round(r.CPU), r.Peak>>20)
	case slices.Contains([]string{"connect", "close", "20 servers at once"}, name):
		return fmt.Sprintf("%v, %v CPU", round(r.Wall), round(r.CPU))
	}
	return fmt.Sprintf("%v CPU, %.0f KiB, %.0f allocations", round(r.CPU), r.Bytes/1024, r.Allocs)
}

// round leaves about three digits: more would promise what no run has twice.
func round(d time.Duration) time.Duration {
	switch {
	case d > 10*time.Millisecond:
		return d.Round(time.Millisecond)
	case d > 100*time.Microsecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Nanosecond)
}

// measure runs one case with one client.
func measure(name, transport, what string, quick bool) (result, error) {
	dial, stop, err := dialerOf(name, transport)
	if err != nil {
		return result{}, err
	}
	defer stop()
	rounds := 1
	for _, c := range cases {
		if c.name == what && !quick {
			rounds = c.rounds
		}
	}
	// A client that waits for ever costs its cell and not the run.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()

	switch what {
	case "connect", "close":
		return ends(ctx, dial, what == "close", rounds)
	case "20 servers at once":
		return timed(rounds, func() error { return crowd(ctx, dial, 20) })
	case "idle":
		return idle(ctx, dial, rounds)
	}
	return operations(ctx, dial, what, rounds)
}

// ends measures the start of connections, or their close. A connection is closed
// before the next begins, so that each is the only one.
func ends(ctx context.Context, dial dialer, closing bool, rounds int) (total result, err error) {
	for range rounds {
		var c client
		opened, err := timed(1, func() (err error) { c, err = dial(ctx, 10); return err })
		if err != nil {
			return result{}, err
		}
		closed, err := timed(1, func() error { return c.Close() })
		if err != nil {
			return result{}, err
		}
		one := opened
		if closing {
			one = closed
		}
		total.Wall += one.Wall / time.Duration(rounds)
		total.CPU += one.CPU / time.Duration(rounds)
	}
	return total, nil
}

// crowd opens and closes n connections at once. It is what a host does that starts
// with all servers of its configuration.
func crowd(ctx context.Context, dial dialer, n int) (err error) {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		wg.Go(func() {
			c, err := dial(ctx, 10)
			if err == nil {
				err = c.Close()
			}
			errs <- err
		})
	}
	wg.Wait()
	for range n {
		err = cmp.Or(err, <-errs)
	}
	return err
}

// idle measures what a connection that does nothing holds. The first connection
// stays open and does not count: it pays for what all share, such as the tables of
// types that encoding/json keeps.
func idle(ctx context.Context, dial dialer, rounds int) (result, error) {
	first, err := dial(ctx, 10)
	if err != nil {
		return result{}, err
	}
	defer first.Close()
	heap, goroutines := settled()
	for range rounds {
		c, err := dial(ctx, 10)
		if err != nil {
			return result{}, err
		}
		defer c.Close()
	}
	moreHeap, moreGoroutines := settled()
	return result{Bytes: (moreHeap - heap) / float64(rounds), Allocs: float64(moreGoroutines-goroutines) / float64(rounds)}, nil
}

// operations measures calls or listings on one connection.
func operations(ctx context.Context, dial dialer, what string, rounds int) (result, error) {
	tools := 10
	if what == "list of 1,000" || what == "unchanged refresh" {
		tools = 1000
	}
	c, err := dial(ctx, tools)
	if err != nil {
		return result{}, err
	}
	defer c.Close()
	// What a case is called is what the server is asked for.
	operation := func() error { return c.Call(ctx, what) }
	if strings.HasPrefix(what, "list") || what == "unchanged refresh" {
		operation = func() error { return c.List(ctx) }
		if what != "unchanged refresh" {
			if err := c.Call(ctx, "change"); err != nil { // from now on each list differs
				return result{}, err
			}
		}
	}
	if err := operation(); err != nil { // what is made once
		return result{}, err
	}
	r, err := timed(rounds, operation)
	r.Peak = peakMemory()
	return r, err
}

// timed averages over the rounds, of this process alone: its server is another one.
// Before the first there is a collection, so that none has to clean up what came
// before.
func timed(rounds int, operation func() error) (result, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, cpu := time.Now(), cpuTime()
	for range rounds {
		if err := operation(); err != nil {
			return result{}, err
		}
	}
	wall, used := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	n := float64(rounds)
	return result{
		Wall:   wall / time.Duration(rounds),
		CPU:    used / time.Duration(rounds),
		Bytes:  float64(after.TotalAlloc-before.TotalAlloc) / n,
		Allocs: float64(after.Mallocs-before.Mallocs) / n,
	}, nil
}

// settled returns what is in use when garbage is gone. One collection leaves what
// has a finalizer, or is in a pool, for the next.
func settled() (heap float64, goroutines int) {
	var stats runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc), runtime.NumGoroutine()
}
