package process

// This file starts and ends a server's processes on Windows.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Process is a started server together with all that it starts: a job
// object, which no child can leave. The job ends them all when its last handle
// is closed, so also when the host crashes or is killed.
//
// There is no signal that a program without a window could be sent, so closing
// its standard input is all the politeness there is, and Terminate kills.
type Process struct {
	command *exec.Cmd

	mu         sync.Mutex
	job        windows.Handle // 0 once the job has ended
	terminated bool           // by this package
	left       uint32         // processes that could not be ended
}

// launch starts the command inside a job. The process is suspended until it is
// in the job, so that nothing it starts can escape.
func launch(cmd *exec.Cmd, _ Pipes) (*Process, error) {
	job, err := newJob()
	if err != nil {
		return nil, fmt.Errorf("creating a job object: %w", err)
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// Without a window: a host without a console would otherwise make one pop
	// up. It also keeps a Ctrl-C in the host's console away from the server,
	// and the group of its own keeps away a Ctrl-Break.
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP
	if err := cmd.Start(); err != nil {
		windows.CloseHandle(job)
		return nil, explain(cmd, err)
	}
	if err := enter(job, cmd.Process.Pid); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		windows.CloseHandle(job)
		return nil, err
	}
	return &Process{command: cmd, job: job}, nil
}

func pipe() (r, w *os.File, err error) { return os.Pipe() }

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil) // not inheritable
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// ntResumeProcess resumes all threads of a process. ResumeThread would need
// the handle of the first thread, which os/exec does not keep, or a snapshot
// of all threads of the system.
var ntResumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// enter puts a suspended process into the job and lets it run. os/exec holds a
// handle to the process, so its id is not reused.
func enter(job windows.Handle, pid int) error {
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_SUSPEND_RESUME
	handle, err := windows.OpenProcess(access, false, uint32(pid))
	if err != nil {
		return fmt.Errorf("opening the process: %w", err)
	}
	defer windows.CloseHandle(handle)
	if err := windows.AssignProcessToJobObject(job, handle); err != nil {
		return fmt.Errorf("assigning the process to a job object: %w", err)
	}
	if err := ntResumeProcess.Find(); err != nil {
		return fmt.Errorf("resuming the process: %w", err)
	}
	if status, _, _ := ntResumeProcess.Call(uintptr(handle)); status != 0 {
		return fmt.Errorf("resuming the process: %w", windows.NTStatus(status))
	}
	return nil
}

// errTerminated stands for an exit status of a process that this package
// ended: it says nothing about the process.
var errTerminated = errors.New("terminated")

// Wait implements stdio.Process.
func (p *Process) Wait() error {
	err := p.command.Wait()
	p.mu.Lock()
	terminated := p.terminated
	p.mu.Unlock()
	// What the server has left behind ends with it.
	p.Kill()
	for deadline := time.Now().Add(killWait); p.active() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = p.active()
	windows.CloseHandle(p.job)
	p.job = 0
	if terminated {
		return errTerminated
	}
	return err
}

// killWait bounds the wait for killed processes to be gone.
const killWait = time.Second

// active returns how many processes of the job are left.
func (p *Process) active() uint32 {
	var info struct {
		times          [4]int64
		faults         uint32
		total          uint32
		active         uint32
		terminatedOnes uint32
	}
	err := windows.QueryInformationJobObject(p.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0
	}
	return info.active
}

// BeforeStop implements stdio.Process: a job needs no looking before.
func (p *Process) BeforeStop() {}

// Terminate implements stdio.Process.
func (p *Process) Terminate() { p.Kill() }

// Kill implements stdio.Process.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job != 0 {
		p.terminated = true
		// Closing the handle would do, but a process would then seem to have
		// exited with status 0.
		windows.TerminateJobObject(p.job, 1)
	}
}

// Warnings implements stdio.Process.
func (p *Process) Warnings() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the server's processes are left: they do not die", p.left)}
}
