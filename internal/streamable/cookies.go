package streamable

// This file keeps the cookies of a connection: a balancer before several
// replicas tells by them which one has the session.

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
)

// Bounds of what a server may have this client keep and repeat (RFC 6265,
// section 6.1, has them as the least that a client should keep).
const (
	maxCookies    = 50
	maxCookieSize = 4 << 10
	// maxSecretCookies is how many of one answer are masked: they must not take
	// the places of the other secrets that are learned.
	maxSecretCookies = 8
)

// cookies are those that the server has set. They go back to its origin alone,
// which is the only one that requests go to, and are never printed. The zero
// value is ready for use, also concurrently.
type cookies struct {
	mu    sync.Mutex
	jar   *cookiejar.Jar // nil before the first
	known map[string]bool
}

// keep takes the cookies of an answer, and calls secret with the values of some:
// they say who this client is.
func (c *cookies) keep(u *url.URL, resp *http.Response, secret func(string)) {
	if len(resp.Header["Set-Cookie"]) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jar == nil {
		c.jar, _ = cookiejar.New(nil) // no error without options
		c.known = map[string]bool{}
	}
	var kept []*http.Cookie
	for _, cookie := range resp.Cookies() {
		// The jar tells cookies apart by these three.
		key := cookie.Name + ";" + cookie.Domain + ";" + cookie.Path
		if !c.known[key] && len(c.known) == maxCookies || len(key)+len(cookie.Value) > maxCookieSize {
			continue
		}
		c.known[key] = true
		if kept = append(kept, cookie); len(kept) <= maxSecretCookies {
			secret(cookie.Value)
		}
	}
	c.jar.SetCookies(u, kept)
}

// add repeats the cookies in the header of a request, behind those that were
// configured.
func (c *cookies) add(u *url.URL, header http.Header) {
	c.mu.Lock()
	jar := c.jar
	c.mu.Unlock()
	if jar == nil {
		return
	}
	var pairs []string
	for _, cookie := range jar.Cookies(u) {
		pairs = append(pairs, cookie.Name+"="+cookie.Value)
	}
	if len(pairs) > 0 {
		header["Cookie"] = []string{strings.Join(append(header["Cookie"][:len(header["Cookie"]):len(header["Cookie"])], pairs...), "; ")}
	}
}
