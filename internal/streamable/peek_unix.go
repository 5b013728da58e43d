//go:build linux || darwin || freebsd || netbsd || openbsd

package streamable

// This file looks into a network connection without waiting on Unix.

import (
	"net"
	"syscall"
)

const peeks = true

// peeker returns what reports whether a read of the connection would return at
// once, with data or the end. It is not for concurrent use.
func peeker(c net.Conn) func() bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return func() bool { return false }
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return func() bool { return false }
	}
	var (
		b        = make([]byte, 1)
		readable bool
	)
	peek := func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), b, syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		readable = err != syscall.EAGAIN && err != syscall.EINTR
	}
	return func() bool {
		// RawConn.Read would wait for the read that net/http has begun.
		return raw.Control(peek) == nil && readable
	}
}
