//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package streamable

// This file stands in for peek_unix.go where one cannot look into a network
// connection.

import "net"

const peeks = false

// peeker returns what reports whether a read of the connection would return at
// once, with data or the end. It is not for concurrent use.
func peeker(net.Conn) func() bool { return func() bool { return false } }
