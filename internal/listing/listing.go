// Package listing reads the list of tools of a server: all pages of it, entry by
// entry, so that whatever is wrong with one costs only that one.
package listing

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/secret"
)

const (
	// Bounds of a list, far above those of any server that means well: each page is
	// under the bounds of a message, but nothing else than time ends a list whose
	// every page names a next one.
	maxListBytes = 64 << 20 // over all pages
	maxTools     = 20_000
	maxPages     = 1_000
	maxWarnings  = 100
	maxRestarts  = 3         // of a listing whose session was lost between two pages
	maxFresh     = time.Hour // however long a server says that its list stays the same
)

// hashFactor makes the order of pages count. It is odd, so that nothing of the hash
// of a page is lost.
const hashFactor = 0x9e3779b97f4a7c15

// Config says whose tools are listed. The functions are called one at a time,
// during Read.
type Config struct {
	Server string                    // its name
	Keep   []string                  // patterns of the tools to keep; none keeps all
	Leave  []string                  // patterns of the tools to leave out
	Name   func(tool string) string  // the name that a model sees
	Refuse func(schema []byte) error // why a tool with the schema must not be used; nil takes all
	Quoter *secret.Quoter            // of what the server says
	Seed   maphash.Seed              // no server can make two lists that look the same
	Work   context.Context           // its end ends the reading of what was answered; nil is the context of Read
	Ask    func(ctx context.Context, cursor string) (response rpc.Response, generation int, err error)

	// Last returns the names of a tool of the last list, the one that the model
	// sees and the server's own.
	Last func(i int) (name, serverTool string)
	// Begin is called before the tools of a list, with about how many there are,
	// and again where the list is read from its start again: what was taken
	// counts no more then.
	Begin func(size int)
	// Take gets each tool that is kept, in order. The Tool is valid during the call.
	Take func(*Tool)
}

// A List is what is kept of a list, to tell the next one from it. The zero value
// is that of no tools.
type List struct {
	Warnings []string      // what was dropped, renamed or changed in meaning
	Fresh    time.Duration // how long the server says that it stays the same; 0 if it does not say

	read    bool
	hash    uint64 // of the responses
	entries []entry
}

// An entry is what a tool was made of that was kept. That of a tool about which
// there was a warning is empty: the tool is read again, and the warning given.
type entry struct {
	hash uint64
	size int
}

// Read asks for one page after the other. It returns last, and takes no tools, if
// nothing has changed since. What the server answers in place of a list is a
// *jsonrpc.Error.
func Read(ctx context.Context, config Config, last *List) (*List, error) {
	var (
		budget   = schema.NewBudget(cmp.Or(config.Work, ctx))
		r        = newReader(config, last, budget)
		cursor   string
		cursors  = map[string]bool{}
		size     int
		session  int // that the pages are from
		restarts int
	)
	defer budget.Release()
	for page := 1; ; page++ {
		response, generation, err := config.Ask(ctx, cursor)
		if err != nil {
			return nil, err
		}
		// A cursor of a session that was lost means nothing to its successor.
		if page > 1 && generation != session {
			response.Release()
			if restarts++; restarts > maxRestarts {
				return nil, fmt.Errorf("the server forgot the session %d times", restarts)
			}
			r, page, size, cursor = newReader(config, last, budget), 0, 0, ""
			clear(cursors)
			continue
		}
		session = generation
		if response.Error != nil {
			refusal := rpc.ParseError(response.Error)
			response.Release()
			// A server without tools need not know the method. One that has sent a
			// page does.
			if refusal.Code == jsonrpc.CodeMethodNotFound && page == 1 {
				break
			}
			return nil, &refusal
		}
		size += len(response.Result)
		// Most lists have one page. What is unchanged then is not read at all.
		r.list.hash = r.list.hash*hashFactor + maphash.Bytes(config.Seed, response.Result)
		if last.read && r.list.hash == last.hash {
			response.Release()
			return last, nil
		}
		if page == 1 {
			r.grow(len(response.Result))
		}
		cursor = r.page(response.Result)
		response.Release()
		if err := budget.Err(); err != nil {
			return nil, err
		}
		if cursor == "" || r.endsHere(page, size, cursors[cursor]) {
			break
		}
		cursors[cursor] = true
	}
	r.finish()
	return r.list, nil
}

// endsHere reports, with a warning, whether the pages that follow are left out.
func (r *reader) endsHere(page, size int, again bool) bool {
	switch {
	case size > maxListBytes:
		r.warn("the list of tools is longer than %d bytes: the rest is left out", maxListBytes)
	case again:
		r.warn("the list of tools comes back to a page that was there before: it is taken to end here")
	case page == maxPages:
		r.warn("the list of tools has more than %d pages: the rest is left out", maxPages)
	default:
		return false
	}
	return true
}
