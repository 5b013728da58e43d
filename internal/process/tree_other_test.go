//go:build unix && !linux

package process

import "os/exec"

func become(string) {}

func prepare(string, *exec.Cmd) (traced bool) { return false }
