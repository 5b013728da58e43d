package streamable

// This file tests the event stream reader on its own, and fuzzes it.

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
)

// all returns the data of all events and why the stream ended.
func all(e *events) (data []string, err error) {
	for {
		d, err := e.next()
		if err != nil {
			return data, err
		}
		data = append(data, string(d))
	}
}

func TestEvents(t *testing.T) {
	for _, test := range []struct {
		name, stream string
		want         []string
		id           string
		retry        time.Duration
	}{
		{"nothing", "", nil, "", 0},
		{"comments", ": a\n\n:\n\n", nil, "", 0},
		{"one", "data: a\n\n", []string{"a"}, "", 0},
		{"only one space is taken off", "data:  a \n\n", []string{" a "}, "", 0},
		{"line ends", "data: a\r\n\r\ndata: b\r\rdata: c\n\n", []string{"a", "b", "c"}, "", 0},
		{"several lines", "data: a\ndata:\ndata: b\n\n", []string{"a\n\nb"}, "", 0},
		{"lines apart", "data: a\nid: 1\ndata: b\n\n", []string{"a\nb"}, "1", 0},
		{"empty", "data\n\ndata:\n\n", nil, "", 0},
		{"unfinished", "data: a\n\ndata: b", []string{"a", "b"}, "", 0},
		{"byte-order mark", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"a"}, "", 0},
		{"ids", "id: 1\n\nid: 2\ndata: a\n\nid\ndata: b\n\nid: 3", []string{"a", "b"}, "2", 0},
		{"id with NUL", "id: 1\x002\ndata: a\n\n", []string{"a"}, "", 0},
		{"retry", "retry: 20\n\nretry: -1\nretry: 1.5\nretry: x\n\n", nil, "", 20 * time.Millisecond},
		{"unknown fields", "x: y\nz\n: data\nDATA: no\ndata: a\n\n", []string{"a"}, "", 0},
		{"long", "data: " + strings.Repeat("a", 3*smallBuffer) + "\n\ndata: b\n\n", []string{strings.Repeat("a", 3*smallBuffer), "b"}, "", 0},
		{"long lines", "data: " + strings.Repeat("a", 9000) + "\ndata: " + strings.Repeat("b", 9000) + "\n\n", []string{strings.Repeat("a", 9000) + "\n" + strings.Repeat("b", 9000)}, "", 0},
	} {
		for name, source := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "data with the end": iotest.DataErrReader,
		} {
			t.Run(test.name+", "+name, func(t *testing.T) {
				e := newEvents(&buffers{}, 1<<20)
				e.read(source(strings.NewReader(test.stream)))
				data, err := all(e)
				assert.Equal(t, test.want, data)
				assert.Equal(t, io.EOF, err)
				assert.Equal(t, test.id, e.lastID)
				assert.Equal(t, test.retry, e.retry)
				e.free()
			})
		}
	}
}

func TestEventsCut(t *testing.T) {
	cut := errors.New("cut")
	e := newEvents(&buffers{}, 1<<20)
	e.read(io.MultiReader(strings.NewReader("id: 1\ndata: a\n\nid: 2\ndata: b\n"), iotest.ErrReader(cut)))
	data, err := all(e)
	assert.Equal(t, []string{"a"}, data)
	assert.Equal(t, cut, err)
	assert.Equal(t, "1", e.lastID)
	e.read(strings.NewReader("id: 2\ndata: b\n\n"))
	data, _ = all(e)
	assert.Equal(t, []string{"b"}, data)
	assert.Equal(t, "2", e.lastID)
}

func TestEventsTooLong(t *testing.T) {
	for _, stream := range []string{
		"data: " + strings.Repeat("a", 20_000),
		": " + strings.Repeat("a", 20_000),
		strings.Repeat("data: aaaaaaaa\n", 2_000),
		"data: a\n" + strings.Repeat(": b\n", 5_000),
	} {
		e := newEvents(&buffers{}, 10_000)
		e.read(strings.NewReader(stream))
		_, err := all(e)
		assert.ErrorIs(t, err, errTooLong)
	}
	e := newEvents(&buffers{}, 10_000)
	e.read(strings.NewReader(strings.Repeat(": comment\n", 10_000) + "data: a\n\n"))
	data, _ := all(e)
	assert.Equal(t, []string{"a"}, data)
}

// An event that is lent stays as it is while others are read.
func TestEventsLent(t *testing.T) {
	for _, first := range []string{"data: first\n\n", "data: fi\ndata: rst\n\n"} {
		e := newEvents(&buffers{}, 1<<20)
		e.read(strings.NewReader(first + "data: second\n\ndata: third\n\n"))
		lent, err := e.next()
		assert.NoError(t, err)
		want := string(lent)
		release := e.lend()
		data, _ := all(e)
		assert.Equal(t, []string{"second", "third"}, data)
		assert.Equal(t, want, string(lent))
		release()
		e.free()
	}
}

// reference reads a stream as the HTML standard describes it, all at once, but
// for a last event without its blank line.
func reference(stream string) (data []string, id string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	if lines[len(lines)-1] != "" {
		lines = append(lines, "") // the last event may lack its blank line
	}
	var lined []string
	pending := ""
	dispatch := func(last bool) {
		if text := strings.Join(lined, "\n"); text != "" {
			data = append(data, text)
		}
		if pending != "" && !last { // that may be cut
			id = pending
		}
		lined, pending = nil, ""
	}
	for i, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			dispatch(i == len(lines)-1)
		case name == "data":
			lined = append(lined, value)
		case name == "id" && !strings.Contains(value, "\x00"):
			pending = value
		}
	}
	return data, id
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "\ufeffdata: a\r\n\r\n", "id: 1\rdata: a\rdata: b\r\r", "data\n\ndata: x", ": c\n\nretry: 5\nid: 2\n\n", "event: ping\ndata: {}\n\n", "\r\n\r\r\n\n",
		"id:0\rdata",
	} {
		f.Add(seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream string, chunk uint8) {
		want, id := reference(stream)
		e := newEvents(&buffers{}, 1<<20)
		e.read(&chunks{stream, int(chunk)%7 + 1})
		data, err := all(e)
		if err != io.EOF {
			t.Fatal(err)
		}
		// A whole JSON object is an event before its blank line, so what the
		// standard joins may come in parts; and JSON is one without a name.
		if strings.ContainsAny(stream, "{[") {
			return
		}
		assert.Equal(t, want, data)
		assert.Equal(t, id, e.lastID)
	})
}

// chunks reads a text in pieces of one size.
type chunks struct {
	text string
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	n := copy(p, c.text[:min(c.size, len(c.text))])
	c.text = c.text[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func anyForm(form) int { return 100_000 }

// What a body is shows behind the white space, however it comes in.
func TestForms(t *testing.T) {
	var b buffers
	for body, want := range map[string]form{
		"": formUnclear, " \r\n": formUnclear, "dat": formUnclear,
		" {": formJSON, "\ufeff[1]": formJSON, "\n\n{}": formJSON,
		"data: x": formEvents, "event:y": formEvents, ":": formEvents, "\nid: 1": formEvents, "retry: 5": formEvents,
		"<html>": formOther, "data is missing": formOther, "OK": formOther, "datA:": formOther,
	} {
		got, err := b.readAll(iotest.OneByteReader(strings.NewReader(body)), -1, 100_000, anyForm)
		assert.NoError(t, err)
		assert.Equal(t, want, got.form, "%q", body)
		assert.Equal(t, body, string(got.data))
	}
}

func TestReadAll(t *testing.T) {
	var b buffers
	for _, size := range []int{0, 1, smallBuffer - 1, smallBuffer, smallBuffer + 1, lendSize, 100_000} {
		for _, claimed := range []int64{-1, int64(size)} {
			text := strings.Repeat("x", size)
			got, err := b.readAll(iotest.HalfReader(strings.NewReader(text)), claimed, 100_000, anyForm)
			assert.NoError(t, err)
			assert.Equal(t, text, string(got.data))
			assert.Equal(t, size < lendSize, got.owned)
			got.release()
		}
	}
	for _, claimed := range []int64{-1, 5, 100_001} {
		_, err := b.readAll(strings.NewReader(strings.Repeat("x", 100_001)), claimed, 100_000, anyForm)
		assert.ErrorIs(t, err, errTooLong)
	}
}

func TestHeaderValue(t *testing.T) {
	for s, want := range map[string]string{
		"":                "",
		"plain text":      "plain text",
		" lead":           "=?base64?IGxlYWQ=?=",
		"tab\t":           "=?base64?dGFiCQ==?=",
		"ü":               "=?base64?w7w=?=",
		"a\nb":            "=?base64?YQpi?=",
		"=?base64?YQ==?=": "=?base64?PT9iYXNlNjQ/WVE9PT89?=",
	} {
		assert.Equal(t, want, HeaderValue(s))
	}
}
