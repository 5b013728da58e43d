package oauth

// This file waits for a browser on this machine.

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// closeTime bounds showing the last page.
const closeTime = time.Second

// A listener waits for the person to come back.
type listener struct {
	server *http.Server
	path   string
	done   sync.WaitGroup

	mu    sync.Mutex
	state string
	came  chan url.Values
}

func localRedirect(redirect string) bool {
	u, err := url.Parse(redirect)
	return err == nil && u.Scheme == "http" && isLocal(u.Hostname())
}

// listen opens the listener for a redirect URL; without a port, at a free one:
// that of the last time, if it is free, since some authorization servers want
// it to be the same. It returns the URL with the port.
func listen(redirect, last string) (*listener, string, error) {
	if redirect == "" {
		redirect = "http://127.0.0.1/callback"
	}
	u, err := url.Parse(redirect)
	if err != nil {
		return nil, "", err
	}
	host, port := u.Hostname(), u.Port()
	if l, err := url.Parse(last); port == "" && err == nil && l.Port() != "" && l.Hostname() == host && l.Path == u.Path {
		port = l.Port()
	}
	address := host
	if host == "localhost" {
		address = "127.0.0.1"
	}
	first, err := net.Listen("tcp", net.JoinHostPort(address, port))
	if err != nil && u.Port() == "" {
		first, err = net.Listen("tcp", net.JoinHostPort(address, "0"))
	}
	if err != nil {
		return nil, "", fmt.Errorf("listening for the browser: %w", err)
	}
	_, port, _ = net.SplitHostPort(first.Addr().String())
	listeners := []net.Listener{first}
	if host == "localhost" { // a browser may take either
		if second, err := net.Listen("tcp", net.JoinHostPort("::1", port)); err == nil {
			listeners = append(listeners, second)
		}
	}
	u.Host = net.JoinHostPort(host, port)
	if u.Path == "" {
		u.Path = "/" // what a browser makes of it
	}
	l := &listener{path: u.Path, came: make(chan url.Values, 1)}
	l.server = &http.Server{Handler: l, ReadTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10}
	for _, listener := range listeners {
		l.done.Go(func() { l.server.Serve(listener) }) // ends with close
	}
	return l, u.String(), nil
}

// expect returns where the answer with the state will be.
func (l *listener) expect(state string) chan url.Values {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	return l.came
}

// ServeHTTP takes the browser that comes back. Whatever else comes, from
// another page or program on this machine, ends nothing.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	w.Header().Set("Cache-Control", "no-store")
	// A page elsewhere can have its own name lead to this machine.
	host := &url.URL{Host: r.Host}
	if r.Method != http.MethodGet || r.URL.Path != l.path || !isLocal(host.Hostname()) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	values, err := parseCallback("?" + r.URL.RawQuery)
	l.mu.Lock()
	ok := err == nil && equal(l.state, values.Get("state"))
	if ok {
		l.state = "" // once
	}
	l.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, "<!doctype html><title>Unknown login</title><p>This login is not known here. Please begin it again.")
		return
	}
	fmt.Fprint(w, "<!doctype html><title>Done</title><p>You can close this window and go back to the program.")
	l.came <- values
}

// close ends the listener and all its connections.
func (l *listener) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if l.server.Shutdown(ctx) != nil {
		l.server.Close()
	}
	l.done.Wait()
}

// OpenBrowser opens a URL in the browser of the system, for Client.Open.
func OpenBrowser(ctx context.Context, url string) (callback string, err error) {
	var command *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		command = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	case "darwin":
		command = exec.Command("open", url)
	default:
		command = exec.Command("xdg-open", url)
	}
	errBrowser := fmt.Errorf("no browser could be opened with %s: set Open to a function that shows the URL", command.Args[0])
	if err := command.Start(); err != nil {
		return "", errBrowser
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }() // these hand over to the browser and end
	select {
	case err := <-ended:
		if err != nil {
			return "", errBrowser
		}
	case <-time.After(3 * time.Second): // some stay with it
	case <-ctx.Done():
	}
	return "", nil
}
