package raw

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScan(t *testing.T) {
	for _, c := range []struct {
		in  string
		end int
		err error
	}{
		{`{"a":[1,2,{"b":null}]} tail`, 22, nil},
		{` "x"`, 4, nil},
		{`-1.5e+3,`, 7, nil},
		{`{}`, 2, nil},
		{`[]`, 2, nil},
		{`[[],{}]x`, 7, nil},
		{`"a\"b\\"`, 8, nil},
		{"\"raw\ttab\"", 9, nil},
		{"\"\xff\"", 3, nil},
		{`01`, 1, nil}, // a number, then something else
		{``, 0, ErrShort},
		{`{`, 1, ErrShort},
		{`{"a"`, 4, ErrShort},
		{`{"a":`, 5, ErrShort},
		{`[1,`, 3, ErrShort},
		{`tru`, 3, ErrShort},
		{`-`, 1, ErrShort},
		{`"abc`, 4, ErrShort},
		{`"abc\`, 5, ErrShort},
		{`"abc\u12`, 8, ErrShort},
		{`{a}`, 1, ErrSyntax},
		{`{"a":1,}`, 7, ErrSyntax},
		{`[1,]`, 3, ErrSyntax},
		{`[1}`, 2, ErrSyntax},
		{`{"a":1]`, 6, ErrSyntax},
		{`trux`, 0, ErrSyntax},
		{`"\q"`, 1, ErrSyntax},
		{`"\u12g4"`, 1, ErrSyntax},
		{`INFO`, 0, ErrSyntax},
		{strings.Repeat("[", MaxDepth+5), MaxDepth - 1, ErrDepth},
	} {
		end, err := Scan([]byte(c.in))
		assert.Equal(t, c.end, end, "%.40q", c.in)
		assert.Equal(t, c.err, err, "%.40q", c.in)
	}
}

func TestMembersAndElements(t *testing.T) {
	var got []string
	for name, value := range Members([]byte(` { "a" : 1 , "b\u0063":[1, 2],"a":{"x":"}"} } `)) {
		got = append(got, string(name)+"="+string(value))
	}
	assert.Equal(t, []string{"a=1", "bc=[1, 2]", `a={"x":"}"}`}, got)
	assert.Equal(t, `{"x":"}"}`, string(Member([]byte(`{"a":1,"a":{"x":"}"}}`), "a")), "the last one wins")
	assert.Nil(t, Member([]byte(`[1]`), "a"))

	got = nil
	for value := range Elements([]byte(`[1, "a]" ,{"b":2} ]`)) {
		got = append(got, string(value))
	}
	assert.Equal(t, []string{"1", `"a]"`, `{"b":2}`}, got)
}

// What is known of the next backslash holds for what follows, and no further,
// wherever it stands and wherever the cursor goes.
func TestEscapesFarApart(t *testing.T) {
	for n := range 3 * lookAhead / 2 {
		want := []string{"a", strings.Repeat("x", n), strings.Repeat("y", n%20) + `"`, strings.Repeat("z", n%150), `\`, "b"}
		data, err := json.Marshal(want)
		require.NoError(t, err)
		c := Read(data)
		for range 2 {
			var got []string
			for range c.Array() {
				s, ok := String(c.Value())
				require.True(t, ok)
				got = append(got, s)
			}
			require.Equal(t, want, got)
			assert.Equal(t, len(data), c.At())
			c.Move(0)
		}
	}
}

// What did not pass a check ends where the fault is.
func TestCursorUnchecked(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `{`: ``, `{"a`: ``, `{"a"`: ``, `{"a" 1}`: ``, `{"a":`: `a`, `{"a":1`: `a`, `{"a":1 "b":2}`: `a`, `{"a":[1,`: `a`, `{"a":1,b`: `a`,
		`[`: ``, `[1`: `0`, `[1,`: `0`, `[1 2]`: `0`, `[1,}`: `01`, `{"a":[tru],"b":1}`: `a`,
	} {
		var got []byte
		for name := range Read([]byte(text)).Object() {
			got = append(got, name...)
		}
		for i := range Read([]byte(text)).Array() {
			got = strconv.AppendInt(got, int64(i), 10)
		}
		assert.Equal(t, want, string(got), text)
		assert.Equal(t, len(text), Skip([]byte(text)), text)
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		`"plain"`:                "plain",
		`"a\"\\\/\b\f\n\r\t"`:    "a\"\\/\b\f\n\r\t",
		`"\u00e9\ud83d\ude00"`:   "é😀",
		`"\ud83d"`:               "\uFFFD",
		`"\ud83dx\ude00"`:        "\uFFFDx\uFFFD",
		`"\ud83d\u0041"`:         "\uFFFDA",
		"\"caf\xe9\xe8\"":        "caf\uFFFD\uFFFD",
		"\"\xed\xa0\x80\"":       "\uFFFD\uFFFD\uFFFD",
		"\"line\nbreak\\u0000\"": "line\nbreak\x00",
	} {
		got, ok := String([]byte(in))
		assert.True(t, ok)
		assert.Equal(t, want, got, "%q", in)
		assert.Equal(t, want, string(AppendString(nil, []byte(in))))
	}
	_, ok := String([]byte(`12`))
	assert.False(t, ok)
}

func TestRepair(t *testing.T) {
	clean := []byte(`{"a": "<\ud83d\ude00é>", "n":1.10}`)
	assert.Equal(t, &clean[0], &Repair(clean)[0], "nothing to repair, nothing copied")
	for in, want := range map[string]string{
		"{\"a\":\"\t\x01\"}\n":      "{\"a\":\"\\t\\u0001\"}\n",
		`{"\ud83d":"\ude00\ud83d"}`: `{"\ufffd":"\ufffd\ufffd"}`,
		"[\"\xff\",1.10]":           "[\"\uFFFD\",1.10]",
	} {
		assert.Equal(t, want, string(Repair([]byte(in))))
	}
}

func TestCompact(t *testing.T) {
	for in, want := range map[string]string{
		"{ \"a b\" :\n [1, 2 ] }":   `{"a b":[1,2]}`,
		`{"a":" \" x "}`:            `{"a":" \" x "}`,
		"[\"tab\there\", \"\xff\"]": "[\"tab\\there\",\"\uFFFD\"]",
	} {
		assert.Equal(t, want, string(Compact([]byte(in))))
	}
}

func TestAppendQuote(t *testing.T) {
	for in, want := range map[string]string{
		"a<b>&c":    `"a<b>&c"`,
		"\"\\\n":    `"\"\\\n"`,
		"\x00é\xff": "\"\\u0000é\uFFFD\"",
		"\uFFFD":    "\"\uFFFD\"",
	} {
		assert.Equal(t, want, string(AppendQuote(nil, in)))
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x\n",{"b":null}],"c":-1e3}`, `[`, `"\ud800"`, "\"\x00\xff\"", `{"a":1,"a":2} x`, `nul`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		end, err := Scan(data)
		if err != nil {
			assert.False(t, json.Valid(data), "refused a valid text")
			if errors.Is(err, ErrSyntax) {
				assert.False(t, json.Valid(append(bytes.Clone(data), data...)))
			}
			return
		}
		value := bytes.TrimSpace(data[:end])
		repaired := Repair(value)
		require.True(t, json.Valid(repaired), "%q", repaired)
		require.True(t, utf8.Valid(repaired))
		require.Equal(t, repaired, Repair(repaired))
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, repaired))
		require.Equal(t, compact.String(), string(Compact(value)))
		if s, ok := String(value); ok {
			require.True(t, utf8.ValidString(s))
			back, ok := String(AppendQuote(nil, s))
			require.True(t, ok)
			require.Equal(t, s, back)
			var want string
			if utf8.Valid(value) && json.Unmarshal(value, &want) == nil {
				require.Equal(t, want, s)
			}
		}
		for range Members(value) {
		}
		for range Elements(value) {
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for name, text := range map[string]string{
		"plain":   `{"text":"` + strings.Repeat("x", 1<<20) + `"}`,
		"escapes": `{"text":"` + strings.Repeat(strings.Repeat("x", 70)+`\n`, 1<<14) + `"}`,
		"list":    `[` + strings.Repeat(`{"name":"tool_1","inputSchema":{"type":"object","properties":{"property_1":{"type":"string","description":"What the property is for, in a sentence of some length."}},"required":["property_1"]}},`, 1000) + `1]`,
		"small":   strings.Repeat(`{"name":"abc","n":12345,"list":[true,false,null]} `, 1),
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(text)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Scan(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Some servers write numbers that JSON does not have.
func TestNaN(t *testing.T) {
	for in, want := range map[string]string{
		`NaN`:                        `null`,
		`[NaN,-Infinity , Infinity]`: `[null,null , null]`,
		`{"NaN":NaN,"s":"NaN,-Infinity\"",` + "\"\xff\":1}": `{"NaN":null,"s":"NaN,-Infinity\"",` + "\"\uFFFD\":1}",
		`{"a":-Infinity}`: `{"a":null}`,
		`{"s":"[NaN]"}`:   `{"s":"[NaN]"}`,
	} {
		assert.True(t, Valid([]byte(in)), in)
		assert.Equal(t, in != want, HasNaN([]byte(in)), in)
		assert.Equal(t, want, string(Repair([]byte(in))), in)
		for range Members([]byte(in)) { // what steps over values takes them too
		}
	}
	for _, in := range []string{`Nan`, `[NaN1]`, `-Inf`, `{NaN:1}`, `Infinity0`, `+Infinity`, `- Infinity`} {
		assert.False(t, Valid([]byte(in)), in)
	}
	_, err := Scan([]byte(`[Na`))
	assert.ErrorIs(t, err, ErrShort)
}

func TestDepth(t *testing.T) {
	nested := []byte(strings.Repeat(`{"a":[`, 5000) + strings.Repeat(`]}`, 5000))
	assert.True(t, Valid(nested))
	assert.Equal(t, len(nested), Skip(nested))
	for most, want := range map[int]error{10_000: ErrDepth, 10_001: nil} {
		_, err := ScanUpTo(nested, most)
		assert.ErrorIs(t, err, want)
	}
}
