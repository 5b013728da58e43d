package mcp_test

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration {
	self, _ := syscall.GetCurrentProcess()
	var created, exited, kernel, user syscall.Filetime
	syscall.GetProcessTimes(self, &created, &exited, &kernel, &user)
	ticks := func(t syscall.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(ticks(kernel)+ticks(user)) * 100
}
