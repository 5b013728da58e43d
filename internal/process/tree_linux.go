package process

// This file finds and ends the processes of a server on Linux.

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lookTime is how long a look begins anew when it has found something. What
	// it misses is found by the next.
	lookTime = 250 * time.Millisecond
	// growTime bounds one look at a tree that grows while it is looked at.
	growTime = time.Second
	// stopTime bounds the wait for all processes of a tree to stand still. One
	// that has just started another with vfork stands still only later.
	stopTime = 50 * time.Millisecond
)

// A tree is what a server has started. A process belongs to it if its parent
// does, or if it is in the session of the server or of another that belongs to
// it: a session is left only for a new one. So what loses its parent by a
// double fork is found by its session, and what begins a session by its parent;
// what does both is a daemon, and let go in the agreed way.
//
// A daemon could be found as well, and is not to be. A variable that all below
// the server inherit, looked for in /proc/PID/environ, is kept by the honest and
// left out by who means harm: what it ends is the tmux, adb or gpg-agent that a
// server happens to be the first to start, and that its user goes on with. It
// would also stand in each environment, which is to be what the host says. To be
// the reaper of orphans (prctl(2), PR_SET_CHILD_SUBREAPER) is for the host to
// choose, since it then has to reap all that it did not start; a cgroup needs a
// right that few hosts have.
//
// A look asks each process of the system for its session, which takes less
// than a microsecond each, and reads more only of those that belong. Nothing
// is held open between two looks: a tree may have more processes than the host
// may have descriptors.
type tree struct {
	leader  int          // the id of the server's process, group and session
	spare   [2]uintptr   // descriptors of our own, which are open for as long as the tree is in use
	members []*member    // without the leader; in the order in which they were found
	known   map[int]bool // ids of processes that the present look need not look at
	starved error        // that no descriptor was free
	missed  error        // the same, of the last look
}

// A member is a process of the tree. Another may get its id once it is gone;
// its id and its start together are its own.
type member struct {
	pid int
	status
	killed bool
	failed error // of the last signal
}

// newTree returns the tree below a process that leads a session. The outputs
// among its pipes stay open for as long as the tree is in use.
func newTree(leader int, ours Pipes) tree {
	return tree{leader: leader, spare: [2]uintptr{number(ours.Stdout), number(ours.Stderr)}}
}

// collect looks for the processes of the tree.
func (t *tree) collect() {
	t.withDescriptors(func() {
		// One that is found only by its session now will still be later.
		if len(t.members) > 0 || len(t.children(&member{pid: t.leader})) > 0 || t.starved != nil {
			t.look(false, true)
		}
	})
}

// mayBeEmpty reports whether no process of the tree is known, and others would
// be found without the leader.
func (t *tree) mayBeEmpty() bool { return len(t.members) == 0 && t.starved == nil }

// isEmpty reports whether there is certainly no process in the tree, when the
// leader is reaped. A look takes its time where the system is crowded, and this
// none: an id that is not even a group's or a session's does not own a file,
// whatever it is (fcntl(2), F_SETOWN, since Linux 4.14).
func (t *tree) isEmpty() bool {
	if !t.mayBeEmpty() {
		return false
	}
	_, err := unix.FcntlInt(t.spare[0], unix.F_SETOWN, t.leader)
	return err == unix.ESRCH && unix.Kill(-t.leader, 0) == unix.ESRCH
}

// inGroup reports whether members of the leader's group live. The leader's
// session is looked at if the id is certainly still that of the tree.
func (t *tree) inGroup(session bool) (found bool) {
	living := func() bool {
		return slices.ContainsFunc(t.members, func(m *member) bool {
			return m.group == t.leader && t.update(m) && m.group == t.leader && !m.exited()
		})
	}
	t.withDescriptors(func() {
		if found = living(); !found {
			t.look(false, session) // they may have started others
			found = living()
		}
	})
	return found
}

// kill looks for the processes of the tree, stops each and then kills them, the
// last found first: a child before its parent.
func (t *tree) kill(session bool) {
	t.withDescriptors(func() {
		t.look(true, session)
		for _, m := range slices.Backward(t.members) {
			m.failed = t.signal(m, unix.SIGKILL)
			m.killed = true
		}
	})
}

// left forgets what is gone and reaps what this process has inherited. It
// returns how many are about to die, and how many are dead but not reaped by
// their parents.
func (t *tree) left() (alive, dead int) {
	keeps := func(m *member) bool {
		s, err := t.stat(m.pid)
		switch {
		case err == nil && s.start != m.start || isGone(err):
			return false
		case err == nil && !s.exited() && m.failed == unix.EPERM:
			return true // it belongs to another user, so waiting does not help
		case err != nil || !s.exited():
			alive++
			return true
		}
		// As process 1 of a container, or as a subreaper, the host inherits the
		// orphans. Nobody else would reap them.
		if s.parent == os.Getpid() && unix.Waitid(unix.P_PID, m.pid, nil, unix.WEXITED|unix.WNOHANG, nil) == nil {
			return false
		}
		dead++
		return true
	}
	t.withDescriptors(func() {
		alive, dead = 0, 0
		t.members = slices.DeleteFunc(t.members, func(m *member) bool { return !keeps(m) })
	})
	return alive, dead
}

// warnings tell what could not be ended, as of the last looks.
func (t *tree) warnings() (warnings []string) {
	var ids []int
	var failed error
	for _, m := range t.members {
		if !t.update(m) || m.exited() {
			continue
		}
		ids = append(ids, m.pid)
		if m.failed != nil {
			failed = m.failed
		}
	}
	if len(ids) > 0 {
		warnings = append(warnings, leftWarning(ids, failed))
	}
	if t.missed != nil {
		warnings = append(warnings, "processes that have left the server's group could not be looked for: "+t.missed.Error())
	}
	return warnings
}

// look adds the processes that belong to the tree until there is no new one, or
// the time is over. With stop each is stopped first, and its children are read
// when it stands still: one that is in the middle of a fork as the signal
// arrives has one more.
func (t *tree) look(stop, session bool) {
	news := false
	take := func(m *member) {
		t.known[m.pid], news = true, true
		if stop && !m.killed {
			t.signal(m, unix.SIGSTOP)
		}
	}
	add := func(pid int, s status) {
		m := &member{pid: pid, status: s}
		t.members = append(t.members, m)
		take(m)
	}
	t.known = map[int]bool{os.Getpid(): true, t.leader: true}
	t.members = slices.DeleteFunc(t.members, func(m *member) bool { return !t.update(m) && t.starved == nil })
	for _, m := range t.members {
		take(m)
	}
	start := time.Now()
	for news = true; news && time.Since(start) < lookTime; {
		news = false
		t.bySession(session, add)
		for i := -1; i < len(t.members) && time.Since(start) < growTime; i++ {
			parent := &member{pid: t.leader}
			if i >= 0 {
				parent = t.members[i]
			} else if !session {
				continue // its id may be another's, and it has no children any more
			}
			for stop && !parent.killed && !t.stands(parent) && time.Since(start) < stopTime {
				time.Sleep(50 * time.Microsecond)
			}
			t.byParent(parent, add)
		}
	}
	t.missed = t.starved
}

// byParent adds the children of a process.
func (t *tree) byParent(parent *member, add func(pid int, s status)) {
	found := map[int]status{}
	for _, pid := range t.children(parent) {
		// The children of a process that has ended meanwhile have another parent.
		if s, err := t.stat(pid); err == nil && !t.known[pid] && s.parent == parent.pid {
			found[pid] = s
		}
	}
	if len(found) == 0 || parent.pid != t.leader && !t.update(parent) {
		return // or else what has its id now is a stranger
	}
	for pid, s := range found {
		add(pid, s)
	}
}

// bySession adds what is in a session of the tree. A session's id is not given
// to another process or session as long as there is somebody in it.
func (t *tree) bySession(session bool, add func(pid int, s status)) {
	sessions := map[int]bool{t.leader: session}
	for _, m := range t.members {
		if m.session != t.leader {
			sessions[m.session] = true
		}
	}
	// Not that anything could bring in the host's own session or one from
	// outside of the container: but the harm would be great.
	own, _ := unix.Getsid(0)
	sessions[own], sessions[0] = false, false
	for _, name := range t.list("/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil || t.known[pid] {
			continue
		}
		if id, err := unix.Getsid(pid); err != nil || !sessions[id] {
			continue
		}
		if s, err := t.stat(pid); err == nil && sessions[s.session] {
			add(pid, s)
		}
	}
}

// update looks at a member again, and reports whether it is still there.
func (t *tree) update(m *member) bool {
	s, err := t.stat(m.pid)
	if err != nil || s.start != m.start {
		return false
	}
	m.status = s
	return true
}

// signal signals a member and no other process: where the system has
// descriptors of processes (Linux 5.3) nobody else can get the id between the
// check and the signal. A host without a free one sends it to the id.
func (t *tree) signal(m *member, sig unix.Signal) error {
	fd, openErr := unix.PidfdOpen(m.pid, 0) // close-on-exec
	if openErr == nil {
		defer unix.Close(fd)
	}
	s, err := t.stat(m.pid)
	if err != nil && !isGone(err) {
		// Nothing can be opened. A process in a session of the tree belongs to
		// it, whether it is the same or not.
		if session, err := unix.Getsid(m.pid); err != nil || session != m.session {
			return unix.ESRCH
		}
	} else if err != nil || s.start != m.start {
		return unix.ESRCH
	}
	if openErr != nil {
		return unix.Kill(m.pid, sig)
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// isGone reports whether the error says that a process is not there any more.
func isGone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }
