package process

// This file notices the exit of a child on Linux.

import "golang.org/x/sys/unix"

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
