// Package stdio speaks newline-delimited JSON-RPC over the pipes of a child
// process, and survives what servers do to their pipes.
//
// A connection runs four goroutines: one reads stdout, one writes stdin, one
// drains stderr and one waits for the process; a fifth copies stderr to the
// host if it wants that. All of them end with the process, and [Conn.Stop]
// ends the process.
package stdio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

const (
	// drainTime is how long output is still read after its writer has exited.
	// The rest of a pipe comes at once unless a stranger holds it open.
	drainTime = 300 * time.Millisecond
	// exitTime is how long an exit status is waited for after a pipe has been
	// closed at the other end. Mostly that is a first sign of an exit, which
	// on a busy machine takes its time.
	exitTime = 2 * time.Second
	// stopDrainTime is the same where nobody waits for the output any more.
	stopDrainTime = 50 * time.Millisecond
	// killTime is how long a killed process may take to be gone, and
	// abortKillTime the same for a server that never started properly. It is
	// longer than [Process.Wait] takes for thousands of processes on a busy
	// machine.
	killTime      = 7 * time.Second
	abortKillTime = 100 * time.Millisecond
	// maxTerminate bounds the wait between the signal to terminate and the
	// kill.
	maxTerminate = 2 * time.Second
	// AbortTime is the same wait for a server that never started properly.
	AbortTime = 250 * time.Millisecond
	// busyTime is how long a server has to leave that may still work on a call
	// which was cancelled: such a server often looks at nothing else before it
	// is through with that, so the end of its input is not enough.
	busyTime = 500 * time.Millisecond
	// queued bounds the messages that wait to be written, and the replies.
	queued = 64
)

// A Process is a started server together with all that it starts.
type Process interface {
	// Wait returns once the process itself has exited, with its
	// *exec.ExitError if there is one. By then what it left behind in its
	// group has been killed. It is called once.
	Wait() error
	// BeforeStop is called once before stdin is closed in order to stop.
	BeforeStop()
	// Terminate asks all processes to end, where the system has a way.
	Terminate()
	// Kill ends all processes.
	Kill()
	// Warnings tell what could not be ended.
	Warnings() []string
}

// Config says what a [Conn] speaks to. The files are the parent's ends of the
// pipes; the Conn closes them.
type Config struct {
	Process     Process
	Stdin       *os.File
	Stdout      *os.File
	Stderr      *os.File
	StderrCopy  io.Writer      // gets a copy of stderr; may be nil
	StopTimeout time.Duration  // how long the server may take to leave after its stdin was closed
	Limit       int            // bytes of the longest message
	Quoter      *secret.Quoter // of output
	OnEnd       func(error)    // called once if the server ends by itself, before the calls in flight end
	Pending     *rpc.Pending
}

// A Conn is the connection to one process.
type Conn struct {
	Config
	queue   chan outgoing
	unsent  atomic.Int64 // messages in the queue or in the writer's hands
	now     now
	replies chan []byte // to requests of the server; beside the queue, so that these do not fill it
	skipped rpc.Skipped
	stderr  tail

	doubt  doubt
	heard  atomic.Int64 // messages of the server
	called atomic.Bool  // the start is over: a tool was called
	said   tail         // output that was skipped
	saidAt atomic.Int64 // heard when the last of it came
	unread tail         // the start of a line whose end has not come
	relay  *relay       // nil without StderrCopy

	over       <-chan struct{} // closed when the server has ended by itself, or is about to be stopped
	end        context.CancelFunc
	finished   sync.Once
	stopping   chan struct{} // closed when Stop or Abort begins
	stop       sync.Once
	aborting   <-chan struct{} // closed when Abort begins
	abort      context.CancelFunc
	exited     chan struct{} // closed when the process is gone; exit is set
	exit       error
	readDone   chan struct{}
	writeDone  chan struct{}
	stderrDone chan struct{}
	released   chan struct{} // closed when the pipes are closed and everything has ended
}

// An outgoing is a message on its way to the server.
type outgoing struct {
	line []byte
	call *rpc.Call // nil for what is not a call
}

// now is what a caller needs to write its own message. The function is made
// once, since making it for each message would allocate.
type now struct {
	sync.Mutex // held by whoever writes to stdin
	stdin      syscall.RawConn
	line       []byte
	done       bool
	try        func(fd uintptr) bool // writes the line, which sets done
}

// New starts the goroutines of a connection.
func New(config Config) *Conn {
	over, end := context.WithCancel(context.Background())
	aborting, abort := context.WithCancel(context.Background())
	c := &Conn{
		Config:     config,
		over:       over.Done(),
		end:        end,
		aborting:   aborting.Done(),
		abort:      abort,
		queue:      make(chan outgoing, queued),
		replies:    make(chan []byte, queued),
		stopping:   make(chan struct{}),
		exited:     make(chan struct{}),
		readDone:   make(chan struct{}),
		writeDone:  make(chan struct{}),
		stderrDone: make(chan struct{}),
		released:   make(chan struct{}),
		doubt:      doubt{quietTime: quietTime, pingTime: pingTime},
	}
	c.now.stdin, _ = c.Stdin.SyscallConn()
	c.now.try = func(fd uintptr) bool {
		c.now.done = writeNow(fd, c.now.line)
		return true // does not wait
	}
	if c.StderrCopy != nil {
		c.relay = newRelay(c.StderrCopy)
	}
	go c.wait()        // ends when the process has exited
	go c.read()        // ends with stdout, which wait closes at the latest
	go c.write()       // ends when stopping or at the first error; wait closes stdin
	go c.drainStderr() // ends with stderr, which wait closes at the latest
	return c
}

var errStopped = errors.New("the connection has ended")

// Do sends the request of a call and returns when it has its answer, or an
// error if there will be none.
func (c *Conn) Do(ctx context.Context, call *rpc.Call) error {
	if call.Method == rpc.MethodCallTool && !c.called.Load() {
		c.called.Store(true)
	}
	c.Pending.Expect(call)
	defer c.Pending.Forget(call)
	if err := c.send(ctx, outgoing{line: append(call.Request(), '\n'), call: call}); err != nil {
		return err
	}
	if c.doubtful() {
		c.watch()
	}
	select {
	case <-call.Done():
	case <-ctx.Done():
		return ctx.Err()
	case <-c.over:
		// The last words of a server may be the answer: everything it wrote
		// has been read by now.
		if _, _, ok := call.Outcome(); !ok {
			return errStopped
		}
	}
	return nil
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method string, params []byte) error {
	c.Pending.Notified()
	if method == rpc.MethodCancelled {
		c.doubt.cancelled.Store(c.heard.Load() + 1)
		if c.Pending.Waits() {
			c.watch()
		}
	}
	return c.send(ctx, outgoing{line: append(rpc.Encode(0, method, params), '\n')})
}

// send writes a message, or hands it to the writer. A server that does not read
// its input holds up the writer but no caller.
func (c *Conn) send(ctx context.Context, o outgoing) error {
	if patience.Closed(c.over) {
		return errStopped
	}
	if c.writeNow(o) {
		return nil
	}
	c.unsent.Add(1)
	select {
	case c.queue <- o:
		return nil
	case <-ctx.Done():
		c.unsent.Add(-1)
		return ctx.Err()
	case <-c.over:
		return errStopped
	}
}

// writeNow writes a small message where that takes no wait, and overtakes no
// other: waking the writer would cost more than the write. A call that the pipe
// did not take has certainly not been sent.
func (c *Conn) writeNow(o outgoing) bool {
	const whole = 512 // up to here a pipe takes all or nothing (POSIX, PIPE_BUF)
	if len(o.line) > whole || c.now.stdin == nil || !c.now.TryLock() {
		return false
	}
	defer c.now.Unlock()
	if c.unsent.Load() > 0 || o.call != nil && !o.call.Begin() {
		return false
	}
	c.now.line, c.now.done = o.line, false
	c.now.stdin.Write(c.now.try)
	c.now.line = nil
	if !c.now.done && o.call != nil {
		o.call.Refused()
	}
	return c.now.done
}

// write writes what waits for it, until the connection is stopped or the server
// has closed its input.
func (c *Conn) write() {
	defer close(c.writeDone)
	defer c.Stdin.Close()
	const batchSize = 64 << 10
	for {
		var batch []byte
		taken, stopped := int64(0), false
		// Many small messages make one system call. Nobody else takes them, so
		// what waits in a channel is there for the select.
		for first := true; first || len(batch) < batchSize && len(c.queue)+len(c.replies) > 0; first = false {
			select {
			case o := <-c.queue:
				taken++
				batch = appendLine(batch, o)
			case reply := <-c.replies:
				batch = appendLine(batch, outgoing{line: reply})
			case <-c.stopping:
				stopped = true
			}
			if stopped {
				break
			}
			if first {
				runtime.Gosched() // whoever is about to send another gets to do so
			}
		}
		if stopped {
			// Servers that look for it stop working on what nobody waits for.
			for _, id := range c.Pending.Waiting() {
				batch = append(append(batch, rpc.Encode(0, rpc.MethodCancelled, rpc.Cancelled(id, "the connection is closed"))...), '\n')
			}
		}
		c.now.Lock()
		var err error
		if len(batch) > 0 {
			_, err = c.Stdin.Write(batch)
		}
		if stopped {
			return // with the lock: nobody writes any more
		}
		c.unsent.Add(-taken)
		c.now.Unlock()
		if err != nil {
			// The server has closed its input or is gone. Hear it out, then
			// end what cannot go on.
			select {
			case <-c.stopping:
			case <-c.readDone:
			case <-time.After(exitTime):
				c.finish("it closed its input")
				c.halt()
			}
			return
		}
	}
}

// appendLine adds a message to a batch, unless it is a call that was given up.
// One alone is not copied.
func appendLine(batch []byte, o outgoing) []byte {
	if o.call != nil && !o.call.Begin() {
		return batch
	}
	if batch == nil {
		return o.line
	}
	return append(batch, o.line...)
}

// read reads the output and ends what has closed it. An exit mostly follows at
// once and says more, so it is waited for.
func (c *Conn) read() {
	defer close(c.readDone)
	c.receive()
	waitUnless(c.stopping, c.exited, exitTime, 0)
	c.finish("it closed its output")
	// Nothing can be heard of it any more. Its output stays open on our side
	// until it is gone, but nothing more is read.
	c.halt()
}

// drainStderr reads what the server logs, however much that is: a server whose
// pipe is full stands still.
func (c *Conn) drainStderr() {
	defer close(c.stderrDone)
	// The buffer of io.Copy would be half of what a connection costs at rest.
	for buf := make([]byte, 2<<10); ; {
		n, err := c.Stderr.Read(buf)
		c.stderr.Write(buf[:n])
		c.doubt.signs.Add(1)
		if c.relay != nil && n > 0 {
			c.relay.offer(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// wait closes the pipes once the process has exited and its last words are read,
// and then waits for all that runs for the connection.
func (c *Conn) wait() {
	c.exit = c.Process.Wait()
	close(c.exited)
	// What is still in the pipes is read. A process outside of the group may
	// hold them open for ever, so the wait is bounded; closing ends the reads.
	deadline := time.Now().Add(drainTime)
	for _, done := range []chan struct{}{c.stderrDone, c.readDone} {
		waitUnless(c.stopping, done, time.Until(deadline), stopDrainTime)
	}
	c.Stdin.Close()
	c.Stdout.Close()
	c.Stderr.Close()
	<-c.stderrDone
	<-c.readDone
	<-c.writeDone
	c.doubt.end()
	if c.relay != nil {
		c.relay.end()
	}
	close(c.released)
}

// finish records that the connection has ended by itself, unless it was
// stopped before.
func (c *Conn) finish(what string) {
	c.finished.Do(func() {
		if patience.Closed(c.stopping) {
			return
		}
		if patience.Closed(c.exited) {
			patience.Await(context.Background(), c.stderrDone, drainTime) // its last words belong to the error
			what = exitText(c.exit)
		}
		c.OnEnd(errors.New(what + c.Quote()))
		c.end()
	})
}

// exitText words the end of a process. No error is no end without a reason: a
// server that leaves unasked may well think that all is fine.
func exitText(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// Quote returns the last words of the server as clauses for an error text, empty
// where there are none: the end of what it wrote to its standard error, and what
// it printed that is not a message. Of the latter, what came before its last
// message is of no interest any more once the start is over.
func (c *Conn) Quote() string {
	var b strings.Builder
	b.WriteString(c.Pending.Quote())
	if text := c.quoteEnd(c.stderr.text()); text != "" {
		b.WriteString("; stderr: " + text)
	}
	var said []byte
	cut := false
	if !c.called.Load() || c.saidAt.Load() == c.heard.Load() {
		said, cut = c.said.text()
	}
	unread, _ := c.unread.text()
	if said = append(said, unread...); bytes.Contains(said, []byte("Content-Length:")) {
		b.WriteString("; it sends messages with Content-Length headers, and may wait for some, where each message is to be a line")
	}
	if text := c.quoteEnd(said, cut); text != "" {
		b.WriteString("; stdout: " + text)
	}
	return b.String()
}

// quoteEnd quotes the end of what a server has said, where it mostly says why.
func (c *Conn) quoteEnd(text []byte, cut bool) string { return c.Quoter.End(text, cut, tailSize) }

// Warnings returns what was skipped.
func (c *Conn) Warnings() []string {
	warnings := c.skipped.Warnings("a line of output that is not a JSON-RPC message", "lines of output that are not JSON-RPC messages")
	warnings = append(warnings, c.Pending.Warnings()...)
	if c.relay != nil {
		warnings = append(warnings, c.relay.warnings(c.Quoter)...)
	}
	return append(warnings, c.Process.Warnings()...)
}

// Stop ends the connection and the process: the calls in flight end, stdin is
// closed, after StopTimeout all processes are asked to terminate, and after as
// long again, at most two seconds, they are killed. It returns when nothing is
// left, may be called more than once and from several goroutines.
func (c *Conn) Stop() {
	c.halt()
	// A process that even a kill does not end, as in a dead file system, is
	// not waited for.
	waitUnless(c.aborting, c.released, killTime, abortKillTime)
}

// Abort ends a server that did not start properly: it is asked to terminate at
// once and killed soon after. If the connection is about to be stopped, Abort
// hurries that.
func (c *Conn) Abort() {
	c.abort()
	c.Stop()
}

// halt ends the process, and returns when it is gone or killed.
func (c *Conn) halt() {
	c.stop.Do(func() {
		// A server to abort is told before its input ends: one that is about to
		// start another process does not get to leave first.
		aborted, busy := false, c.Pending.Forgotten()
		select {
		case <-c.aborting:
			aborted = true
			c.Process.Terminate()
		default:
			c.Process.BeforeStop()
		}
		close(c.stopping)
		c.end()
		// The writer closes stdin; one that is stuck in a full pipe is freed
		// here, since the server does not read anyway.
		if !waitUnless(c.aborting, c.writeDone, min(c.StopTimeout, 100*time.Millisecond), 0) {
			c.Stdin.Close()
		}
		leave := c.StopTimeout
		if busy {
			leave = min(leave, busyTime)
		}
		if waitUnless(c.aborting, c.exited, leave, 0) {
			return
		}
		if !aborted {
			c.Process.Terminate()
		}
		if waitUnless(c.aborting, c.exited, min(c.StopTimeout, maxTerminate), AbortTime) {
			return
		}
		c.Process.Kill()
	})
}

// waitUnless waits until done is closed, which it reports, but not longer than
// d, nor longer than left once hurry is closed.
func waitUnless(hurry, done <-chan struct{}, d, left time.Duration) bool {
	end := time.Now().Add(d)
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return true
		case <-timer.C:
			return patience.Closed(done)
		case <-hurry:
			hurry = nil
			timer.Reset(min(time.Until(end), left))
		}
	}
}
