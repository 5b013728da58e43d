package oauth

// This file keeps tokens, in memory or in files.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
)

// A Store keeps what a [Client] has to know in its next life: registrations,
// tokens, and logins that have begun. What it keeps is secret. One Store, or
// one key of it, belongs to one user. It may be called concurrently.
type Store interface {
	// Update calls f with the value of the key, nil if there is none, and then
	// stores what f returns, which often is the same. If f returns an error,
	// nothing is stored and Update returns that error. The key is the URL of an
	// MCP server without its query.
	//
	// No two calls of f for a key may run at the same time, not even in two
	// processes: f may take half a minute to renew a token by another that can be
	// used only once. In a database, that is a transaction with the row locked.
	Update(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error
}

// lockTime is how long a process waits to ask again for a lock.
const lockTime = 20 * time.Millisecond

var errLocked = errors.New("another process has locked the file")

// A FileStore is a folder with a file for each server, which the user alone may
// read; it is made if need be. Any number of processes may share it, and of those
// that need a login one asks the person, for all. The files are not encrypted.
type FileStore string

// Update implements [Store].
func (dir FileStore) Update(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error {
	lock, path, err := dir.lock(ctx, key)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := restrict(path); err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now, err := f(old)
	if err != nil {
		return err
	}
	if string(now) == string(old) {
		return nil
	}
	return replace(path, now)
}

// lock waits until no other process has the key, and returns what gives it back
// when it is closed, or when the process ends; and the file of the key.
func (dir FileStore) lock(ctx context.Context, key string) (lock io.Closer, path string, err error) {
	if dir == "" {
		return nil, "", errors.New("a FileStore must name a folder")
	}
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256([]byte(key))
	path = filepath.Join(string(dir), hex.EncodeToString(sum[:16])+".json")
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, "", err
	}
	for err = tryLock(f); errors.Is(err, errLocked); err = tryLock(f) {
		if !patience.Sleep(ctx, lockTime) {
			err = ctx.Err()
			break
		}
	}
	if err != nil {
		f.Close()
	}
	return f, path, err
}

// restrict makes sure that a file is for its user alone, as one may not be that
// came from a backup. It fails for one that another user has put there: what that
// says of where tokens go is not to be read.
func restrict(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(path, 0o600)
}

// replace writes a file in one step: what reads it meanwhile, or after a crash,
// finds the old one or the new one. The caller has the lock, so that the other
// name is free.
func replace(path string, content []byte) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = f.Chmod(0o600) // it may be left of a crash, or by another
	if err == nil {
		_, err = f.Write(content)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// memory is the Store of a Client without one.
type memory struct {
	mu     sync.Mutex
	values map[string]*value
}

type value struct {
	turn chan struct{}
	data []byte
}

func (m *memory) Update(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error {
	m.mu.Lock()
	if m.values == nil {
		m.values = map[string]*value{}
	}
	v := m.values[key]
	if v == nil {
		v = &value{turn: make(chan struct{}, 1)}
		m.values[key] = v
	}
	m.mu.Unlock()
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-v.turn }()
	now, err := f(v.data)
	if err == nil {
		v.data = now
	}
	return err
}
