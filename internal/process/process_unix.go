//go:build unix

package process

// This file starts, signals and ends a server's processes on Unix.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A Process is a started server together with all that it starts. It leads a
// session of its own, and the first process group in that:
//
//   - signals reach what a launcher such as npx or a shell has started;
//   - a Ctrl-C in the terminal does not reach the server before its host can
//     close it in order;
//   - it has no terminal. Without that the kernel stops a server that touches
//     the terminal, or whose ssh, git, gpg or sudo does, for ever (POSIX, General
//     Terminal Interface: a background group is stopped). Now the terminal
//     cannot be opened, which programs are made for;
//   - it cannot leave its group (POSIX, setpgid), and what leaves the group is
//     known by the session.
//
// What leaves the group is the business of the tree, which not every system
// has.
//
// Where the tree is known the leader's exit is noticed before it is reaped, and
// it is reaped last: until then no other process, group or session can get its
// id.
type Process struct {
	command *exec.Cmd
	pid     int // os.Process forgets it once released
	kill    sync.Once
	killed  chan struct{} // closed by Kill
	status  error         // of the leader; for Wait alone

	mu         sync.Mutex
	killedAt   time.Time
	failed     error // of the last signal to the leader
	exited     bool  // so has the leader
	reaped     bool  // its id may be somebody else's
	terminated bool
	tree       tree
	warnings   []string
}

const (
	// deathTime bounds the wait for killed processes to be gone. They die at
	// once, but each has to run for that: on a machine with ten times as much
	// to do as it can, a thousand of them take seconds.
	deathTime = 5 * time.Second
	// warnTime is how long a killed server may live before that is a warning.
	warnTime = time.Second
	// groupTime bounds the wait for dead processes to be reaped. One whose new
	// parent does not care for it, as in a container with a poor init, stays
	// there as a zombie for ever.
	groupTime = 20 * time.Millisecond
)

// launch starts the command in a session of its own.
func launch(cmd *exec.Cmd, ours Pipes) (*Process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, explain(cmd, err)
	}
	pid := cmd.Process.Pid
	return &Process{command: cmd, pid: pid, killed: make(chan struct{}), tree: newTree(pid, ours)}, nil
}

// pipe returns a pipe whose ends have numbers above 2. A host that has closed a
// standard stream would else give its number away, and write there what is not
// meant for a server; and Go ends a program whose write to 1 or 2 finds no
// reader (package os/signal, SIGPIPE).
func pipe() (r, w *os.File, err error) {
	for {
		if r, w, err = os.Pipe(); err != nil || min(number(r), number(w)) > 2 {
			return r, w, err
		}
		defer r.Close() // it keeps its number until there is a better one
		defer w.Close()
	}
}

// number returns the descriptor of an open file, which stays as it is: with
// [os.File.Fd] it may not be waited for any more.
func number(file *os.File) (n uintptr) {
	if conn, err := file.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { n = fd })
	}
	return n
}

// Wait implements stdio.Process. After the signal to terminate, what is left
// of the group has until Kill to follow its leader: a shell dies at once,
// while the docker below it still removes its container.
func (p *Process) Wait() error {
	reaped := !awaitExit(p.pid)
	if reaped {
		p.reap() // which waits, without the lock
	}
	p.mu.Lock()
	p.exited, p.reaped = true, reaped
	p.mu.Unlock()
	for p.leaving() {
		select {
		case <-p.killed:
		case <-time.After(2 * time.Millisecond):
		}
	}
	// The host may close the pipes, which the tree uses, when this has returned.
	defer p.kill.Do(func() {})
	start := time.Now()
	if p.hasLeftNobody() {
		return p.status
	}
	for p.killLeft(time.Since(start)) {
		time.Sleep(time.Millisecond)
	}
	for time.Since(start) < groupTime && !errors.Is(syscall.Kill(-p.pid, 0), syscall.ESRCH) {
		time.Sleep(time.Millisecond)
	}
	return p.status
}

// reap takes the exit status of the leader.
func (p *Process) reap() {
	p.status = p.command.Wait()
	if errors.Is(p.status, syscall.ECHILD) {
		// Somebody else has reaped it: the system, for a host that ignores
		// SIGCHLD, or a host that waits for whatever child. os/exec then keeps
		// its descriptor of the process.
		p.command.Process.Release()
		p.status = errors.New("its exit status is unknown, since the host ignores SIGCHLD or reaps all of its children")
	}
}

// hasLeftNobody reports whether the leader, which has exited, has certainly left
// no process. If none is known it is reaped: what has its id then is what is
// left, and stands still.
func (p *Process) hasLeftNobody() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tree.mayBeEmpty() {
		return false
	}
	if !p.reaped {
		syscall.Kill(-p.pid, syscall.SIGSTOP)
		p.reaped = true
		p.reap()
	}
	return p.tree.isEmpty()
}

// leaving reports whether members of the group are on their way out.
func (p *Process) leaving() bool {
	select {
	case <-p.killed:
		return false
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.terminated && p.tree.inGroup(p.hasID())
}

// killLeft kills what the leader has left behind, and reports whether that has
// to be done again, after the time that it took so far: there may be more when
// what was found first is gone.
func (p *Process) killLeft(past time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killAll()
	alive, dead := p.tree.left()
	if past < groupTime && alive+dead > 0 || past < deathTime && alive > 0 {
		return true
	}
	if p.warnings = p.tree.warnings(); !p.reaped {
		p.reaped = true
		p.reap()
	}
	return false
}

// BeforeStop implements stdio.Process.
func (p *Process) BeforeStop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.tree.collect()
	}
}

// Terminate implements stdio.Process. The group stands still while the tree is
// collected: what it started meanwhile, and then died of the signal, would not
// be found any more. A process that somebody else has stopped gets to see the
// signal, too.
func (p *Process) Terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	syscall.Kill(-p.pid, syscall.SIGSTOP)
	p.tree.collect()
	p.terminated = true
	syscall.Kill(-p.pid, syscall.SIGTERM)
	syscall.Kill(-p.pid, syscall.SIGCONT)
}

// Kill implements stdio.Process.
func (p *Process) Kill() {
	p.kill.Do(func() {
		close(p.killed)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.killedAt = time.Now()
		p.killAll()
	})
}

// killAll kills what has left the group, then the group, and the leader for
// itself: by its descriptor where the system has one. Stopped processes start
// no others that would be missed, and die before their parents: the death of a
// parent would wake up groups that are stopped (POSIX, _exit).
func (p *Process) killAll() {
	group := p.hasID()
	if group {
		syscall.Kill(-p.pid, syscall.SIGSTOP)
	}
	p.tree.kill(group)
	if group {
		syscall.Kill(-p.pid, syscall.SIGKILL)
	}
	if !p.reaped {
		p.failed = p.command.Process.Kill()
	}
}

// hasID reports whether the leader's id is certainly its own, and that of its
// group and session. The id of a group is given to no process (POSIX, fork):
// when the leader is reaped and its id no other's, there is no other group with
// it either.
func (p *Process) hasID() bool { return !p.reaped || errors.Is(syscall.Kill(p.pid, 0), syscall.ESRCH) }

// Warnings implements stdio.Process.
func (p *Process) Warnings() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.exited && !p.killedAt.IsZero() && time.Since(p.killedAt) > warnTime {
		return []string{leftWarning([]int{p.pid}, p.failed)}
	}
	return p.warnings
}

// leftWarning tells of processes that could not be ended.
func leftWarning(ids []int, failed error) string {
	const most = 10
	list, more, why := fmt.Sprint(ids[:min(len(ids), most)]), "", "they do not die"
	if len(ids) > most {
		more = fmt.Sprintf(" and %d more", len(ids)-most)
	}
	if failed != nil {
		why = failed.Error()
	}
	return fmt.Sprintf("processes of the server are left, with the ids %s%s: %s", list, more, why)
}
