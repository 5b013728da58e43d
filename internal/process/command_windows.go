package process

// This file finds programs on Windows, and has batch files run by cmd.exe.

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// Command returns the command of a server, not yet started. A program without a separator in its
// name is looked up in the PATH of env, or in the host's if env has none; a
// path is relative to dir if it is not absolute.
//
// Here the extensions of the PATHEXT of env are tried, too. Batch files, which
// npx and most other launchers are, are given to cmd.exe. An argument that
// would not be safe with it is an [UnsafeError].
//
// os/exec adds SYSTEMROOT to an environment without it: few programs start
// without.
func Command(program string, args, env []string, dir string) (*exec.Cmd, error) {
	path, err := lookPath(program, dir, env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: append([]string{program}, args...), Env: env, Dir: dir}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".bat", ".cmd":
		line, err := batchLine(path, args)
		if err != nil {
			return nil, err
		}
		// Not the COMSPEC of an environment that may come from anywhere.
		system, err := windows.GetSystemDirectory()
		if err != nil {
			return nil, fmt.Errorf("finding cmd.exe: %w", err)
		}
		cmd.Path = filepath.Join(system, "cmd.exe")
		cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `"` + cmd.Path + `" ` + line}
	}
	return cmd, nil
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
			return "", UnsafeError(fmt.Sprintf("%s holds %q, which cannot be passed to a batch file (%s) safely", what, arg[at], filepath.Base(path)))
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

// lookPath finds the program. Unlike cmd.exe it never takes one from the
// current folder.
func lookPath(program, dir string, env []string) (string, error) {
	extensions := filepath.SplitList(strings.ToLower(variable("PATHEXT", env)))
	if len(extensions) == 0 {
		extensions = []string{".com", ".exe", ".bat", ".cmd"}
	}
	if strings.ContainsAny(program, `:\/`) {
		file := program
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
		return "", &exec.Error{Name: program, Err: fs.ErrNotExist}
	}
	for _, folder := range filepath.SplitList(variable("PATH", env)) {
		if !filepath.IsAbs(folder) {
			continue // what it means would depend on the folder of the host
		}
		if found := withExtension(filepath.Join(folder, program), extensions); found != "" {
			return found, nil
		}
	}
	return "", &exec.Error{Name: program, Err: errNotInPath}
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
		if key, v, ok := strings.Cut(entry, "="); ok && strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}

// explain adds to the error of a start what its number leaves open: nothing
// that could be found out here.
func explain(_ *exec.Cmd, err error) error { return err }
