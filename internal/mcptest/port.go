package mcptest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreePort returns a port of the loopback address for a program that a test
// starts. It is below those that systems give out by themselves: another test
// that runs at the same time could be given one of those before the program
// listens.
func FreePort(t testing.TB) string {
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}
