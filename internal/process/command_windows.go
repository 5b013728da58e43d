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

// adapt has a batch file run by cmd.exe.
func adapt(cmd *exec.Cmd) error {
	if extension := strings.ToLower(filepath.Ext(cmd.Path)); extension != ".bat" && extension != ".cmd" {
		return nil
	}
	line, err := batchLine(cmd.Path, cmd.Args[1:])
	if err != nil {
		return err
	}
	// Not the COMSPEC of an environment that may come from anywhere.
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return fmt.Errorf("finding cmd.exe: %w", err)
	}
	cmd.Path = filepath.Join(system, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `"` + cmd.Path + `" ` + line}
	return nil
}

// isName reports whether the key of an entry is the name of a variable.
func isName(key, name string) bool { return strings.EqualFold(key, name) }

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
			absolute, err := filepath.Abs(dir) // the host's own for ""
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
	for _, folder := range folders(env) {
		if found := withExtension(filepath.Join(folder, program), extensions); found != "" {
			return found, nil
		}
	}
	return "", notFound(program)
}

// withExtension returns the file as it is if it has an extension and exists,
// or with the first extension that makes it exist.
func withExtension(file string, extensions []string) string {
	if filepath.Ext(file) != "" {
		extensions = append([]string{""}, extensions...)
	}
	for _, extension := range extensions {
		if info, err := os.Stat(file + extension); err == nil && !info.IsDir() {
			return file + extension
		}
	}
	return ""
}

// explain adds to the error of a start what its number leaves open: nothing
// that could be found out here.
func explain(_ *exec.Cmd, err error) error { return err }
