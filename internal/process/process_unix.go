//go:build unix

package process

// This file starts, signals and ends a server's processes on Unix.

import (
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A Process is a started server together with all that it starts. It leads a
// process group of its own, so that signals reach what a launcher such as npx
// or a shell has started, and so that a Ctrl-C in the terminal does not reach
// the server before its host can close it in order. What leaves the group is
// the business of the tree, which not every system has.
//
// The leader's exit is noticed before it is reaped, on systems that allow it:
// until then no other process or group can get its id. No signal is sent to
// the id after that.
type Process struct {
	command *exec.Cmd
	killed  chan struct{} // closed by Kill

	mu         sync.Mutex
	reaped     bool // the leader's id may be somebody else's
	terminated bool
	tree       tree
}

const (
	// deathTime bounds the wait for killed processes to be gone.
	deathTime = time.Second
	// groupTime bounds the wait for the group to be empty. A member whose new
	// parent does not care for it, as in a container with a poor init, stays
	// in the group as a zombie for ever.
	groupTime = 20 * time.Millisecond
)

// launch starts the command in a process group of its own.
func launch(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, explain(cmd, err)
	}
	return &Process{command: cmd, killed: make(chan struct{})}, nil
}

// Wait implements stdio.Process. After the signal to terminate, what is left
// of the group has until Kill to follow its leader: a shell dies at once,
// while the docker below it still removes its container.
func (p *Process) Wait() error {
	pid := p.command.Process.Pid
	unreaped := awaitExit(pid)
	var err error
	if !unreaped {
		err = p.command.Wait()
	}
	for p.leaving() {
		select {
		case <-p.killed:
		case <-time.After(2 * time.Millisecond):
		}
	}
	p.mu.Lock()
	p.killAll()
	if unreaped {
		err = p.command.Wait()
	}
	p.reaped = true
	p.mu.Unlock()

	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		// As process 1 of a container the host inherits the orphans. Nobody
		// else would reap those that take a moment to die.
		orphan := 1
		for orphan > 0 {
			var err error
			if orphan, err = syscall.Wait4(-pid, nil, syscall.WNOHANG, nil); err != nil {
				orphan = -1
			}
		}
		alive := p.tree.reap() || orphan == 0
		empty := errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH)
		if past := time.Since(start); !alive && (empty || past > groupTime) || past > deathTime {
			break
		}
	}
	p.tree.release()
	return err
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
	return p.terminated && p.tree.inGroup()
}

// BeforeStop implements stdio.Process.
func (p *Process) BeforeStop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.tree.collect(p.command.Process.Pid)
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
	group := -p.command.Process.Pid
	syscall.Kill(group, syscall.SIGSTOP)
	p.tree.collect(p.command.Process.Pid)
	p.terminated = true
	syscall.Kill(group, syscall.SIGTERM)
	syscall.Kill(group, syscall.SIGCONT)
}

// Kill implements stdio.Process.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.killed:
		return
	default:
		close(p.killed)
	}
	p.killAll()
}

// killAll kills the group, then what had left it. Stopped processes start no
// others that would be missed.
func (p *Process) killAll() {
	if !p.reaped {
		syscall.Kill(-p.command.Process.Pid, syscall.SIGSTOP)
		p.tree.freeze(p.command.Process.Pid)
		syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
		p.tree.kill()
	}
}
