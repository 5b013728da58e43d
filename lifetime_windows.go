package mcp

// This file starts and ends a server's processes on Windows.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A process is a started server together with all that it starts: a job
// object, which no child can leave. The job ends them all when its last handle
// is closed, so also when the host crashes or is killed.
//
// There is no signal that a program without a window could be sent, so closing
// its standard input is all the politeness there is, and Terminate kills.
type process struct {
	command *exec.Cmd

	mu         sync.Mutex
	job        windows.Handle // 0 once the job has ended
	terminated bool           // by this package
}

// launch starts the command inside a job. The process is suspended until it is
// in the job, so that nothing it starts can escape.
func launch(command *exec.Cmd) (*process, error) {
	job, err := newJob()
	if err != nil {
		return nil, fmt.Errorf("creating a job object: %w", err)
	}
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	// Without a window: a host without a console would otherwise make one pop
	// up. It also keeps a Ctrl-C in the host's console away from the server,
	// and the group of its own keeps away a Ctrl-Break.
	command.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP
	if err := command.Start(); err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	if err := enter(job, command.Process.Pid); err != nil {
		command.Process.Kill()
		command.Wait()
		windows.CloseHandle(job)
		return nil, err
	}
	return &process{command: command, job: job}, nil
}

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

func (p *process) Wait() error {
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
func (p *process) active() uint32 {
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

func (p *process) BeforeStop() {}

func (p *process) Terminate() { p.Kill() }

func (p *process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job != 0 {
		p.terminated = true
		// Closing the handle would do, but a process would then seem to have
		// exited with status 0.
		windows.TerminateJobObject(p.job, 1)
	}
}

// newCommand returns the command of a server, not yet started. The program is
// looked up in the PATH of Env, with the extensions of its PATHEXT. Batch
// files, which npx and most other launchers are here, are given to cmd.exe.
//
// os/exec adds SYSTEMROOT to an environment without it: few programs start
// without.
func newCommand(s Server) (*exec.Cmd, error) {
	path, err := lookPath(s.Command, s.Dir, s.Env)
	if err != nil {
		return nil, err
	}
	command := &exec.Cmd{Path: path, Args: append([]string{s.Command}, s.Args...), Env: s.Env, Dir: s.Dir}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".bat", ".cmd":
		line, err := batchLine(path, s.Args)
		if err != nil {
			return nil, err
		}
		// Not the COMSPEC of an environment that may come from anywhere.
		system, err := windows.GetSystemDirectory()
		if err != nil {
			return nil, fmt.Errorf("finding cmd.exe: %w", err)
		}
		command.Path = filepath.Join(system, "cmd.exe")
		command.SysProcAttr = &syscall.SysProcAttr{CmdLine: `"` + command.Path + `" ` + line}
	}
	return command, nil
}

// batchLine returns the arguments with which cmd.exe runs a batch file. The
// batch file's arguments are parsed by cmd.exe, then by the batch file, which
// mostly passes them on to a program as they are, and then by that program.
// Quoted, everything is itself to all of them but for a few characters, for
// which there is no safe form: those are refused.
func batchLine(path string, args []string) (string, error) {
	var b strings.Builder
	// No autorun commands, no delayed expansion with !; /s takes away the
	// outer quotes and nothing else.
	b.WriteString(`/d /e:on /v:off /s /c "`)
	for i, arg := range append([]string{path}, args...) {
		if at := strings.IndexAny(arg, "\"%\r\n\x00"); at >= 0 {
			what := fmt.Sprintf("Args[%d]", i-1)
			if i == 0 {
				what = "the path"
			}
			return "", fmt.Errorf("%w: %s holds %q, which cannot be passed to a batch file (%s) safely",
				ErrInvalidServer, what, arg[at], filepath.Base(path))
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		b.WriteString(arg)
		// A backslash before the quote would hide it from the program.
		b.WriteString(arg[len(strings.TrimRight(arg, `\`)):])
		b.WriteByte('"')
	}
	b.WriteByte('"')
	return b.String(), nil
}

// lookPath finds the program: a name without a separator in the PATH of env,
// or in the host's if env has none; a path, relative to dir if it is not
// absolute. Unlike cmd.exe it never takes a program from the current folder.
func lookPath(command, dir string, env []string) (string, error) {
	extensions := filepath.SplitList(strings.ToLower(variable("PATHEXT", env)))
	if len(extensions) == 0 {
		extensions = []string{".com", ".exe", ".bat", ".cmd"}
	}
	if strings.ContainsAny(command, `:\/`) {
		file := command
		if !filepath.IsAbs(file) && filepath.VolumeName(file) == "" {
			if dir == "" {
				dir = "."
			}
			absolute, err := filepath.Abs(dir)
			if err != nil {
				return "", err
			}
			file = filepath.Join(absolute, file)
		}
		if found := withExtension(file, extensions); found != "" {
			return found, nil
		}
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return "", &fs.PathError{Op: "exec", Path: file, Err: fmt.Errorf("it is a directory: %w", fs.ErrPermission)}
		}
		return "", &exec.Error{Name: command, Err: fs.ErrNotExist}
	}
	for _, folder := range filepath.SplitList(variable("PATH", env)) {
		if !filepath.IsAbs(folder) {
			continue // what it means would depend on the folder of the host
		}
		if found := withExtension(filepath.Join(folder, command), extensions); found != "" {
			return found, nil
		}
	}
	return "", &exec.Error{Name: command, Err: errNotInPath}
}

// withExtension returns the file as it is if it has an extension and exists,
// or with the first extension that makes it exist.
func withExtension(file string, extensions []string) string {
	candidates := []string{}
	if filepath.Ext(file) != "" {
		candidates = append(candidates, file)
	}
	for _, extension := range extensions {
		candidates = append(candidates, file+extension)
	}
	for _, candidate := range candidates {
		if info, err := os.Stat(candidate); err == nil && !info.IsDir() {
			return candidate
		}
	}
	return ""
}

// variable returns a variable of env, whatever the letter case of its name,
// or else of the host.
func variable(name string, env []string) string {
	value := os.Getenv(name)
	for _, entry := range env {
		if key, v, ok := cutEnv(entry); ok && strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}
