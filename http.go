package mcp

// This file reaches a server by its URL.

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/session"
	"github.com/seed94b59a13/mcp/internal/streamable"
	"github.com/seed94b59a13/mcp/internal/text"
)

// An HTTPError is what came over HTTP in place of the answer to a call: an
// error status, a page, an answer to nothing that was asked. Find it with
// errors.As. The connection lives on.
type HTTPError struct {
	StatusCode int
	// Header has those headers of the answer that say what to do about it, with
	// canonical names: Retry-After, WWW-Authenticate, Allow, the rate limits and
	// ids of requests. The configured secrets are masked; cookies, sessions and
	// other credentials are not in it.
	Header http.Header
	// Body is the start of the body, 64 KiB at most, the configured secrets
	// masked, of printable characters and white space. A server wrote it: it may
	// say anything.
	Body string

	text string
}

// Error describes the answer, with what the server says about it.
func (e *HTTPError) Error() string {
	if e.text != "" {
		return e.text
	}
	// An application's test has made it.
	s := strings.TrimSpace(fmt.Sprintf("the server answered %d %s", e.StatusCode, http.StatusText(e.StatusCode)))
	if said := strings.Join(strings.Fields(e.Body), " "); said != "" {
		s += ": " + text.Start(said, maxBodySaid)
	}
	return s
}

// maxBodySaid bounds what the text of such an HTTPError has of Body, in bytes.
const maxBodySaid = 4 << 10

// An Authorizer authorizes the requests to a server with a URL. The package
// oauth has one that gets, keeps and refreshes tokens as the protocol's
// specification describes it; another one may take them from wherever they
// are.
//
// Both methods may be called concurrently, each from a goroutine of its own,
// with the context of the call that causes the request. They are not waited for
// once that has ended, but Close gives them 5 seconds. An error is that of the
// call, which then wraps [ErrNotSent]. The values of headers that Authorize has
// set are masked in whatever is quoted, like secrets that are configured.
type Authorizer interface {
	// Authorize sets headers of a request that is about to be sent:
	// Authorization as a rule. The request is without its body, and nothing
	// else of it may be changed. Without a token it is left as it is: the server
	// answers what it wants.
	Authorize(req *http.Request) error
	// Refused is called with an answer 401, or 403 with the error
	// insufficient_scope in its challenge, and reports whether to send the
	// request again: servers refuse in this way what they have not looked at.
	// The answer's Request is the one that was sent; its Response is the refusal
	// before, if this one is for a request that was sent again. A request is sent
	// again three times at most; of the refusal after that, Refused is told, and
	// its report is not heeded. CallTimeout and the time for a start stand still
	// meanwhile, since a person may be asked.
	Refused(resp *http.Response) (again bool, err error)
}

// idleConnections is how many unused connections are kept for the calls to
// come. net/http keeps two by default, so that calls that run side by side
// would open new ones all the time.
const idleConnections = 64

// reach prepares the connection to a server with a URL. It sends nothing yet.
func (c *Connection) reach(s *session.Session) (session.Transport, error) {
	target, err := url.Parse(c.config().URL)
	if err != nil {
		return nil, fmt.Errorf("%w: URL cannot be parsed", ErrInvalidServer)
	}
	config := streamable.Config{
		URL:       target,
		Header:    http.Header{},
		Transport: c.config().HTTPTransport,
		Limit:     maxMessage,
		Quoter:    c.quoter,
		OnEnd:     func(err error) { c.sessionEnded(s, err) },
		Pending:   s.Pending,
		Auth:      c.config().Auth,
		StatusError: func(status int, header http.Header, body, text string) error {
			return &HTTPError{StatusCode: status, Header: header, Body: body, text: text}
		},
	}
	var names []string
	for name, value := range c.config().Headers {
		config.Header.Set(name, value)
		names = append(names, strconv.Quote(name))
	}
	slices.Sort(names)
	if len(names) > 0 {
		config.Credential = "the headers " + strings.Join(names, ", ")
	}
	if c.config().BearerToken != "" {
		config.Header.Set("Authorization", "Bearer "+c.config().BearerToken)
		config.Credential = "the bearer token"
	}
	if config.Transport == nil {
		config.Transport = http.DefaultTransport
		if standard, ok := http.DefaultTransport.(*http.Transport); ok {
			config.Own = standard.Clone()
			config.Own.MaxIdleConnsPerHost = max(standard.MaxIdleConnsPerHost, idleConnections)
			// Clone takes over that HTTP/2 is offered, but not that it is spoken.
			if own := config.Own; own.TLSClientConfig != nil && len(own.TLSNextProto) == 0 && slices.Contains(own.TLSClientConfig.NextProtos, "h2") {
				own.ForceAttemptHTTP2 = true
			}
			config.Transport = config.Own
		}
	}
	return streamable.New(config), nil
}

// repeatsArguments reports whether calls repeat arguments in headers.
func (c *Connection) repeatsArguments(s *start) bool {
	return c.config().URL != "" && s.Info.Protocol >= protocol.Stateless
}
