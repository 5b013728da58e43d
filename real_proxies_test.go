package mcp_test

// This file puts the proxies that .ci/servers installs in front of a real
// server: over TLS and HTTP/2 with answers compressed, as in the field.

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// A certificate for the loopback interface is what httptest has: files of it
// and of its key, together in one too, and the pool that trusts it.
func certificate(t *testing.T, folder string) (trusted *x509.CertPool) {
	h := httptest.NewTLSServer(nil)
	defer h.Close()
	key, err := x509.MarshalPKCS8PrivateKey(h.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	for name, data := range map[string][]byte{"cert.pem": certificate, "key.pem": private, "both.pem": append(certificate, private...)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	trusted = x509.NewCertPool()
	trusted.AddCert(h.Certificate())
	return trusted
}

// proxies are the configurations: FOLDER has the certificate, FRONT is the port
// of the proxy, BACK that of the server. All stay in the foreground.
var proxies = []struct {
	program    string
	args       []string
	compresses bool // despite the server's no-transform
	config     string
}{
	{"nginx", []string{"-p", "FOLDER", "-e", "stderr", "-c", "FOLDER/config"}, true, `
daemon off; master_process off; pid FOLDER/pid; error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path FOLDER; proxy_temp_path FOLDER; fastcgi_temp_path FOLDER; uwsgi_temp_path FOLDER; scgi_temp_path FOLDER;
  gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
  server {
    listen 127.0.0.1:FRONT ssl http2;
    ssl_certificate FOLDER/cert.pem; ssl_certificate_key FOLDER/key.pem;
    location / { proxy_pass http://127.0.0.1:BACK; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}
`},
	{"haproxy", []string{"-db", "-f", "FOLDER/config"}, false, `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend front
  bind 127.0.0.1:FRONT ssl crt FOLDER/both.pem alpn h2,http/1.1
  compression algo gzip
  compression type application/json text/event-stream
  default_backend back
backend back
  server only 127.0.0.1:BACK
`},
	{"caddy", []string{"run", "--adapter", "caddyfile", "--config", "FOLDER/config"}, true, `
{
  admin off
  auto_https off
}
https://127.0.0.1:FRONT {
  bind 127.0.0.1
  tls FOLDER/cert.pem FOLDER/key.pem
  encode gzip {
    minimum_length 1
    match header Content-Type *
  }
  reverse_proxy 127.0.0.1:BACK
}
`},
}

// startProxy starts a program with its configuration in a new folder, and
// returns its URL and the pool that trusts it. The test is skipped where the
// program is not there.
func startProxy(t *testing.T, program string, args []string, config string, back string) (string, *x509.CertPool) {
	t.Helper()
	file, err := exec.LookPath(program)
	for _, folder := range []string{"/usr/sbin", "/usr/local/sbin"} { // not on every user's PATH
		if err != nil {
			file, err = exec.LookPath(filepath.Join(folder, program))
		}
	}
	if err != nil {
		t.Skipf("%s is not installed: run .ci/servers", program)
	}
	folder := t.TempDir()
	trusted := certificate(t, folder)
	front := mcptest.FreePort(t)
	fill := strings.NewReplacer("FOLDER", folder, "FRONT", front, "BACK", back).Replace
	require.NoError(t, os.WriteFile(filepath.Join(folder, "config"), []byte(fill(config)), 0o600))
	var said strings.Builder
	process := exec.Command(file, strings.Fields(fill(strings.Join(args, " ")))...)
	process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder}
	process.Stderr = &said
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		process.Process.Kill()
		process.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+front)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, 30*time.Second, 10*time.Millisecond)
	return "https://127.0.0.1:" + front + "/mcp", trusted
}

func TestRealProxies(t *testing.T) {
	for _, p := range proxies {
		t.Run(p.program, func(t *testing.T) {
			everything := newNode(t, everythingScript, "streamableHttp")
			url, trusted := startProxy(t, p.program, p.args, p.config, everything.port)
			rt := newTripper(t)
			rt.base = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}
			var others, compressed atomic.Int32 // answers
			rt.set(func(r *http.Request) (*http.Response, error) {
				response, err := rt.base.RoundTrip(r)
				if err == nil && response.ProtoMajor != 2 {
					others.Add(1)
				}
				if err == nil && response.Uncompressed {
					compressed.Add(1)
				}
				return response, err
			})
			c := connectOwn(t, mcp.Server{Name: "real", URL: url}, rt)
			checkEverything(t, c)
			assert.Equal(t, p.compresses, compressed.Load() > 0, "answers that came compressed: %d", compressed.Load())
			assert.Zero(t, others.Load(), "answers in another version than HTTP/2")
			var calls sync.WaitGroup
			for i := range 20 {
				calls.Go(func() {
					text := fmt.Sprint("<", i, ">")
					assert.Equal(t, "Echo: "+text, realCall(t, c, "echo", m{"message": text}).Content)
				})
			}
			calls.Wait()
			checkProgress(t, c)
			require.NoError(t, c.RefreshTools(t.Context()))
			assert.Empty(t, httpWarnings(c))

			everything.stop()
			_, err := c.Tools()[0].Handler(t.Context(), nil)
			assert.ErrorContains(t, err, "the server answered 50")
			t.Logf("without the server behind: %v", err)
			everything.start(t)
			assert.Equal(t, "Echo: again", realCall(t, c, "echo", m{"message": "again"}).Content)
		})
	}
}

// checkProgress makes a call with progress in its stream.
func checkProgress(t *testing.T, c *mcp.Connection) {
	var updates atomic.Int32
	ctx := mcp.WithProgress(t.Context(), func(mcp.Progress) { updates.Add(1) })
	for _, tool := range c.Tools() {
		if tool.ServerTool == "trigger-long-running-operation" {
			result, err := tool.Handler(ctx, []byte(`{"duration": 0.5, "steps": 5}`))
			require.NoError(t, err)
			assert.Contains(t, result.Content, "completed")
		}
	}
	assert.Positive(t, updates.Load())
}
