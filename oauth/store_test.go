package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/oauth"
)

const anyKey = "https://mcp.example.com/mcp"

// Updates of a key follow each other, whoever makes them, and those of another
// key do not wait for them.
func TestFileStoreLocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "tokens")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			store := oauth.FileStore(dir) // as another process has it
			for range 25 {
				assert.NoError(t, store.Update(t.Context(), anyKey, func(old []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(old))
					return []byte(strconv.Itoa(n + 1)), nil
				}))
			}
		})
	}
	all.Wait()
	store := oauth.FileStore(dir)
	require.NoError(t, store.Update(t.Context(), anyKey, func(old []byte) ([]byte, error) {
		assert.Equal(t, "100", string(old))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, store.Update(ctx, anyKey, nil), context.Canceled, "one that waits minds its context")
		return old, store.Update(t.Context(), "another", func(old []byte) ([]byte, error) {
			assert.Empty(t, old)
			return nil, nil
		})
	}))
}

// An error stores nothing, and a crash in the middle of writing leaves what was
// there; all files are for their user alone.
func TestFileStoreKeeps(t *testing.T) {
	dir := t.TempDir()
	store := oauth.FileStore(dir)
	set := func(value string, err error) error {
		return store.Update(t.Context(), anyKey, func([]byte) ([]byte, error) { return []byte(value), err })
	}
	require.NoError(t, set("one", nil))
	errStop := errors.New("stop")
	assert.ErrorIs(t, set("two", errStop), errStop)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.WriteFile(files[0]+".new", []byte("half of a longer tex"), 0o644)) // of a crash
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, "one", string(text))
	require.NoError(t, set("three", nil))
	text, err = os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, "three", string(text))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the value and its lock")
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
		}
	}
	assert.ErrorContains(t, oauth.FileStore("").Update(t.Context(), anyKey, nil), "must name a folder")
}

// What is stored and cannot be read, or is of another client, is not used.
func TestStoreOfAnother(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "not JSON": "{", "another version": `{"version":99,"server":%q,"access_token":"stolen"}`,
		"another server": `{"version":1,"server":"https://evil","access_token":"stolen"}`,
		"another issuer": `{"version":1,"server":%q,"issuer":"https://evil","access_token":"stolen","refresh_token":"x","token_endpoint":"https://evil/token"}`,
		"another client": `{"version":1,"server":%q,"client":{"client_id":"other"},"access_token":"stolen"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			store := oauth.FileStore(t.TempDir())
			if name == "another version" || name == "another issuer" || name == "another client" {
				text = fmt.Sprintf(text, w.url())
			}
			require.NoError(t, store.Update(t.Context(), w.url(), func([]byte) ([]byte, error) { return []byte(text), nil }))
			c := connect(t, w, &oauth.Client{ID: "pre", Issuer: w.as.URL, Open: browse, Store: store})
			require.NoError(t, run(t.Context(), c))
			assert.EqualValues(t, 1, w.logins.Load())
		})
	}
}

// Many calls with a token that has ended by the clock share one refresh.
func TestOneRenewalForAll(t *testing.T) {
	w := newWorld(t)
	store := oauth.FileStore(t.TempDir())
	connect(t, w, &oauth.Client{Open: browse, Store: store}).Close()
	var clients []*oauth.Client
	for range 4 {
		clients = append(clients, &oauth.Client{Store: store})
	}
	age(t, store, -1)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() { assert.NoError(t, run(t.Context(), connect(t, w, clients[i%4]))) })
	}
	all.Wait()
	assert.EqualValues(t, 1, w.refreshes.Load())
	assert.EqualValues(t, 0, w.thefts.Load())
	assert.EqualValues(t, 16, w.posts.Load(), "none was refused")
}
