package lines

// This file keeps buffers for the next message.

import "sync"

// A Pool keeps buffers that no message needs at the moment, so that a stream of
// large results allocates nothing but the results. Small ones do not stand in
// the way of large ones. What is not used for a while is left to the garbage
// collector. The zero value is ready for use, also concurrently.
type Pool struct{ small, large sync.Pool }

// Get returns a buffer of at least size bytes, with anything in it.
func (p *Pool) Get(size int) []byte {
	pool := &p.large
	if size <= Small {
		size, pool = Small, &p.small
	}
	for {
		buffer, some := pool.Get().(*[]byte)
		if !some {
			return make([]byte, size)
		}
		if buffer != nil && len(*buffer) >= size {
			return *buffer
		}
	}
}

// Put gives a buffer back. A pool has one place for each processor that no
// other reaches, and whoever needs the buffer next often runs on another:
// nothing goes there, so that the buffer does not.
func (p *Pool) Put(buffer []byte) {
	pool := &p.large
	if buffer = buffer[:cap(buffer)]; len(buffer) <= Small {
		pool = &p.small
	}
	pool.Put((*[]byte)(nil))
	pool.Put(&buffer)
}
