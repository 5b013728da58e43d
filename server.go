package mcp

// This file describes a server and checks the description before anything
// starts.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/names"
	"github.com/seed94b59a13/mcp/internal/program"
	"github.com/seed94b59a13/mcp/internal/secret"
	"github.com/seed94b59a13/mcp/internal/streamable"
	"github.com/seed94b59a13/mcp/internal/text"
)

// ErrInvalidServer is wrapped by the error of [Connect] for a [Server] that
// cannot be right: nothing was started or sent.
var ErrInvalidServer = errors.New("invalid server")

// A Server says how to reach an MCP server: it has either a Command, which is
// started and spoken to over its standard input and output, or a URL. The zero
// value of every other field is the right default. [Connect] copies what it
// needs; a Server may be used for any number of connections.
//
// Printing a Server shows the names of variables and headers, never a value: with
// package fmt, with log/slog, and as JSON or text, which is for people and does
// not give the Server back. Where package fmt calls no methods it shows all of a
// Server: in an unexported field of another type, and with the verbs %p and %w,
// which go vet refuses. A Connection shows no secret there either.
type Server struct {
	// Name is a part of the names of the tools: 1 to 32 letters, digits and
	// hyphens.
	Name string

	// Command is the program to start: a path, relative to Dir if it is not
	// absolute, or a name without a separator, which is looked up in the PATH
	// of Env if Env has one, and otherwise in the host's. It is never given to a
	// shell. On Windows the extensions of PATHEXT are tried, and a batch file
	// (.cmd or .bat, as npx is one) is run by the system's cmd.exe.
	Command string
	// Args are the program's arguments, passed on exactly as they are. With a
	// batch file Connect refuses those that hold a quote, a percent sign or a
	// line end: cmd.exe could take them for something else.
	Args []string
	// Env is the whole environment of the program, as KEY=VALUE; the last of
	// two with the same key wins. Nil gives an empty environment, so secrets
	// of the host stay with it. On Windows the host's SYSTEMROOT is added if
	// Env has none: hardly any program starts without it.
	Env []string
	// Dir is the folder the program runs in; empty means the host's.
	Dir string
	// StopTimeout is how long Close lets the program finish by itself after
	// its input was closed, before it is told to terminate; 0 means 5 seconds.
	// For a minute after a call was cancelled that the server has not answered,
	// it is half a second at most. See Connection.Close for the steps. Like
	// Stderr it has no effect with a URL.
	StopTimeout time.Duration
	// Stderr, if not nil, receives a copy of what the program writes to its
	// standard error: as it comes, nothing masked, from one goroutine. A Write
	// that blocks, fails or panics holds up neither the program nor the
	// connection. 64 KiB wait for a slow writer, and one that has failed or
	// panicked is not called again; what it misses is dropped and counted in
	// Connection.Warnings. Close waits a tenth of a second for it at most. No
	// Write begins after Close has returned.
	Stderr io.Writer

	// Restart starts a program that has ended by itself again when a Handler or
	// RefreshTools next needs it, never in the background. A call that was under
	// way fails with ErrServerStopped and is not sent again. A tool that the
	// server then describes differently, or not at all, is not called: the error
	// wraps ErrNotSent. The first result has a note that what the server held is
	// gone. After a start that answered no call, the next one may begin a second
	// later, and the wait doubles with each such start, up to a minute; a call
	// that comes before that fails at once. After five of them in a row the
	// connection ends. It has no effect with a URL: sessions over HTTP are renewed
	// in any case.
	Restart bool

	// URL is a Streamable HTTP endpoint, http or https. It is used exactly as
	// written. Credentials do not belong into it but into the fields below. Cookies
	// that its origin sets, as load balancers do, are sent back to it for the life
	// of the connection.
	URL string
	// BearerToken, if not empty, is sent as the Authorization header.
	BearerToken string
	// Headers are sent with every request to the URL's origin, and nowhere
	// else.
	Headers map[string]string
	// Auth authorizes the requests, in place of BearerToken: an oauth.Client as
	// a rule. Nil means that a refusal is final.
	Auth Authorizer
	// HTTPTransport sends the requests, with the context of the call that
	// causes them: the place for proxies and client certificates. It is
	// called from a goroutine of its own and not waited for once that context
	// has ended; Close gives it half a second. Nil means an own clone of
	// http.DefaultTransport, whose connections Close closes. It has no effect
	// with a Command.
	HTTPTransport http.RoundTripper

	// Elicit asks the user what the server wants to know. Nil means that there is
	// nobody to ask, and the server is told so. The answer to a form is a JSON
	// object with its fields, nil for none; fields that are missing get the
	// server's defaults. The answer to a URL is not looked at: nil as the error
	// means that the user has agreed to open it. ErrDeclined says that the user
	// does not want to answer; any other error cancels. An answer that does not
	// fit the form cancels as well, and the error of the Handler names the field.
	//
	// It may be called concurrently, for each of several calls that run side by
	// side; the questions of one call to a server of protocol 2026-07-28 come one
	// after the other, and a result may have 32 of them. Its context ends with the
	// call, with the connection, and when the server withdraws the question; none of
	// these waits for Elicit to return. CallTimeout stands still meanwhile. What is asked and answered is
	// in no error, warning or result.
	Elicit func(ctx context.Context, question Question) (answer json.RawMessage, err error)

	// Tools, if not empty, keeps only the tools with these names: the names
	// that the server itself uses. In an entry, * stands for any characters.
	Tools []string
	// ExcludeTools leaves out the tools with these names, also of those that
	// Tools keeps.
	ExcludeTools []string

	// StartTimeout bounds the start of this server until its tools are listed,
	// beside the context of Connect. 0 means 60 seconds if that context has no
	// deadline, and no other bound than the deadline if it has one. The first start
	// through npx or uvx downloads the server. When the time is over, the error of
	// Connect wraps context.DeadlineExceeded.
	StartTimeout time.Duration
	// CallTimeout is how long a tool call may go without an answer or progress
	// of the server; 0 means that only the context of a call bounds it. When it
	// is over the server is told that the call is cancelled, and the Handler's
	// error wraps os.ErrDeadlineExceeded. It bounds silence, not the whole call:
	// only the context ends one whose server reports progress for ever. Over
	// HTTP a report counts whatever its token, if it comes in the answer to the
	// call, and from 150 milliseconds on also one with the call's token that
	// comes on the stream besides (GET).
	CallTimeout time.Duration
	// MaxOutput caps the bytes of ToolResult.Content, notes included; 0 means
	// no cap. Of a longer text the start and the end are kept, with a note
	// between them that says how many bytes were left out. The least is 64.
	MaxOutput int
	// MaxImages caps the images of a result, and MaxImageBytes the size of the
	// file of each; 0 means no cap. A note stands for an image beyond them.
	MaxImages     int
	MaxImageBytes int
}

const defaultStopTimeout = 5 * time.Second

// check returns a copy of the server that is the connection's own, or an
// error that wraps ErrInvalidServer and names every fault.
func (s Server) check() (Server, error) {
	faults := s.faults()
	if s.Dir != "" && s.URL == "" {
		if info, err := os.Stat(s.Dir); err != nil {
			faults = append(faults, fmt.Sprintf("Dir cannot be used: %v", err))
		} else if !info.IsDir() {
			faults = append(faults, fmt.Sprintf("Dir %q is not a folder", s.Dir))
		}
	}
	if len(faults) > 0 {
		return Server{}, fmt.Errorf("mcp server %q: %w: %s", s.Name, ErrInvalidServer, strings.Join(faults, "; "))
	}
	if s.StopTimeout == 0 {
		s.StopTimeout = defaultStopTimeout
	}
	s = s.clone()
	s.Env = program.LastOfEach(s.Env)
	return s, nil
}

// clone returns a copy that shares no list with s.
func (s Server) clone() Server {
	s.Args, s.Env, s.Headers = slices.Clone(s.Args), slices.Clone(s.Env), maps.Clone(s.Headers)
	s.Tools, s.ExcludeTools = slices.Clone(s.Tools), slices.Clone(s.ExcludeTools)
	return s
}

// equal reports whether all fields are equal: values by their contents, what is
// behind an interface by its identity, functions by their code.
func (s Server) equal(t Server) bool {
	same := reflect.ValueOf(s.Elicit).Pointer() == reflect.ValueOf(t.Elicit).Pointer() &&
		identical(s.Stderr, t.Stderr) && identical(s.HTTPTransport, t.HTTPTransport) && identical(s.Auth, t.Auth)
	s.Elicit, s.Stderr, s.HTTPTransport, s.Auth = nil, nil, nil, nil
	t.Elicit, t.Stderr, t.HTTPTransport, t.Auth = nil, nil, nil, nil
	return same && reflect.DeepEqual(s, t)
}

// identical is == but for values that cannot be compared, which are never
// identical.
func identical(a, b any) bool {
	return a == nil && b == nil || a != nil && b != nil && reflect.ValueOf(a).Comparable() && a == b
}

// faults returns what is wrong with the fields, as far as they alone tell: no
// file is looked at.
func (s Server) faults() (faults []string) {
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf(format, args...))
	}
	if !names.IsServer(s.Name) {
		fault("Name must be 1 to %d letters, digits and hyphens", names.MaxServer)
	}
	switch {
	case s.Command == "" && s.URL == "":
		fault("Command or URL must be set")
	case s.Command != "" && s.URL != "":
		fault("Command and URL must not both be set")
	default:
		s.checkTransport(fault)
		if s.Command != "" {
			s.checkStdio(fault)
		} else {
			s.checkHTTP(fault)
		}
	}
	s.checkLimits(fault)
	checkNames("Tools", s.Tools, fault)
	checkNames("ExcludeTools", s.ExcludeTools, fault)
	return faults
}

// checkTransport refuses what would be lost with the transport of the server:
// credentials, and what only makes sense for the program that is meant. The
// options of the other transport are not among them, so that an application can
// set those for all of its servers.
func (s Server) checkTransport(fault func(string, ...any)) {
	for _, field := range []struct {
		set  bool
		text string
	}{
		{s.Command != "" && s.BearerToken != "", "BearerToken is for a URL, not for a Command"},
		{s.Command != "" && len(s.Headers) > 0, "Headers are for a URL, not for a Command"},
		{s.Command != "" && s.Auth != nil, "Auth is for a URL, not for a Command"},
		{s.URL != "" && len(s.Args) > 0, "Args are for a Command, not for a URL"},
		{s.URL != "" && len(s.Env) > 0, "Env is for a Command, not for a URL"},
	} {
		if field.set {
			fault("%s", field.text)
		}
	}
}

func (s Server) checkStdio(fault func(string, ...any)) {
	if strings.ContainsRune(s.Command, 0) {
		fault("Command must not contain NUL")
	}
	for i, arg := range s.Args {
		if strings.ContainsRune(arg, 0) {
			fault("Args[%d] must not contain NUL", i)
		}
	}
	for i, entry := range s.Env {
		// Without its value an entry may be shown, but one without a value
		// may well be a secret as a whole.
		switch key, _, ok := program.Cut(entry); {
		case !ok || key == "":
			fault("Env[%d] must be KEY=VALUE", i)
		case strings.ContainsRune(entry, 0):
			fault("Env[%d] must not contain NUL", i)
		}
	}
}

func (s Server) checkHTTP(fault func(string, ...any)) {
	// The error of Parse quotes the URL, which may hold a secret.
	switch u, err := url.Parse(s.URL); {
	case err != nil:
		fault("URL cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		fault("URL must begin with http:// or https://")
	case u.Hostname() == "":
		fault("URL must have a host")
	case u.User != nil:
		fault("URL must not hold a user or password: use BearerToken or Headers")
	case u.Fragment != "" || strings.Contains(s.URL, "#"):
		fault("URL must not have a fragment")
	}
	if !isHeaderValue(s.BearerToken) {
		fault("BearerToken has a character that a header cannot have")
	}
	if s.BearerToken != "" && s.Auth != nil {
		fault("BearerToken and Auth exclude each other")
	}
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !streamable.IsHeaderName(name):
			fault("Headers: %q is not a header name", name)
		case !isHeaderValue(s.Headers[name]):
			fault("Headers: the value of %q has a character that a header cannot have", name)
		case names[canonical] != "":
			fault("Headers: %q and %q are the same header", names[canonical], name)
		case canonical == "Authorization" && s.BearerToken != "":
			fault("Headers: %q and BearerToken exclude each other", name)
		case canonical == "Authorization" && s.Auth != nil:
			fault("Headers: %q and Auth exclude each other", name)
		case isProtocolHeader(canonical):
			fault("Headers: %q is set by the protocol", name)
		}
		names[canonical] = name
	}
}

func checkNames(field string, names []string, fault func(string, ...any)) {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if name == "" {
			fault("%s[%d] must not be empty", field, i)
		} else if seen[name] {
			fault("%s names %q twice", field, name)
		}
		seen[name] = true
	}
}

func (s Server) checkLimits(fault func(string, ...any)) {
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"StopTimeout", int64(s.StopTimeout)}, {"StartTimeout", int64(s.StartTimeout)}, {"CallTimeout", int64(s.CallTimeout)},
		{"MaxImages", int64(s.MaxImages)}, {"MaxImageBytes", int64(s.MaxImageBytes)},
	} {
		if field.value < 0 {
			fault("%s must not be negative", field.name)
		}
	}
	if s.MaxOutput != 0 && s.MaxOutput < text.Shortest {
		fault("MaxOutput must be 0 or at least %d", text.Shortest)
	}
}

// protocolHeaders may not be configured. The last two make net/http send a
// POST again by itself when a connection breaks, and a tool may run twice.
var protocolHeaders = []string{"Content-Type", "Accept", "Host", "Content-Length", "Transfer-Encoding", "Last-Event-Id", "Idempotency-Key", "X-Idempotency-Key"}

func isProtocolHeader(canonical string) bool {
	return strings.HasPrefix(canonical, "Mcp-") || slices.Contains(protocolHeaders, canonical)
}

func isHeaderValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// quoter returns what quotes the server without its secrets.
func (s Server) quoter() *secret.Quoter {
	secrets := append(secret.InArgs(s.Args), s.BearerToken)
	for _, entry := range s.Env {
		key, value, _ := program.Cut(entry)
		if program.IsSecret(key, value) {
			secrets = append(secrets, secret.Within(value)...)
		}
	}
	for _, value := range s.Headers {
		secrets = append(secrets, secret.Within(value)...)
	}
	if u, err := url.Parse(s.URL); err == nil {
		secrets = append(append(secrets, u.RawQuery), secret.InURL(u)...)
	}
	return secret.New(secrets...)
}
