//go:build unix

package oauth_test

// This file runs the programs of examples/oauth.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// browserVariable makes the test binary a browser that opens its argument.
const browserVariable = "OAUTH_TEST_BROWSER"

// build returns an example's program, and an environment in which xdg-open or
// open is this binary.
func build(t *testing.T, name string) (program string, env []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("building programs takes its time")
	}
	folder := t.TempDir()
	program = filepath.Join(folder, name)
	output, err := exec.Command("go", "build", "-o", program, "../examples/oauth/"+name).CombinedOutput()
	require.NoError(t, err, string(output))
	self, err := os.Executable()
	require.NoError(t, err)
	for _, opener := range []string{"xdg-open", "open"} {
		require.NoError(t, os.Symlink(self, filepath.Join(folder, opener)))
	}
	return program, append(os.Environ(), "PATH="+folder, "HOME="+folder, "XDG_CONFIG_HOME="+folder, browserVariable+"=1")
}

func TestExampleCLI(t *testing.T) {
	w := newWorld(t)
	program, env := build(t, "cli")
	cli := func(args ...string) string {
		command := exec.Command(program, args...)
		command.Env, command.Stderr = env, os.Stderr
		output, err := command.Output()
		assert.NoError(t, err)
		return string(output)
	}
	assert.Equal(t, mcp.ToolName("example", "run")+"\n", cli(w.url()))
	assert.Equal(t, mcp.ToolName("example", "run")+"\n", cli(w.url()))
	assert.EqualValues(t, 1, w.logins.Load())
	cli("logout", w.url())
	assert.EqualValues(t, 1, w.revocations.Load())
}

func TestExampleService(t *testing.T) {
	w := newWorld(t)
	program, env := build(t, "service")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	text, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), 0o600))
	command := exec.Command(program, w.url())
	command.Env, command.Stderr = append(env, "CLIENT_ID=reports", "KEY_FILE="+file, "ISSUER="+w.as.URL), os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	assert.Equal(t, mcp.ToolName("example", "run")+"\n", string(output))
	assert.Equal(t, "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", w.lastForm().Get("client_assertion_type"))
}

func TestExampleWeb(t *testing.T) {
	w := newWorld(t)
	program, env := build(t, "web")
	address := "localhost:" + mcptest.FreePort(t)
	command := exec.Command(program, address, w.url())
	command.Env, command.Dir, command.Stderr = env, t.TempDir(), os.Stderr
	require.NoError(t, command.Start())
	defer command.Wait()
	defer command.Process.Kill()
	for user := int64(1); user <= 2; user++ {
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
		for range 2 {
			var resp *http.Response
			require.Eventually(t, func() bool { // the server is starting
				resp, err = client.Get("http://" + address + "/tools")
				return err == nil
			}, 20*time.Second, 20*time.Millisecond)
			page, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			require.NoError(t, err)
			assert.Equal(t, mcp.ToolName("example", "run")+"\n", string(page))
		}
		assert.Equal(t, user, w.logins.Load())
	}
}
