package process

// This file finds and holds the descendants of a server on Linux.

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxPasses bounds the walks over a tree that changes meanwhile. A server
	// that does nothing but fork would keep a walk busy for minutes.
	maxPasses = 3
	// maxHeld bounds the descriptors that one tree may take.
	maxHeld = 1024
	// stopTime bounds the wait for all processes of a tree to stand still. One
	// that has just started another with vfork stands still only later.
	stopTime = 50 * time.Millisecond
)

// A tree holds the descendants of a server by descriptors (pidfd), so that an
// id that was given to another process is never signalled: a process that
// cannot be held is left alone. They are found by the links from parent to
// child; a process whose parent has died is not found any more. A scan of all
// processes would be slow, and nothing else that is cheap tells whose they
// are. The zero tree is empty.
type tree struct {
	held map[int]descendant // by process id
}

type descendant struct {
	fd    int
	group int // its process group when it was found
	own   int // the server's process group
}

// gone reports whether the process has ended and was reaped, so that its id
// may be another's.
func (d descendant) gone() bool { return unix.PidfdSendSignal(d.fd, 0, nil, 0) == unix.ESRCH }

// exited reports whether the process has ended. It may still be a zombie.
func (d descendant) exited() bool {
	fds := []unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}
	n, _ := unix.Poll(fds, 0)
	return n > 0
}

// collect adds the descendants of the leader, which must not be reaped
// meanwhile.
func (t *tree) collect(leader int) { t.walk(leader, func(descendant) {}, func(int) {}) }

// freeze collects the descendants and stops each. The children of a process
// are read when it stands still: one that is in the middle of a fork as the
// signal arrives has one more.
func (t *tree) freeze(leader int) {
	stop := func(d descendant) { unix.PidfdSendSignal(d.fd, unix.SIGSTOP, nil, 0) }
	for _, d := range t.held {
		stop(d)
	}
	deadline := time.Now().Add(stopTime)
	t.walk(leader, stop, func(pid int) {
		for !stands(pid) && time.Now().Before(deadline) {
			time.Sleep(50 * time.Microsecond)
		}
	})
}

// walk calls found for each descendant that is new, and before for each process
// whose children it is about to read.
func (t *tree) walk(leader int, found func(descendant), before func(pid int)) {
	for range maxPasses {
		parents := []int{leader}
		for pid := range t.held {
			parents = append(parents, pid)
		}
		news := false
		for len(parents) > 0 {
			parent := parents[0]
			parents = parents[1:]
			before(parent)
			for _, pid := range children(parent) {
				if known, ok := t.held[pid]; ok && !known.gone() || len(t.held) >= maxHeld {
					continue
				}
				if d, ok := t.hold(pid, parent, leader); ok {
					found(d)
					news = true
					parents = append(parents, pid)
				}
			}
		}
		if !news {
			return
		}
	}
}

// hold takes hold of a process that was seen as a child of the parent, and
// only then looks whether it is one: what is held keeps its id until it is
// gone.
func (t *tree) hold(pid, parent, leader int) (descendant, bool) {
	fd, err := unix.PidfdOpen(pid, 0) // close-on-exec
	if err != nil {
		return descendant{}, false
	}
	d := descendant{fd: fd, own: leader}
	actual, group, ok := parentAndGroup(pid)
	holder, held := t.held[parent]
	if !ok || actual != parent || d.gone() || parent != leader && (!held || holder.gone()) {
		unix.Close(fd)
		return descendant{}, false
	}
	d.group = group
	if old, ok := t.held[pid]; ok {
		unix.Close(old.fd)
	}
	if t.held == nil {
		t.held = map[int]descendant{}
	}
	t.held[pid] = d
	return d, true
}

// inGroup reports whether descendants that are in the leader's group live.
func (t *tree) inGroup() bool {
	for _, d := range t.held {
		if d.group == d.own && !d.exited() {
			return true
		}
	}
	return false
}

// kill kills all that is held.
func (t *tree) kill() {
	for _, d := range t.held {
		unix.PidfdSendSignal(d.fd, unix.SIGKILL, nil, 0)
	}
}

// reap reports whether any that is held still lives, and reaps those that this
// process has inherited.
func (t *tree) reap() (alive bool) {
	// In this order: one that ends in between is reaped by the next Reap.
	for _, d := range t.held {
		alive = alive || !d.exited()
	}
	for _, d := range t.held {
		unix.Waitid(unix.P_PIDFD, d.fd, nil, unix.WEXITED|unix.WNOHANG, nil)
	}
	return alive
}

// release gives the descriptors back.
func (t *tree) release() {
	for _, d := range t.held {
		unix.Close(d.fd)
	}
	t.held = nil
}

// children returns the children of a process. Each belongs to the thread that
// started it.
func children(pid int) (pids []int) {
	for _, dir := range threads(pid) {
		list, _ := os.ReadFile(dir + "/children")
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// stands reports whether every thread of a process is stopped or has ended.
func stands(pid int) bool {
	for _, dir := range threads(pid) {
		if fields := stat(dir); len(fields) > 0 && !strings.Contains("TtZX", fields[0]) {
			return false
		}
	}
	return true
}

// threads returns the directories of a process's threads.
func threads(pid int) (dirs []string) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		dirs = append(dirs, dir+"/"+name)
	}
	return dirs
}

// stat reads the fields of a stat file of /proc that follow the name of the
// program, which may have any characters: state, parent, group and more.
func stat(dir string) []string {
	text, _ := os.ReadFile(dir + "/stat")
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

func parentAndGroup(pid int) (parent, group int, ok bool) {
	fields := stat("/proc/" + strconv.Itoa(pid))
	if len(fields) < 3 {
		return 0, 0, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	group, err2 := strconv.Atoi(fields[2])
	return parent, group, err1 == nil && err2 == nil
}
