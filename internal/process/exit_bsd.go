//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package process

// This file notices the exit of a child on macOS and the BSDs.

import "golang.org/x/sys/unix"

// awaitExit returns when the child has exited, or at once if that cannot be
// waited for. It reports whether the child has exited and is still to be
// reaped.
func awaitExit(pid int) bool {
	queue, err := unix.Kqueue() // not inherited by children
	if err != nil {
		return false
	}
	defer unix.Close(queue)
	changes, events := make([]unix.Kevent_t, 1), make([]unix.Kevent_t, 1)
	unix.SetKevent(&changes[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	changes[0].Fflags = unix.NOTE_EXIT
	for {
		n, err := unix.Kevent(queue, changes, events, nil)
		switch {
		case err == unix.ESRCH:
			return true // it has exited before: nobody else reaps it
		case err == unix.EINTR:
			changes = nil // they are registered by now
		case err != nil || n == 0 || events[0].Flags&unix.EV_ERROR != 0:
			return n > 0 && int64(events[0].Data) == int64(unix.ESRCH)
		default:
			return true
		}
	}
}
