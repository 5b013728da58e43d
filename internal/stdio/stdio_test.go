package stdio

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

// A sleeper is a process that does nothing until it is told to end.
type sleeper chan struct{}

func (s sleeper) Wait() error        { <-s; return nil }
func (s sleeper) BeforeStop()        {}
func (s sleeper) Warnings() []string { return []string{"it sleeps"} }
func (s sleeper) Terminate()         { close(s) }
func (s sleeper) Kill()              {}

// No message overtakes another, whether its sender or the writer writes it.
func TestOrder(t *testing.T) {
	const n = 5000
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		return r, w
	}
	in, stdin := pipe()
	stdout, out := pipe()
	stderr, errs := pipe()
	defer in.Close()
	defer out.Close()
	defer errs.Close()
	c := New(Config{Process: make(sleeper), Stdin: stdin, Stdout: stdout, Stderr: stderr, StopTimeout: time.Millisecond, Pending: &rpc.Pending{}, OnEnd: func(error) {}})
	defer c.Stop()
	got := make(chan int)
	go func() { // ends when it has read all
		defer close(got)
		for lines := bufio.NewReader(in); ; {
			line, err := lines.ReadString('\n')
			number := -1
			fmt.Sscan(line, &number)
			got <- number
			if err != nil || number == n-1 {
				return
			}
		}
	}()
	go func() { // ends when it has sent all
		for i := range n {
			size := 20
			switch {
			case i%50 < 3:
				size = 5000 // for the writer
			case i%1000 > 900:
				time.Sleep(10 * time.Microsecond) // lets the pipe run empty
			}
			if !assert.NoError(t, c.send(context.Background(), outgoing{line: fmt.Appendf(nil, "%d %s\n", i, strings.Repeat("x", size))})) {
				return
			}
		}
	}()
	want := 0
	for number := range got {
		require.Equal(t, want, number)
		want++
	}
	assert.Equal(t, n, want)
	assert.Equal(t, []string{"it sleeps"}, c.Warnings(), "what the process says")
}

// A crowd is a process with so much below it that killing it takes long.
type crowd struct{ sleeper }

func (c crowd) Terminate() {}
func (c crowd) Kill()      { time.AfterFunc(5*time.Second, c.sleeper.Terminate) }

// What takes its time to die is waited for.
func TestStopOfACrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 5 s")
	}
	c, _, _, _, _ := playedBy(t, crowd{make(sleeper)})
	c.Stop()
	select {
	case <-c.released:
	default:
		assert.Fail(t, "the connection is still there")
	}
}
