package lines

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sources give a text in different pieces.
func sources(text string) map[string]io.Reader {
	return map[string]io.Reader{
		"at once":      strings.NewReader(text),
		"byte by byte": iotest.OneByteReader(strings.NewReader(text)),
		"in halves":    iotest.HalfReader(strings.NewReader(text)),
		"with the end": iotest.DataErrReader(strings.NewReader(text)),
	}
}

func TestLines(t *testing.T) {
	const long, tooLong = 100_000, 300_001
	text := "a\n\nb\r\n" + strings.Repeat("x", long) + "\n" + strings.Repeat("y", tooLong) + "\nafter\n" + strings.Repeat("x", long) + "\nlast"
	for name, src := range sources(text) {
		r := NewReader(&Pool{}, 200_000)
		r.Reset(src)
		var got []string
		for {
			line, err := r.Line()
			if errors.Is(err, ErrTooLong) {
				head, tail, size, err := r.Skip()
				require.NoError(t, err)
				assert.Equal(t, tooLong, size, name)
				assert.Equal(t, strings.Repeat("y", Edge), string(head))
				assert.Equal(t, strings.Repeat("y", Edge), string(tail))
				got = append(got, "too long")
				continue
			}
			if len(line) >= long { // as for an answer: the next lines use another buffer
				defer r.Lend()()
			}
			got = append(got, string(line))
			if err != nil {
				assert.Equal(t, io.EOF, err)
				break
			}
		}
		assert.Equal(t, []string{"a", "", "b\r", strings.Repeat("x", long), "too long", "after", strings.Repeat("x", long), "last"}, got, name)
	}
}

func TestCarriageReturns(t *testing.T) {
	for name, src := range sources("a\r\nb\rc\n\r\n\rd\r") {
		r := NewReader(&Pool{}, 100)
		r.CR = true
		r.Reset(src)
		var got []string
		var err error
		for err == nil {
			var line []byte
			line, err = r.Line()
			got = append(got, string(line))
		}
		assert.Equal(t, []string{"a", "b", "c", "", "", "d", ""}, got, name)
	}
}

// What is held stays as it is while more is read, wherever the buffer moves to.
func TestHold(t *testing.T) {
	parts := []string{"first", strings.Repeat("x", 3*Small), "", "last"}
	for name, src := range sources("before\n>" + strings.Join(parts, "\n") + "\nafter\n") {
		r := NewReader(&Pool{}, 10*Small)
		r.Reset(src)
		_, err := r.Line()
		require.NoError(t, err)
		for i := range parts {
			_, err := r.Line()
			require.NoError(t, err)
			if i == 0 {
				r.Hold(len(parts[0]))
			}
			assert.Equal(t, strings.Join(parts[:i+1], "\n"), string(r.Held()), name)
		}
		held := r.Held()
		release := r.Lend()
		line, err := r.Line()
		require.NoError(t, err)
		assert.Equal(t, "after", string(line), name)
		assert.Equal(t, strings.Join(parts, "\n"), string(held), name)
		release()
	}
	r := NewReader(&Pool{}, 1000)
	r.Reset(strings.NewReader("held\n" + strings.Repeat("x\n", 1000)))
	line, err := r.Line()
	require.NoError(t, err)
	r.Hold(len(line))
	for err == nil {
		_, err = r.Line()
	}
	assert.ErrorIs(t, err, ErrTooLong)
	head, _, size, err := r.Skip()
	assert.ErrorIs(t, err, io.EOF)
	assert.True(t, bytes.HasPrefix(head, []byte("held\nx\nx")))
	assert.Greater(t, size, 1000)
}

func TestPartial(t *testing.T) {
	src, w := io.Pipe()
	defer w.Close()
	go func() { // ends when all is read
		io.WriteString(w, "a\nno")
		io.WriteString(w, "t yet!")
		io.WriteString(w, "\nb")
	}()
	r := NewReader(&Pool{}, 1000)
	r.Reset(src)
	var partial []string
	r.Partial = func(line []byte) bool {
		partial = append(partial, string(line))
		return line[len(line)-1] == '!'
	}
	for _, want := range []string{"a", "not yet!", ""} {
		line, err := r.Line()
		require.NoError(t, err)
		assert.Equal(t, want, string(line))
	}
	assert.Equal(t, []string{"no", "not yet!"}, partial)
}
