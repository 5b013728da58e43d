package mcp

// This file makes servers of the configuration files in which other
// applications keep theirs; internal/config reads them.

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed94b59a13/mcp/internal/config"
)

// ParseServers reads the servers of a configuration file as Claude Desktop,
// Claude Code, Cursor, VS Code, Windsurf, Gemini CLI and Cline write it: a JSON
// object, with comments and trailing commas if need be, that has the servers by
// name in "mcpServers" or "servers". They come in the order of the file.
// Disabled ones are left out.
//
// Of an entry it reads command, args, env, cwd, url, httpUrl, serverUrl,
// headers, type, transport, disabled and enabled, and ignores the rest: a
// timeout or a list of tools is for the caller to set. A program gets [BaseEnv]
// and the env of its entry, which wins. In a name, characters that Server.Name
// may not have become hyphens, and one of more than 32 is cut and ends in a
// hash.
//
// In command, args, cwd, url and the values of env and headers, ${NAME} and
// ${env:NAME} become what lookup returns for NAME, and ${NAME:-default} the
// default where NAME is not set. Any other text in the braces is a name as a
// whole: lookup gets "input:key" and "workspaceFolder". What it returns is not expanded again, and a $ without a brace stays.
// Pass [os.LookupEnv] for the variables of the host. Nil means that nothing is
// set: a file that came from elsewhere gets no secret it was not given.
//
// The error joins all faults; the servers without one are returned beside it.
// The fault of a server has its name as in the file and wraps
// [ErrInvalidServer]: a variable that is not set, a member of the wrong type, a
// transport such as sse, a name that an entry before it has, or what [Connect]
// would refuse. A text that is no JSON object gives no server and an error with
// the line and column. No error shows an argument or the value of a variable or
// header. No file is looked at: whether a cwd is there, Connect tells.
func ParseServers(file []byte, lookup func(name string) (string, bool)) ([]Server, error) {
	entries, err := config.Read(file, lookup)
	if err != nil {
		return nil, err
	}
	var servers []Server
	var errs []error
	for _, entry := range entries {
		if s, err := configured(entry); err != nil {
			errs = append(errs, err)
		} else {
			servers = append(servers, s)
		}
	}
	return servers, errors.Join(errs...)
}

func configured(e config.Entry) (Server, error) {
	if e.Err != nil {
		return Server{}, e.Err
	}
	s := Server{Name: e.Name, Command: e.Command, Args: e.Args, Env: e.Env, Dir: e.Dir, URL: e.URL, Headers: e.Headers}
	if s.Command != "" {
		s.Env = lastOfEach(append(BaseEnv(), s.Env...))
	}
	faults := strings.Join(e.Faults, "; ")
	if faults == "" { // what a fault has left out would look like a fault of its own
		if faults = strings.Join(s.faults(), "; "); faults == "" {
			return s, nil
		}
	}
	return Server{}, fmt.Errorf("mcp server %q: %w: %s", e.Key, ErrInvalidServer, faults)
}

// BaseEnv returns what a program needs to run, for Server.Env: those variables
// that are set of the host's PATH, HOME, USER, LOGNAME, SHELL, TERM, LANG,
// TMPDIR, SYSTEMROOT, WINDIR, COMSPEC, PATHEXT, APPDATA, LOCALAPPDATA,
// PROGRAMDATA, PROGRAMFILES, USERPROFILE, USERNAME, HOMEDRIVE, HOMEPATH,
// SYSTEMDRIVE, TEMP and TMP. Keys and tokens are not among them.
func BaseEnv() []string {
	var env []string
	for _, name := range baseVariables {
		// Some shells hand on functions in variables, and old ones run them.
		if value, ok := os.LookupEnv(name); ok && !strings.HasPrefix(value, "() {") {
			env = append(env, name+"="+value)
		}
	}
	return env
}

var baseVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH",
	"SYSTEMDRIVE", "TEMP", "TMP",
}
