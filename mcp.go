// Package mcp turns the tools of MCP (Model Context Protocol) servers into
// tools that an LLM agent can call.
//
//	connection, err := mcp.Connect(ctx, mcp.Server{Name: "files", Command: "mcp-server-filesystem", Args: []string{dir}, Env: env})
//	if err != nil {
//		return err
//	}
//	defer connection.Close()
//	for _, tool := range connection.Tools() {
//		// give tool.Name, tool.Description and tool.InputSchema to the model,
//		// call tool.Handler with the arguments that it writes
//	}
//
// Servers are taken as they are. A line of output that is not a message, a tool
// with a broken entry, a part of a result that cannot be shown: each costs only
// itself, and [Connection.Warnings] or a bracketed note in the result says so. The
// connection and everything else go on.
//
// # Lifetime
//
// [Connect] starts the server and lists its tools; its context bounds the
// start, not the life. [Connection.Close] ends the server with everything it
// started and must be called, also when the server has ended by itself.
// [Connection.Done] tells when it has: a process has ended when it exits or closes
// its output. Connect again if that is right, or set [Server.Restart]: then the
// next call or refresh starts the program again, and the result says that what the
// server held is gone. No tool call is ever sent again for this, since it may have
// had its effect.
//
// A server with a URL that is merely down has not ended: a call that cannot
// reach it fails with [ErrNotSent], and the next one tries again. A session that
// the server has forgotten, as after a restart of its own, is renewed without a
// word, and a call that was refused for that is sent once more, if it was certainly
// not read: it was answered 404, or in the exact words of an SDK that refuses before
// it reads. A body with the call's own id is the answer to the call, whatever the
// status. Where a refusal may be the tool's own words, the call fails, and the next
// one first finds out whether the session still exists. The connection ends only
// when the server refuses the client for good: with 410 Gone, where it has no
// sessions or a new one is to begin, or because a new session has no protocol
// version in common any more. [Connection.Err] then has that answer.
//
// A program ends with everything that it has started. On Unix it
// leads a session and a process group of its own: a Ctrl-C in the terminal does
// not reach it, so that the host can close it in order, and it has no terminal,
// so that neither it nor an ssh, git or sudo below it is stopped for touching
// the host's. A program that asks for a password there fails at once. On
// Windows it runs in a job object without a window. Close takes the steps that
// [Connection.Close] describes. A server that leaves by itself sees no signal.
// When the server has exited, at whatever step, what is left of its group,
// session or job is killed.
//
// On Linux, processes that have left the group are found as well, and ended last.
// A process belongs to the server if its parent does, or if it is in the session of
// the server or of a process that belongs to it. Finding them needs /proc, but no
// free descriptor. Three kinds are not found, since both links are cut: a daemon
// that detached itself with a double fork and a new session; a process in a session
// of its own whose parents had exited before Close began, as they all have when the
// server exits without Close; and one that the server starts in a new session while
// it is exiting. A process of another user, as below sudo, is found but may not be
// killed. After Close, [Connection.Warnings] tells what was found and lives on, and
// whether nothing could be looked for.
//
// On other Unixes nothing that leaves the group is found, and once the server
// itself has exited, the rest of the group is killed without a delay.
//
// If the host dies without Close, a server sees the end of its input, which is
// the agreed signal to leave. On Unix nothing ends a server that ignores it;
// on Windows the job ends it with everything below.
//
// # Errors
//
// A tool that fails is not an error but a [ToolResult] with IsError, since a model
// can act on its text. A Handler returns an error only when no answer came:
//
//   - the context ended: the error wraps context.Canceled or
//     context.DeadlineExceeded, and the server was told;
//   - the server was silent for Server.CallTimeout: the error wraps
//     os.ErrDeadlineExceeded, and the server was told;
//   - [ErrServerStopped]: the server has ended; if a call was under way, the
//     tool may have run;
//   - [ErrNotSent], also beside ErrServerStopped: the request certainly never
//     reached the server, or was refused unread with a session that the server
//     has forgotten, so sending it again is safe;
//   - [HTTPError]: something other than an answer came over HTTP.
//
// # Concurrency
//
// Everything may be called from any goroutine. Nothing here writes to a log or
// to the standard streams, keeps global state, or sends a tool call twice.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/secret"
	"github.com/seed94b59a13/mcp/internal/session"
	"github.com/seed94b59a13/mcp/internal/text"
)

var (
	// ErrServerStopped is wrapped by the errors of calls, and by
	// [Connection.Err], once the server has ended by itself.
	ErrServerStopped = session.ErrStopped
	// ErrNotSent is wrapped by the error of a call that certainly never
	// reached the server.
	ErrNotSent = session.ErrNotSent
)

// A Tool is a tool of a server in the form that model providers take. It is a
// plain value and stays valid after the connection has ended: its Handler then
// returns an error. The bytes of its schemas are shared and must not be
// changed.
type Tool struct {
	// Name is unique among all tools of all servers, see [ToolName].
	Name string
	// Description names the tool and the server, then has the server's own
	// text, so that a model knows whose words those are.
	Description string
	// InputSchema is a JSON Schema with "type":"object" and "properties" at
	// the root. Where the server's own has more than 1 MiB, nests more than
	// 1,000 deep, or would take more work or memory than its size allows, it
	// accepts any object, and a warning names the tool.
	InputSchema json.RawMessage
	// Handler calls the tool with the JSON object that the model wrote; empty
	// and null mean no arguments. It returns when its context ends at the
	// latest. It may be called concurrently.
	Handler func(ctx context.Context, arguments json.RawMessage) (ToolResult, error) `json:"-"`

	// Server is the name of the server as configured.
	Server string
	// ServerTool is the server's own name for the tool.
	ServerTool string
	// ServerSchema is the input schema as the server gave it; nil if it gave
	// none.
	ServerSchema json.RawMessage
	// ServerDescription is the server's own text, which ends Description, for an
	// application that says in another way where a tool comes from. It is empty if
	// the server gives none.
	ServerDescription string
	// Title is the name for people, empty if the server gives none.
	Title string
	// OutputSchema is the schema of ToolResult.Structured as the server gave
	// it; nil if it gave none. It is not checked.
	OutputSchema json.RawMessage
	// Annotations are the server's hints; nil if it gave none.
	Annotations *Annotations
	// Fingerprint is a digest of the name, description, schemas and
	// annotations as the server gave them, "v1:" and hex digits. It changes
	// when one of them does, so that an application can pin what a person
	// approved.
	Fingerprint string
}

// Annotations are what a server says of a tool. They are hints: a server that
// is not trusted may say anything. Nil means that the server does not say; the
// comments give what the specification then assumes.
type Annotations struct {
	ReadOnly    *bool // does not change its environment; false
	Destructive *bool // may delete or overwrite, if not read-only; true
	Idempotent  *bool // the same call again changes nothing more; false
	OpenWorld   *bool // reaches beyond a closed domain, such as the web; true
}

// A ToolResult is the answer of a tool, for a model to read.
//
// What cannot be shown as it is, or is left out, is a note in brackets in
// Content. Its text is what the server sent, byte for byte, but for what spoils
// a conversation: control characters other than tab, newline and CR LF, and ANSI
// escape sequences, are removed, or become a line end or a space where they
// separate words; bytes that are not UTF-8 and lone surrogates become U+FFFD;
// invisible tag characters are removed, with a note.
type ToolResult struct {
	// Content is the text: the parts that the server sent, joined by newlines,
	// and "[image 1]" where the first of Images stood, if a text came behind it.
	// It is valid UTF-8, at most Server.MaxOutput bytes, never only white
	// space, and empty only if there are Images.
	Content string
	// Images are in the order of the server.
	Images []Image
	// IsError says that the tool failed; Content tells how.
	IsError bool
	// Structured is the server's structured content byte for byte, but for
	// text that was not valid; nil if it sent none. Content has it, too, where
	// the server sent no text.
	Structured json.RawMessage
	// Parts are all parts that the server sent, in its order, those meant only
	// for the user and those that no model takes included; nil if it sent none,
	// as with structured content alone. No cap on results holds for them.
	Parts []Part
}

// A Part is one part of a result's content, whatever its kind. It shares memory
// with the ToolResult that it is in: its bytes must not be changed.
type Part struct {
	// Type is what the server calls it: text, image, audio, resource,
	// resource_link, or a kind of its own; empty if it does not say.
	Type string
	// Text is the text of a text, or of an embedded resource, cleaned as that of
	// Content. For anything else it is the note that Content has, such as
	// "[audio: audio/wav, 12 bytes]"; empty for an image that is in Images.
	Text string
	// MIMEType is the type of Data: of an image that of its bytes, as far as
	// they are known, of anything else what the server calls it. It is empty if
	// the server says nothing.
	MIMEType string
	// Data is the decoded file: of an image, audio, or an embedded resource that
	// came as bytes; nil if there is none, or none that can be decoded.
	Data []byte
	// URI is the address of a resource or a link; empty if there is none.
	// Nothing is fetched.
	URI string
	// Audience says for whom the part is, "user" or "assistant"; nil if the
	// server does not say. Content leaves out what is for the user alone.
	Audience []string
	// Raw is the part as it came, valid JSON. In an answer of 32 KiB or more it
	// has null in place of what is in Text or Data, which would be there twice.
	Raw json.RawMessage
}

// An Image is a picture in a result.
type Image struct {
	// MIMEType is image/png, image/jpeg, image/gif or image/webp: the type of
	// the bytes, whatever the server calls them.
	MIMEType string
	// Data is the decoded file.
	Data []byte
}

// maxInstructions bounds the text of Instructions, in bytes, but for a clause
// that says how long it was.
const maxInstructions = 4<<10 - 32

// A Connection is a running server and the list of its tools. All methods may
// be called concurrently. Whoever called [Connect] calls Close.
type Connection struct {
	name    string
	server  secret.Box[*Server]   // as it was checked
	given   secret.Box[*Server]   // as it was passed to Connect
	quoter  *secret.Quoter        // of what the server says
	session atomic.Pointer[start] // the last one that began
	life    context.Context       // ends when Close begins
	endLife context.CancelFunc

	tokens atomic.Int64 // the last progress token
	seed   maphash.Seed // no server can make two lists that look the same

	changed chan struct{} // see ToolsChanged
	tell    func()        // that the tools have changed; may be nil
	changes atomic.Int64  // announcements so far

	mu         sync.Mutex
	listed     *toolList      // the last one that succeeded; an empty one before
	listNumber int            // of the refresh that listed is from
	listing    *refresh       // the latest
	starts     session.Starts // with Server.Restart
	restarting *run           // a start that is under way; nil for none
	background sync.WaitGroup // listings and starts
	closed     bool           // Close has begun

	ended sync.Once
	done  chan struct{} // closed when the connection has ended; err is set
	err   error

	closing sync.Once
}

// config returns the server as it was checked.
func (c *Connection) config() *Server { return c.server.Open() }

// Server returns the Server that the connection was made of. It is the caller's.
func (c *Connection) Server() Server { return c.given.Open().clone() }

// Info is what a server says about itself, and how it is spoken to.
type Info struct {
	// Name, Title and Version are what the server calls itself: at most 256
	// bytes of printable text each, empty where it does not say.
	Name, Title, Version string
	// Protocol is the version of the protocol in use, such as 2025-11-25.
	Protocol string
}

// Info returns what the server says about itself. After a restart it is what it
// said last.
func (c *Connection) Info() Info {
	s := c.session.Load()
	quote := func(text string) string { return c.quoter.Quote(text, 253) } // "…" makes three more
	return Info{quote(s.Info.Name), quote(s.Info.Title), quote(s.Info.Version), s.Info.Protocol}
}

// Tools returns the tools in the server's order, as of the last listing that
// succeeded. The slice is the caller's; the bytes that its tools point to are
// shared and must not be changed. It keeps its tools after the connection has
// ended.
func (c *Connection) Tools() []Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.listed.tools)
}

// Warnings returns what was dropped, renamed or changed in meaning: first what
// concerns the last listing, then what the server did to the connection. It
// quotes servers, but no secret that was configured.
func (c *Connection) Warnings() []string {
	c.mu.Lock()
	listed, again := c.listed.Warnings, c.starts.Warnings()
	c.mu.Unlock()
	return slices.Concat(listed, c.session.Load().Warnings(), again)
}

// Instructions returns what the server says about its use in general, at most
// 4 KiB, without the characters that a reader cannot see; empty if it says
// nothing. It is for the model's system prompt, if the server is trusted so far.
func (c *Connection) Instructions() string {
	instructions, _ := text.Prompt(c.session.Load().Info.Instructions)
	return text.Start(instructions, maxInstructions)
}

// Done returns a channel that is closed when the connection has ended, by
// itself or by Close.
func (c *Connection) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended by itself: an error that wraps
// [ErrServerStopped] and has the exit status and the last words of the server.
// It is nil while the connection is open and after a plain Close.
func (c *Connection) Err() error {
	if cause := c.cause(); cause != nil {
		return fmt.Errorf("mcp server %q: %w", c.name, cause)
	}
	return nil
}

// over reports whether the connection has ended.
func (c *Connection) over() bool { return patience.Closed(c.done) }

func (c *Connection) cause() error {
	if c.over() {
		return c.err
	}
	return nil
}

// Close ends the calls in flight and the server with all its processes, and
// returns when nothing of the connection is left. It always returns nil. It may be
// called more than once and concurrently: each call returns when the connection is
// gone.
//
// A process has its input closed and gets StopTimeout to leave by itself, or half
// a second if it may still be working on a call that was just cancelled. Then it
// and its group get the signal to terminate, and as long again, but 2 seconds at
// most; then they are killed. On Windows, where there is no such signal, they are
// killed after StopTimeout. Close takes at most half a second longer than these
// times together, unless there are thousands of processes or one that the system
// cannot kill. A warning tells what is left then.
func (c *Connection) Close() error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true // no listing begins any more
		c.mu.Unlock()
		c.endLife()
		c.session.Load().Close()
		c.background.Wait() // what is in flight has been called off
		c.end(nil)
	})
	return nil
}

// end records how the connection ended; the first call counts.
func (c *Connection) end(err error) {
	c.ended.Do(func() {
		c.err = err
		close(c.done)
	})
}

// failed makes an error of a method tell the server and the step.
func (c *Connection) failed(step string, err error) error {
	return fmt.Errorf("mcp server %q: %s: %w", c.name, step, err)
}
