package process

// This file awaits a child, and reads /proc, also when the host has no
// descriptor left.

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the child has exited, or at once if that cannot be
// waited for. It reports whether the child has exited and is still to be
// reaped.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// status is what /proc tells of a process or a thread.
type status struct {
	state                           byte
	parent, group, session, threads int
	start                           uint64 // clock ticks since the system's start
}

// exited reports whether the process has ended. One whose first thread has
// ended looks like a zombie, too, but has others.
func (s status) exited() bool { return strings.IndexByte("ZX", s.state) >= 0 && s.threads <= 1 }

// stands reports whether the thread is stopped or has ended.
func (s status) stands() bool { return strings.IndexByte("TtZX", s.state) >= 0 }

// stat reads the status of a process.
func (t *tree) stat(pid int) (status, error) { return t.statIn("/proc/" + strconv.Itoa(pid)) }

// statIn reads the status of the process or thread with the directory.
func (t *tree) statIn(dir string) (s status, err error) {
	data, err := t.read(dir + "/stat")
	if err != nil {
		return s, err
	}
	// The name of the program comes first, in parentheses. It may have any
	// characters. See proc_pid_stat(5) for the fields that follow.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return s, unix.ESRCH
	}
	s.state = fields[0][0]
	s.parent, _ = strconv.Atoi(string(fields[1]))
	s.group, _ = strconv.Atoi(string(fields[2]))
	s.session, _ = strconv.Atoi(string(fields[3]))
	s.threads, _ = strconv.Atoi(string(fields[17]))
	s.start, _ = strconv.ParseUint(string(fields[19]), 10, 64)
	return s, nil
}

// stands looks at a member again, and reports whether every thread of it is
// stopped or has ended.
func (t *tree) stands(m *member) bool {
	s, err := t.stat(m.pid)
	if err != nil {
		return true
	}
	m.status = s
	if m.threads == 1 {
		return s.stands()
	}
	for _, dir := range t.tasks(m) {
		if s, err := t.statIn(dir); err == nil && !s.stands() {
			return false
		}
	}
	return true
}

// children returns the children of a member. Each belongs to the thread that
// started it.
func (t *tree) children(m *member) (pids []int) {
	for _, dir := range t.tasks(m) {
		list, _ := t.read(dir + "/children")
		for field := range bytes.FieldsSeq(list) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// tasks returns the directories of a member's threads, as of the last look at
// it. Most have one.
func (t *tree) tasks(m *member) (dirs []string) {
	dir := "/proc/" + strconv.Itoa(m.pid) + "/task/"
	if m.threads == 1 {
		return []string{dir + strconv.Itoa(m.pid)}
	}
	for _, name := range t.list(dir) {
		dirs = append(dirs, dir+name)
	}
	return dirs
}

// read reads a file.
func (t *tree) read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	return data, t.note(err)
}

// list returns the names in a directory.
func (t *tree) list(path string) []string {
	dir, err := os.Open(path)
	if err != nil {
		t.note(err)
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	return names
}

// note remembers that there was no free descriptor.
func (t *tree) note(err error) error {
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		t.starved = err
	}
	return err
}

// withDescriptors calls work, and calls it again where there are free
// descriptors if there were none: on a thread with a table of its own, a copy,
// in which the numbers of our own pipes are free (Linux 5.9, close_range). The
// host does not notice, and nobody can take them away. Two are enough.
func (t *tree) withDescriptors(work func()) {
	t.starved = nil
	work()
	if t.starved == nil {
		return
	}
	onOwnThread(func() {
		for _, fd := range t.spare {
			if unix.CloseRange(uint(fd), uint(fd), unix.CLOSE_RANGE_UNSHARE) != nil {
				return
			}
		}
		t.starved = nil
		work()
	})
}

// onOwnThread runs work on a thread that then ends.
func onOwnThread(work func()) {
	done := make(chan struct{})
	go func() { // ends with work
		defer close(done)
		runtime.LockOSThread() // which is not undone: so the thread ends with the goroutine
		if unix.Gettid() != os.Getpid() {
			work()
			return
		}
		// The first thread of a program never ends. While it is taken here,
		// another goroutine gets another thread.
		onOwnThread(work)
		runtime.UnlockOSThread()
	}()
	<-done
}
