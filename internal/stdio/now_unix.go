//go:build unix

package stdio

// This file writes to a pipe without waiting on Unix.

import "syscall"

// writeNow writes a line that the pipe takes at once, or nothing.
func writeNow(fd uintptr, line []byte) bool {
	n, _ := syscall.Write(int(fd), line)
	return n == len(line)
}
