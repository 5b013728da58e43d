package gotype

//lint:file-ignore SA5008 the tags that encoding/json reads in its own way are what is tested
//lint:file-ignore U1000 so are the fields that it does not see

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	Pair[K, V any] struct {
		Key   K `json:"key"`
		Value V `json:"value,omitzero"`
	}
	Inner struct {
		B int    `json:"b"`
		X string `json:"x,omitempty"`
	}
	inner struct{ Promoted string }
	Blob  []byte
	octet uint8
	code  struct{ n int }
	name  string
	tree  struct{ Sub []tree }
	LoopA struct{ *LoopB }
	LoopB struct{ *LoopA }
	size  string
	usual string
	half  struct{ n int }
)

func (c code) MarshalText() ([]byte, error) { return fmt.Append(nil, "c", c.n), nil }
func (c *code) UnmarshalText(b []byte) error {
	_, err := fmt.Sscanf(string(b), "c%d", &c.n)
	return err
}
func (half) MarshalText() ([]byte, error) { return []byte("half"), nil }
func (size) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"small", "large"}, Default: json.RawMessage(`"small"`)}
}
func (usual) JSONSchema() *jsonschema.Schema { return nil }

type options struct {
	Size size `json:"size,omitempty"`
	N    int  `json:"n,omitempty"`
}

// A schema takes what encoding/json writes of a value and what it reads, and the value
// comes back whole.
func TestSchemasFit(t *testing.T) {
	number, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	address := netip.MustParseAddr("10.0.0.1")
	for i, value := range []any{
		Pair[string, []int]{"a", []int{1}}, Pair[netip.Addr, *Pair[bool, float64]]{address, &Pair[bool, float64]{true, 1.5}},
		struct {
			Inner
			inner
			C uint64
		}{Inner{1, "x"}, inner{"p"}, 18446744073709551615},
		struct { // the outer one of two with one name counts
			Inner
			B int `json:"b"`
		}{B: 7},
		struct{ M map[netip.Addr]int }{map[netip.Addr]int{address: 1}},
		struct{ M map[code]name }{map[code]name{{3}: "x"}},
		struct{ M map[name]Inner }{map[name]Inner{"k": {B: 1}}},
		struct{ M map[string][]*Inner }{map[string][]*Inner{"k": {{B: 1}, nil}}},
		struct{ N json.Number }{"12345678901234567890.5"},
		struct{ R json.RawMessage }{json.RawMessage(`{"a":[1]}`)},
		struct{ R []json.RawMessage }{[]json.RawMessage{json.RawMessage(`1`), json.RawMessage(`null`)}},
		struct{ D time.Duration }{time.Hour},
		struct{ T *time.Time }{new(time.Time)},
		struct {
			T time.Time `json:",omitzero"`
			U []int     `json:",omitempty"`
		}{},
		struct{ A any }{map[string]any{"n": json.Number("9007199254740993")}},
		struct{ A [3]int }{[3]int{1, 2, 3}}, struct{ A [2][]string }{[2][]string{{"x"}, nil}},
		struct{ A [4]byte }{[4]byte{1, 2, 3, 4}}, struct{ A []octet }{[]octet{1, 2}},
		struct{ B Blob }{Blob("abc")}, struct{ B *Blob }{},
		struct{ B *big.Int }{number}, struct{ F *big.Float }{big.NewFloat(1.5)},
		struct{ IP net.IP }{net.IPv4(10, 0, 0, 1)}, struct{ URL url.URL }{url.URL{Host: "h"}},
		struct{ C code }{code{7}}, struct{ C []*code }{[]*code{{7}, nil}},
		struct {
			Dash int `json:"-,"`
			Gone int `json:"-"`
		}{Dash: 3},
		struct {
			N int `json:"name with (signs) and/or $pace"`
		}{4},
		struct{ P **int }{}, struct{ S usual }{"as it is"},
		options{"large", 1},
		map[string]Inner{"k": {B: 1}}, &Inner{B: 1},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			of := reflect.TypeOf(value)
			written, err := json.Marshal(value)
			require.NoError(t, err)
			in, err := Arguments(of)
			require.NoError(t, err)
			back := reflect.New(of)
			require.NoError(t, in.Decode(written, back.Interface()), "%s %s", in.Schema, written)
			again, err := json.Marshal(back.Interface())
			require.NoError(t, err)
			assert.Equal(t, string(written), string(again))

			out := Result(of)
			if of.Kind() == reflect.Pointer {
				assert.Nil(t, out, "it may be nil")
				return
			}
			require.NotNil(t, out)
			var schema jsonschema.Schema
			require.NoError(t, json.Unmarshal(out, &schema))
			check, err := schema.Resolve(nil)
			require.NoError(t, err)
			var plain any
			require.NoError(t, json.Unmarshal(written, &plain))
			assert.NoError(t, check.Validate(plain), "%s %s", out, written)
		})
	}
}

// What no schema describes as encoding/json reads it is an error.
func TestNoSchema(t *testing.T) {
	type A struct {
		X int `json:"a"`
	}
	type B struct {
		X int `json:"b"`
	}
	type C struct{ X int }
	type D struct {
		Y int `json:"X"`
	}
	for words, value := range map[string]any{
		"contains itself":  tree{},
		"contains itself ": LoopA{},
		"is no name": struct {
			N int `json:"it's"`
		}{},
		"is no name ": struct {
			N int `json:"a\\b"`
		}{},
		"is hidden": struct { // encoding/json has both
			Inner
			B string `json:"c"`
		}{},
		"is hidden ": struct {
			A
			B
		}{},
		"two fields": struct {
			C
			D
		}{},
		"are not strings":  struct{ M map[half]int }{}, // it can be written, not read
		"are not strings ": struct{ M map[int]string }{},
		"not a plain":      struct{ options2 }{},
		"embeds":           struct{ S struct{ size } }{},
		"embeds ":          struct{ S struct{ *options3 } }{},
		"nothing can":      struct{ S fmt.Stringer }{},
		"unsupported":      struct{ F func() }{},
		"unsupported ":     struct{ C complex128 }{},
		"take a struct":    []int{},
		"the option string": struct {
			N struct {
				N int `json:"n,string"`
			}
		}{},
	} {
		_, err := Arguments(reflect.TypeOf(value))
		assert.ErrorContains(t, err, strings.TrimSpace(words), "%T", value)
	}
	// Of results nobody is told what they are. A nil pointer takes the members away.
	for _, value := range []any{struct{ *Inner }{}, tree{}, struct{ F func() }{}, []int{}, struct{ B big.Int }{}} {
		assert.Nil(t, Result(reflect.TypeOf(value)), "%T", value)
	}
}

type options2 []int

type options3 struct{ N int }

func (*options3) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

// What a default says is what the function gets.
func TestDefaults(t *testing.T) {
	type in struct {
		options
		Sub  options            `json:"sub,omitzero"`
		Many []options          `json:"many,omitempty"`
		Map  map[string]options `json:"map,omitempty"`
		ID   uint64             `json:"id,omitempty"`
	}
	of, err := Arguments(reflect.TypeFor[in]())
	require.NoError(t, err)
	for arguments, want := range map[string]in{
		`{}`: {options: options{Size: "small"}, Sub: options{Size: "small"}},
		`{"size":"large","sub":{"n":1},"id":18446744073709551615}`: {options: options{Size: "large"}, Sub: options{"small", 1}, ID: 18446744073709551615},
		`{"sub":{"size":"large"},"many":[{"n":2}]}`:                {options: options{Size: "small"}, Sub: options{Size: "large"}, Many: []options{{N: 2}}},
		`{"map":{"k":{"n":1}}}`:                                    {options: options{Size: "small"}, Sub: options{Size: "small"}, Map: map[string]options{"k": {N: 1}}},
	} {
		var got in
		require.NoError(t, of.Decode([]byte(arguments), &got), arguments)
		assert.Equal(t, want, got, arguments)
	}
	var got in
	assert.ErrorContains(t, of.Decode([]byte(`{"size":"huge"}`), &got), "enum")
}
