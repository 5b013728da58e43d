package process

// This file tests what Linux finds of a tree, whatever became of it.

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// become and prepare are for the letters that only Linux has:
//
//	r  gets the orphans below it, as a subreaper
//	t  is traced by its parent, and stands still
//	u  becomes root, if its file allows it
func become(letters string) {
	if strings.Contains(letters, "u") {
		syscall.Setresuid(0, 0, 0)
	}
	if strings.Contains(letters, "r") {
		unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
}

func prepare(letters string, command *exec.Cmd) (traced bool) {
	if traced = strings.Contains(letters, "t"); traced {
		runtime.LockOSThread() // the tracer is a thread
		command.SysProcAttr.Ptrace = true
	}
	return traced
}

func TestWhatIsFound(t *testing.T) {
	for name, chain := range map[string]string{
		"a child":                                   "w .",
		"a group":                                   "w g",
		"a group in a group":                        "w g g",
		"a session":                                 "w s",
		"a session in a session":                    "w s s",
		"a double fork":                             "w x .",
		"a double fork into a group":                "w gx .",
		"a double fork, then a group":               "w x g",
		"two double forks":                          "w gx gx .",
		"a double fork in a session that lives":     "w s x .",
		"a double fork in a session, to a group":    "w s gx g",
		"a session below a double fork":             "w gx . s",
		"a session below a double fork in one":      "w s x . s",
		"deaf ones":                                 "w gxd d sd d",
		"stopped ones":                              "w p",
		"a stopped group":                           "w gp",
		"a stopped session":                         "w sp",
		"a traced one":                              "w t",
		"a traced one in a group":                   "w g t",
		"a server that gets orphans":                "wr sx .",
		"a child that gets orphans":                 "w r sx sx .",
		"many sessions":                             "w 30s",
		"many groups that lost their parent":        "w x 30g",
		"a session that lost its parent to a group": "w gr sx s",
	} {
		for way, want := range map[string]string{"leave": "", "terminate": "signal: terminated", "kill": "signal: killed"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				mcptest.NoLeaks(t)
				s := beginChain(t, strings.Fields(chain)...)
				err := s.end(t, way)
				if want == "" {
					assert.NoError(t, err)
				} else {
					assert.EqualError(t, err, want)
				}
				assertGone(t, s)
			})
		}
	}
}

// The server exits while what it started lives.
func TestServerExitsFirst(t *testing.T) {
	for _, chain := range []string{"x .", "x g", "x gd d", "x gx .", "x x g", "x gx x g", "x gp", "x gx . s", "x g s"} {
		t.Run(chain, func(t *testing.T) {
			mcptest.NoLeaks(t)
			s := beginChain(t, strings.Fields(chain)...)
			assert.NoError(t, s.end(t, ""))
			assertGone(t, s)
		})
	}
}

// A daemon detaches itself in the agreed way: by a double fork and a session.
func TestDaemonLives(t *testing.T) {
	for way := range ways {
		t.Run(way, func(t *testing.T) {
			s := beginChain(t, "w", "sx", "")
			daemon := s.pids[2]
			defer syscall.Kill(daemon, syscall.SIGKILL)
			s.end(t, way)
			assert.True(t, isAlive(daemon))
			assert.False(t, isAlive(s.pids[0]))
			assert.Empty(t, s.Warnings())
		})
	}
}

// More processes than the host may hold descriptors, or than anybody expects.
func TestManyDescendants(t *testing.T) {
	n := 1100
	if testing.Short() {
		n = 300
	}
	for _, way := range []string{"leave", "kill"} {
		t.Run(way, func(t *testing.T) {
			mcptest.NoLeaks(t)
			_, env := mcptest.Command(t, "")
			script := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do setsid sleep 100 & i=$((i+1)); done; echo; read -r line`, n)
			s := begin(t, "/bin/sh", []string{"-c", script}, append(env, "PATH="+os.Getenv("PATH")))
			// In the middle of an exec a process has no environment to be seen by.
			assert.Eventually(t, func() bool { return len(mcptest.Processes(mcptest.Mark(t))) == n+1 }, patience, time.Millisecond)
			s.end(t, way)
			assertGone(t, s)
		})
	}
}

// A server that starts sessions without a pause, until it is stopped.
func TestForksWithoutEnd(t *testing.T) {
	for _, way := range []string{"terminate", "kill"} {
		t.Run(way, func(t *testing.T) {
			mcptest.NoLeaks(t)
			_, env := mcptest.Command(t, "")
			script := `trap "" TERM; bomb() { i=0; while [ $i -lt 1000 ]; do setsid sleep 100 & i=$((i+1)); done; }; (bomb) & (bomb) & echo; wait`
			s := begin(t, "/bin/sh", []string{"-c", script}, append(env, "PATH="+os.Getenv("PATH")))
			if way == "terminate" {
				s.Terminate()
			}
			s.end(t, "kill")
			assertGone(t, s)
		})
	}
}

// host runs a program in a process of its own, which plays a host, and expects
// that it says that all is well. It returns the command before that.
func host(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	mcptest.NoLeaks(t)
	program, env := mcptest.Command(t, name)
	command := exec.Command(program, args...)
	command.Env = env
	return command
}

func runHost(t *testing.T, command *exec.Cmd) {
	t.Helper()
	out, err := command.CombinedOutput()
	assert.NoError(t, err)
	assert.Equal(t, "ok\n", string(out))
	assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
}

// inHost is what a test needs in a program that plays a host.
type inHost struct{ testing.TB }

func (inHost) Helper()                           {}
func (inHost) Name() string                      { return "in a host" }
func (inHost) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (inHost) FailNow()                          { os.Exit(1) }
func (inHost) Fatal(args ...any)                 { fmt.Println(args...); os.Exit(1) }

// hostChain starts a chain in a program that plays a host.
func hostChain(chain ...string) *server {
	return begin(inHost{}, os.Args[0], chain, append(os.Environ(), mcptest.ServerVariable+"=chain"))
}

func checkGone(s *server) {
	for _, pid := range s.pids {
		if isAlive(pid) {
			fmt.Printf("process %d is left\n", pid)
		}
	}
	if warnings := s.Warnings(); len(warnings) > 0 {
		fmt.Println("warnings:", warnings)
	}
}

func descriptors() (n int) {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}

func init() {
	programs["host of few descriptors"] = func(*mcptest.Peer) {
		limit := syscall.Rlimit{Cur: 64, Max: 64}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			panic(err)
		}
		s := hostChain(os.Args[2:]...)
		var taken []int
		for {
			fd, err := syscall.Dup(0)
			if err != nil {
				break
			}
			taken = append(taken, fd)
		}
		s.end(inHost{}, os.Args[1])
		for _, fd := range taken {
			syscall.Close(fd)
		}
		checkGone(s)
		fmt.Println("ok")
	}
	programs["host that ignores SIGCHLD"] = func(*mcptest.Peer) {
		debug.SetGCPercent(-1) // the collector would close what nobody needs
		signal.Ignore(syscall.SIGCHLD)
		begun := 0
		for i := range 4 {
			for _, way := range []string{"leave", "kill"} {
				s := hostChain("w", "s", "gx", "")
				err := s.end(inHost{}, way)
				if want := "its exit status is unknown, since the host ignores SIGCHLD or reaps all of its children"; err == nil || err.Error() != want {
					fmt.Println("it ended with", err)
				}
				checkGone(s)
			}
			if i == 0 {
				begun = descriptors()
			}
		}
		if n := descriptors(); n != begun {
			fmt.Println(n-begun, "descriptors more")
		}
		fmt.Println("ok")
	}
	programs["host that reaps all"] = func(*mcptest.Peer) {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGCHLD)
		go func() { // ends with the program
			for range signals {
				for {
					if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
						break
					}
				}
			}
		}()
		for range 4 {
			for _, way := range []string{"leave", "kill"} {
				s := hostChain("w", "s", "gx", "")
				s.end(inHost{}, way)
				checkGone(s)
			}
		}
		fmt.Println("ok")
	}
	programs["host that gets orphans"] = func(*mcptest.Peer) {
		become("r")
		for _, chain := range []string{"w x .", "w gx .", "w s x .", "w s s", "x gx g"} {
			s := hostChain(strings.Fields(chain)...)
			s.end(inHost{}, "leave")
			checkGone(s)
		}
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
			fmt.Println("a child is left:", pid, err)
		}
		fmt.Println("ok")
	}
	programs["host without streams"] = func(*mcptest.Peer) {
		report := os.NewFile(3, "report")
		for fd := range 3 {
			syscall.Close(fd)
		}
		s := hostChain("x")
		for _, file := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
			if file.Fd() <= 2 {
				fmt.Fprintln(report, file.Name(), "has the number", file.Fd())
			}
		}
		<-s.done
		if _, err := s.Stdin.Write([]byte("hello?\n")); err == nil || !strings.Contains(err.Error(), "broken pipe") {
			fmt.Fprintln(report, "writing to nobody:", err)
		}
		fmt.Fprintln(report, "ok")
	}
	programs["host without /proc"] = func(*mcptest.Peer) {
		if err := syscall.Mount("none", "/proc", "tmpfs", 0, ""); err != nil {
			panic(err)
		}
		for _, chain := range []string{"w .", "wd d d", "x .", "w x ."} {
			for _, way := range []string{"leave", "kill"} {
				s := hostChain(strings.Fields(chain)...)
				if strings.Contains(chain, "d") {
					way = "kill"
				}
				s.end(inHost{}, way)
			}
		}
		fmt.Println("ok")
	}
}

func TestFewDescriptors(t *testing.T) {
	if err := unix.CloseRange(1<<20, 1<<20, 0); err != nil {
		t.Skipf("the system is too old: close_range: %v", err)
	}
	for _, chain := range []string{"w 100s", "w s s s", "w gx . s", "wd gd d sd"} {
		for _, way := range []string{"leave", "terminate", "kill"} {
			if strings.Contains(chain, "d") {
				way = "kill"
			}
			t.Run(chain+"/"+way, func(t *testing.T) {
				runHost(t, host(t, "host of few descriptors", append([]string{way}, strings.Fields(chain)...)...))
			})
		}
	}
}

func TestHosts(t *testing.T) {
	for _, name := range []string{"host that ignores SIGCHLD", "host that reaps all", "host that gets orphans"} {
		t.Run(name, func(t *testing.T) { runHost(t, host(t, name)) })
	}
}

// Pipes do not take the numbers of streams that the host has closed.
func TestHostWithoutStreams(t *testing.T) {
	command := host(t, "host without streams")
	report, w, err := os.Pipe()
	require.NoError(t, err)
	defer report.Close()
	command.ExtraFiles = []*os.File{w}
	assert.NoError(t, command.Start())
	w.Close()
	said := make([]byte, 1000)
	n, _ := report.Read(said)
	assert.Equal(t, "ok\n", string(said[:n]))
	assert.NoError(t, command.Wait())
}

func TestWithoutProc(t *testing.T) {
	command := host(t, "host without /proc")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("a namespace of mounts cannot be made: %v: %s", err, out)
	}
	runHost(t, command)
}

// What cannot be killed is a warning: a process of another user.
func TestWarning(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start processes of two users")
	}
	dir, err := os.MkdirTemp("", "process")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	self, err := os.ReadFile(mcptest.Self(t))
	require.NoError(t, err)
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, self, 0o755))
	require.NoError(t, os.Chmod(program, 0o755|os.ModeSetuid))
	for name, c := range map[string]struct {
		chain string
		left  int // its place in the chain
	}{"a child": {"w u", 1}, "the server": {"u", 0}} {
		t.Run(name, func(t *testing.T) { warns(t, program, strings.Fields(c.chain), c.left) })
	}
}

func warns(t *testing.T, program string, chain []string, left int) {
	command := host(t, "host of another user", append([]string{strconv.Itoa(left)}, chain...)...)
	command.Path, command.Args = program, append([]string{program}, command.Args[1:]...)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	pid, err := strconv.Atoi(strings.Fields(string(out))[0])
	require.NoError(t, err, string(out))
	assert.True(t, isAlive(pid))
	syscall.Kill(pid, syscall.SIGKILL)
	assert.Equal(t, fmt.Sprintf("%d [processes of the server are left, with the ids [%d]: operation not permitted]\n", pid, pid), string(out))
	require.Eventually(t, func() bool { return !isAlive(pid) }, patience, time.Millisecond)
}

func init() {
	programs["host of another user"] = func(*mcptest.Peer) {
		// Not as root any more; what is below stays root.
		if err := syscall.Setresuid(65534, 65534, 65534); err != nil {
			panic(err)
		}
		s := hostChain(os.Args[2:]...)
		left, _ := strconv.Atoi(os.Args[1])
		s.Kill()
		for start := time.Now(); len(s.Warnings()) == 0 && time.Since(start) < patience; {
			time.Sleep(time.Millisecond)
		}
		fmt.Println(s.pids[left], s.Warnings())
	}
}
