package rpc

// This file keeps large buffers for the next answer.

import "sync"

// BufferPool keeps buffers that no answer needs at the moment, so that a stream of
// large results allocates nothing but the results. What is not used for a while
// is left to the garbage collector. The zero value is ready for use, also
// concurrently.
type BufferPool struct{ pool sync.Pool }

// Get returns a buffer of at least size bytes, with anything in it.
func (s *BufferPool) Get(size int) []byte {
	for {
		buffer, some := s.pool.Get().(*[]byte)
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
func (s *BufferPool) Put(buffer []byte) {
	buffer = buffer[:cap(buffer)]
	s.pool.Put((*[]byte)(nil))
	s.pool.Put(&buffer)
}
