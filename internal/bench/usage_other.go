//go:build !unix

package main

import "time"

// Neither is measured on this system.
func cpuTime() time.Duration { return 0 }
func peakMemory() int64      { return 0 }
