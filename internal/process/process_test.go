package process

import (
	"testing"

	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// programs are what this test binary plays when it is started again.
var programs = map[string]func(*mcptest.Peer){}

func TestMain(m *testing.M) {
	mcptest.Main(programs)
	m.Run()
}
