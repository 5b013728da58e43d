package mcp

// This file makes servers of the configuration files in which other
// applications keep theirs; internal/config reads them.

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed94b59a13/mcp/internal/config"
	"github.com/seed94b59a13/mcp/internal/program"
	"github.com/seed94b59a13/mcp/internal/protocol"
)

// ParseServers reads the servers of a configuration file as Claude Desktop,
// Claude Code, Cursor, VS Code, Windsurf, Gemini CLI, Cline, Roo Code, Zed,
// opencode, Crush, Amazon Q, Kiro, Copilot CLI and LM Studio write it: a JSON
// object, with comments and trailing commas if need be, that has the servers by
// name in "mcpServers", "servers" or "context_servers", or in "mcp". They come
// in the order of the file. Disabled ones are left out. No other file is read or
// looked for: whether a cwd exists is for [Connect] to tell.
//
// A program gets [BaseEnv] and the env of its entry, which wins. A name that
// Server.Name may not have, and one that could be taken for such, is cleaned,
// cut and ends in a hash of the name in the file, as those of [ToolName] do.
//
// What restricts a server is kept, under all the names that applications have
// for it: lists of tools become Tools and ExcludeTools, and a time becomes
// CallTimeout, StartTimeout or StopTimeout, in seconds or milliseconds as the
// application means it. Where a file lists tools that need no approval
// (autoApprove, alwaysAllow), all others are left out, since nobody is asked here;
// an empty list says nothing. What cannot be kept is a fault of the entry: envFile,
// oauth, a sandbox, an unknown member that may restrict. Any other member is
// ignored.
//
// In command, args, cwd, url and the values of env and headers, ${NAME} and
// ${env:NAME} become what lookup returns for NAME, and ${NAME:-default} the
// default where NAME is not set. Any other text in the braces is a name as it is:
// lookup gets "input:key", "workspaceFolder" and "file:path". In the
// values of env and headers, and everywhere in a file of Gemini CLI, $NAME
// without braces is replaced as well if NAME is set. What lookup returns is not
// expanded again; any other $ stays. Pass [os.LookupEnv] for the variables of
// the host. Nil means that nothing is set: a file that came from elsewhere gets
// no secret it was not given.
//
// The error joins all faults; the servers without one are returned beside it.
// The fault of a server has its name as in the file and wraps
// [ErrInvalidServer]: a variable that is not set, a member of the wrong type, a
// transport such as sse, a name that an entry before it has, or what [Connect]
// would refuse. A text that is not a JSON object gives no server and an error with
// the line and column. What was left out of a server that is returned is in the
// error as well, without ErrInvalidServer: env beside a url, a header that the
// protocol sets with a value of its own. No error shows an argument or the value
// of a variable or header.
func ParseServers(file []byte, lookup func(name string) (string, bool)) ([]Server, error) {
	entries, err := config.Read(file, lookup)
	if err != nil {
		return nil, err
	}
	var servers []Server
	var errs []error
	base := BaseEnv()
	for _, entry := range entries {
		s, notes, err := configured(entry, base)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		servers = append(servers, s)
		for _, note := range notes {
			errs = append(errs, fmt.Errorf("mcp server %q: %s", entry.Key, note))
		}
	}
	return servers, errors.Join(errs...)
}

// configured makes a server of an entry, and says what it has left out.
func configured(e config.Entry, base []string) (_ Server, notes []string, err error) {
	if e.Err != nil {
		return Server{}, nil, e.Err
	}
	s := Server{
		Name: e.Name, Command: e.Command, Args: e.Args, Env: e.Env, Dir: e.Dir, StopTimeout: e.StopTimeout,
		URL: e.URL, BearerToken: e.Bearer, Headers: e.Headers,
		Tools: e.Tools, ExcludeTools: e.ExcludeTools, StartTimeout: e.StartTimeout, CallTimeout: e.CallTimeout,
	}
	notes = s.leaveOutHeaders()
	switch {
	case s.Command != "":
		s.Env = program.LastOfEach(append(slices.Clip(base), s.Env...))
	case s.URL != "":
		// Other applications ignore what is for a program. An env often has a key
		// that its writer takes for that of the server.
		for _, field := range []struct {
			name string
			set  bool
		}{{"args", len(s.Args) > 0}, {"env", len(s.Env) > 0}} {
			if field.set {
				notes = append(notes, fmt.Sprintf("left out %s, which a server with a url does not get", field.name))
			}
		}
		s.Args, s.Env, s.Dir = nil, nil, ""
	}
	faults := e.Faults
	if len(faults) == 0 { // what a fault has left out would look like a fault of its own
		faults = s.faults()
	}
	if len(faults) > 0 {
		return Server{}, nil, fmt.Errorf("mcp server %q: %w: %s", e.Key, ErrInvalidServer, strings.Join(faults, "; "))
	}
	return s, notes, nil
}

// leaveOutHeaders takes out the headers that the protocol sets. It says so of
// those that have another value there than they have anyhow.
func (s *Server) leaveOutHeaders() (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		canonical := http.CanonicalHeaderKey(name)
		if !isProtocolHeader(canonical) {
			continue
		}
		if !isUsual(canonical, s.Headers[name]) {
			notes = append(notes, fmt.Sprintf("left out the header %q, which the protocol sets", name))
		}
		delete(s.Headers, name)
	}
	if len(s.Headers) == 0 {
		s.Headers = nil
	}
	return notes
}

// isUsual reports whether a value of a header says nothing that the protocol
// does not say as well.
func isUsual(header, value string) bool {
	var usual []string
	switch header {
	case "Accept":
		usual = []string{"application/json", "text/event-stream", "*/*"}
	case "Content-Type":
		usual = []string{"application/json"}
	case "Mcp-Protocol-Version":
		return value >= protocol.Oldest && value <= protocol.Stateless // what the server speaks is agreed on
	}
	for part := range strings.SplitSeq(value, ",") {
		kind, _, _ := strings.Cut(part, ";")
		if !slices.Contains(usual, strings.ToLower(strings.TrimSpace(kind))) {
			return false
		}
	}
	return true
}

// BaseEnv returns what a program needs to run, for Server.Env: those variables
// of the host that are set of the following. None is a secret:
//
//   - PATH, HOME, USER, LOGNAME, SHELL, TERM, LANG, TMPDIR, and on Windows
//     SYSTEMROOT, WINDIR, COMSPEC, PATHEXT, APPDATA, LOCALAPPDATA, PROGRAMDATA,
//     PROGRAMFILES, USERPROFILE, USERNAME, HOMEDRIVE, HOMEPATH, SYSTEMDRIVE, TEMP
//     and TMP name places and the user;
//   - XDG_CONFIG_HOME, XDG_CACHE_HOME, XDG_DATA_HOME, XDG_STATE_HOME,
//     XDG_RUNTIME_DIR, XDG_CONFIG_DIRS, XDG_DATA_DIRS, and the caches of npm and
//     uv, NPM_CONFIG_CACHE (also in lower case) and UV_CACHE_DIR, name folders,
//     whose files the user's programs can read anyhow;
//   - SSL_CERT_FILE, SSL_CERT_DIR and NODE_EXTRA_CA_CERTS name files with
//     certificates, which are public;
//   - DISPLAY, WAYLAND_DISPLAY, XDG_SESSION_TYPE and XDG_CURRENT_DESKTOP say
//     where windows open: what may open them is in a file;
//   - HTTP_PROXY, HTTPS_PROXY and NO_PROXY (also in lower case) and DOCKER_HOST
//     are addresses. One with a user or password in it is left out: put it into
//     Env if the server is meant to have it.
//
// Keys and tokens are not among them.
func BaseEnv() []string { return program.BaseEnv() }
