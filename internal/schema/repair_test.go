package schema

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func planFor(t *testing.T, schema string) *Plan {
	t.Helper()
	_, plan := normal(t, schema)
	return plan
}

func TestRepairOuterForm(t *testing.T) {
	plan := planFor(t, `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":["integer","null"]},"$x":{}},"required":["path"]}`)
	for _, plan := range []*Plan{nil, {}, plan} {
		for in, want := range map[string]string{
			``:                           `{}`,
			" \n":                        `{}`,
			`null`:                       `{}`,
			` {} `:                       `{}`,
			`""`:                         `{}`,
			`" \n\t"`:                    `{}`,
			`"{\"path\":\"a\\n\"}"`:      `{"path":"a\n"}`,
			`" {\"a\":1} "`:              `{"a":1}`,
			`{"a":"\ud83d"}`:             `{"a":"\ufffd"}`,
			"{\"a\":\"\xff\n\"}":         "{\"a\":\"\uFFFD\\n\"}",
			`{"z":1 , "a":2,"Z":"<&>"} `: `{"z":1 , "a":2,"Z":"<&>"}`,
		} {
			out, err := plan.Repair(t.Context(), []byte(in))
			require.NoError(t, err, in)
			assert.Equal(t, want, string(out))
		}
		for in, reason := range map[string]string{
			`{"path": `:                 "the JSON text ends too early",
			`{"path":"a"} trailing`:     "there is more text after the JSON value",
			`{"path":"a"}{"path":"b"}`:  "there is more text after the JSON value",
			`{'path':'a'}`:              "the text is not JSON",
			`path`:                      "the text is not JSON",
			`"{}`:                       "the JSON text ends too early",
			`[]`:                        "they are an array, not an object",
			`[{"a":1}]`:                 "they are an array, not an object",
			`42`:                        "they are a number, not an object",
			`true`:                      "they are a boolean, not an object",
			`"text"`:                    "they are a string, not an object",
			`"\"{}\""`:                  "they are a string, not an object",
			`"{\"path\":"`:              "the JSON text ends too early",
			`{"a":1,"a":2}`:             `the key "a" is there twice`,
			`{"a":1,"\u0061":2}`:        `the key "a" is there twice`,
			`{"x":[{"b":1,"b":2}]}`:     `the key "b" is there twice`,
			`{"a":{"b":{"b":1,"b":2}}}`: `the key "b" is there twice`,
			strings.Repeat("[", 20000):  "the JSON text nests too deeply",
			`{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`: "the JSON text nests too deeply",
		} {
			out, err := plan.Repair(t.Context(), []byte(in))
			require.Error(t, err, in)
			assert.Nil(t, out)
			assert.True(t, strings.HasPrefix(err.Error(), "reading the arguments: "+reason+"; expected a JSON object"), err.Error())
		}
	}
	_, err := plan.Repair(t.Context(), []byte("[]"))
	assert.EqualError(t, err, "reading the arguments: they are an array, not an object; "+
		"expected a JSON object with path (string, required), n (integer or null), _x (any)")
}

func TestRepairErrorIsBounded(t *testing.T) {
	var props []string
	for i := range 3000 {
		props = append(props, fmt.Sprintf(`"p%d%s":{"type":["string","number","null","array"]}`, i, strings.Repeat("é", 100)))
	}
	plan := planFor(t, `{"properties":{`+strings.Join(props, ",")+`}}`)
	key := strings.Repeat("k", 1000)
	for _, in := range []string{"[]", `{"` + key + `":1,"` + key + `":2}`} {
		_, err := plan.Repair(t.Context(), []byte(in))
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 2048)
		assert.True(t, strings.HasSuffix(err.Error(), ", and more"))
	}
}

// Where nothing is to be repaired, the result is "".
func TestRepairValues(t *testing.T) {
	for _, c := range []struct{ schema, in, want string }{
		// strings where none is allowed
		{`{"type":"integer"}`, `"10"`, `10`},
		{`{"type":"integer"}`, `"-10"`, `-10`},
		{`{"type":"integer"}`, `"9007199254740993"`, `9007199254740993`},
		{`{"type":"integer"}`, `"10.0"`, ``},
		{`{"type":"integer"}`, `"1.5"`, ``},
		{`{"type":"integer"}`, `"1,000"`, ``},
		{`{"type":"integer"}`, `"007"`, ``},
		{`{"type":"integer"}`, `" 1"`, ``},
		{`{"type":"integer"}`, `"1 "`, ``},
		{`{"type":"integer"}`, `"1\n"`, ``},
		{`{"type":"integer"}`, `"+1"`, ``},
		{`{"type":"integer"}`, `"0x10"`, ``},
		{`{"type":"integer"}`, `""`, ``},
		{`{"type":"integer"}`, `"ten"`, ``},
		{`{"type":"integer"}`, `"true"`, ``},
		{`{"type":"integer"}`, `"null"`, ``},
		{`{"type":"number"}`, `"1.50"`, `1.50`},
		{`{"type":"number"}`, `"1e3"`, `1e3`},
		{`{"type":"number"}`, `"1."`, ``},
		{`{"type":"number"}`, `"NaN"`, ``},
		{`{"type":"number"}`, `"\u0031"`, `1`},
		{`{"type":"boolean"}`, `"true"`, `true`},
		{`{"type":"boolean"}`, `"false"`, `false`},
		{`{"type":"boolean"}`, `"True"`, ``},
		{`{"type":"boolean"}`, `"1"`, ``},
		{`{"type":["integer","boolean","null"]}`, `"true"`, `true`},
		{`{"type":["integer","string"]}`, `"10"`, ``},
		{`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"10"`, ``},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"10"`, `10`},
		{`{"anyOf":[{"type":"integer"},{}]}`, `"10"`, ``},
		{`{"oneOf":[{"type":"integer"},{"type":"boolean"}]}`, `"10"`, `10`},
		{`{"allOf":[{"type":["integer","string"]},{"type":["integer","null"]}]}`, `"10"`, `10`},
		{`{"enum":[1,2]}`, `"2"`, `2`},
		{`{"const":true}`, `"true"`, `true`},
		{`{"enum":[1,"2"]}`, `"2"`, ``},
		{`{}`, `"10"`, ``},
		{`{"type":"any"}`, `"10"`, ``},
		{`{"type":"int"}`, `"10"`, `10`},
		{`{"type":"integer","nullable":true}`, `"10"`, `10`},
		{`{"type":"array","items":{"type":"string"}}`, `"[\"a\", \"b\"]"`, `["a", "b"]`},
		{`{"type":"array","items":{"type":"integer"}}`, `" [\"1\"] "`, `[1]`},
		{`{"type":"array","items":{"type":"integer"}}`, `"{}"`, ``},
		{`{"type":"array"}`, `"a,b"`, ``},
		{`{"type":"array"}`, `"[a]"`, ``},
		{`{"type":"array"}`, `"[1] 2"`, ``},
		{`{"type":["array","string"]}`, `"[1]"`, ``},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, `"{\"n\":\"1\",\"s\":\"<\\n\"}"`, `{"n":1,"s":"<\n"}`},
		{`{"type":"object"}`, `"{\"a\":\"\\ud800\"}"`, `{"a":"\ufffd"}`},
		{`{"type":["object","array"]}`, `"[{}]"`, `[{}]`},
		{`{"type":"string"}`, `"{\"a\":1}"`, ``},
		{`{"type":"string"}`, `10`, ``},
		// numbers
		{`{"type":"integer"}`, `3.0`, `3`},
		{`{"type":"integer"}`, `-3.000`, `-3`},
		{`{"type":"integer"}`, `3.10`, ``},
		{`{"type":"integer"}`, `-0.0`, ``},
		{`{"type":"integer"}`, `3.0e0`, ``},
		{`{"type":"integer"}`, `12345678901234567890.0`, `12345678901234567890`},
		{`{"type":"number"}`, `3.0`, ``},
		{`{"type":["integer","string"]}`, `3.0`, `3`},
		{`{"anyOf":[{"type":"integer"},{"type":"number"}]}`, `3.0`, ``},
		{`{}`, `3.0`, ``},
		// depth
		{`{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}`, `[ {"n":"1"}, {"n" : 2.0 } , {"m":"3"}, 4]`, `[ {"n":1}, {"n" : 2 } , {"m":"3"}, 4]`},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"a":"1","b":"x","c":null}`, `{"a":1,"b":"x","c":null}`},
		{`{"type":"object","patternProperties":{"^s":{"type":"string"}},"additionalProperties":{"type":"integer"}}`, `{"s":"1"}`, ``},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"boolean"}}`, `["1","2","true"]`, `["1",2,true]`},
		{`{"type":"array","items":[{"type":"string"},{"type":"integer"}]}`, `["1","2","3"]`, `["1",2,"3"]`},
		{`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"}}},{"type":"null"}]}`, `{"n":"1"}`, `{"n":1}`},
		{`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"}}},{"type":"object","properties":{"m":{}}}]}`, `{"n":"1"}`, ``},
		{`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"}}},{"type":"object","properties":{"m":{}},"additionalProperties":false}]}`, `{"n":"1"}`, `{"n":1}`},
		{`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"}}},{"type":"object","properties":{"n":{"type":"string"}}}]}`, `{"n":"1"}`, ``},
		// everything else
		{`{"type":"object","properties":{"s":{"type":"string"},"b":{"type":"boolean"},"n":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}}}}`, `{"s":"","b":false,"n":0,"l":[]}`, ``},
		{`{"type":"string"}`, `"a<b && c>d \u2028 \ud83d\ude00 \/"`, ``},
	} {
		plan := planFor(t, in(c.schema))
		want := c.want
		if want == "" {
			want = c.in
		}
		for _, form := range []string{`{"p":%s}`, `{ "q":"1", "p" : %s , "r":[1.0]}`} {
			arguments := []byte(fmt.Sprintf(form, c.in))
			out, err := plan.Repair(t.Context(), arguments)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf(form, want), string(out), "%s: %s", c.schema, c.in)
			if c.want == "" {
				assert.Same(t, &arguments[0], &out[0], "not copied")
			}
			again, err := plan.Repair(t.Context(), out)
			require.NoError(t, err)
			assert.Equal(t, string(out), string(again))
		}
	}
}

func TestRepairNulls(t *testing.T) {
	plan := planFor(t, `{"type":"object","properties":{"query":{"type":"string"},"country":{"type":"string"},"parent":{"type":["string","null"]},"clear":{"anyOf":[{"type":"string"},{"type":"null"}]},"old":{"type":"string","nullable":true},"open":{},"o":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"required":["y"]},"l":{"type":"array","items":{"type":"integer"}}},"required":["query"],"dependentRequired":{"query":["dep"]},"if":{},"then":{"required":["then"]}}`)
	for in, want := range map[string]string{
		`{"query":"x","country":null,"parent":null,"clear":null,"old":null,"open":null}`: `{"query":"x","parent":null,"clear":null,"old":null,"open":null}`,
		`{"query":null}`:                           `{"query":null}`,
		`{"country":null}`:                         `{}`,
		`{ "country" : null }`:                     `{  }`,
		`{"country":null,"l":null}`:                `{}`,
		`{ "country":null , "l":null,"query":"x"}`: `{ "query":"x"}`,
		`{"query":"x" ,"country":null , "l":null}`: `{"query":"x"}`,
		`{"country":null,"query":"x","l":null}`:    `{"query":"x"}`,
		`{"o":{"x":null,"y":null},"l":[null]}`:     `{"o":{"y":null},"l":[null]}`,
		`{"o":{"x":null},"country":null}`:          `{"o":{}}`,
		`{"unknown":null}`:                         `{"unknown":null}`,
		`{"country":"null"}`:                       `{"country":"null"}`,
	} {
		out, err := plan.Repair(t.Context(), []byte(in))
		require.NoError(t, err)
		assert.Equal(t, want, string(out), in)
	}
	for schema, in := range map[string]string{
		`{"properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`:                `{"a":null}`,
		`{"properties":{"a":{"type":"string"},"b":{}},"dependentRequired":{"b":["a"]}}`:                         `{"a":null}`,
		`{"properties":{"a":{"type":"string"},"b":{}},"dependencies":{"b":["a"]}}`:                              `{"a":null}`,
		`{"properties":{"a":{"type":"string"},"b":{}},"dependentSchemas":{"b":{"allOf":[{"required":["a"]}]}}}`: `{"a":null}`,
		`{"properties":{"a":{"type":"string"}},"if":{},"else":{"required":["a"]}}`:                              `{"a":null}`,
		`{"properties":{"a":{"type":"string","required":true}}}`:                                                `{"a":null}`,
	} {
		out, err := planFor(t, schema).Repair(t.Context(), []byte(in))
		require.NoError(t, err)
		assert.Equal(t, in, string(out), schema)
	}
}

func TestRepairNames(t *testing.T) {
	plan := planFor(t, `{"type":"object","properties":{"$meta":{"type":"integer"},"list":{"type":"array","items":{"type":"object","properties":{"a b":{"type":"string"},"_meta":{}}}},"t":{"prefixItems":[{"properties":{"$meta":{}}}]},"m":{"type":"object","additionalProperties":{"type":"object","properties":{"$meta":{}}}},"u":{"anyOf":[{"type":"object","properties":{"$meta":{}}},{"type":"object","properties":{"z":{}}},{"type":"null"}]},"free":{"type":"object"},"r":{"$ref":"#"}},"required":["$meta"]}`)
	for in, want := range map[string]string{
		`{"_meta_2":"1","_meta":2}`: `{"$meta":1,"_meta":2}`,
		`{"_meta_\u0032": 1 }`:      `{"$meta": 1 }`,
		`{"$meta":"1"}`:             `{"$meta":1}`,
		`{"$meta":1,"_meta_2":2}`:   `{"$meta":1,"_meta_2":2}`,
		`{"list":[{"a_b":"x","_meta":1},{"a_b":null,"_meta_2":3}]}`: `{"list":[{"a b":"x","_meta":1},{"_meta_2":3}]}`,
		`{"t":[{"_meta_2":1},{"_meta_2":1}]}`:                       `{"t":[{"$meta":1},{"_meta_2":1}]}`,
		`{"m":{"_meta_2":{"_meta_2":1}}}`:                           `{"m":{"_meta_2":{"$meta":1}}}`,
		`{"u":{"_meta_2":1}}`:                                       `{"u":{"$meta":1}}`,
		`{"free":{"_meta_2":1,"a_b":2}}`:                            `{"free":{"_meta_2":1,"a_b":2}}`,
		`{"r":{"r":{"r":{"_meta_2":"1"}}}}`:                         `{"r":{"r":{"r":{"$meta":1}}}}`,
		`{"list":"[{\"a_b\":\"x\"}]"}`:                              `{"list":[{"a b":"x"}]}`,
	} {
		out, err := plan.Repair(t.Context(), []byte(in))
		require.NoError(t, err)
		assert.Equal(t, want, string(out), in)
	}
	for _, c := range []struct{ schema, in, want string }{
		{`{"required":["$x"]}`, `{"_x":1}`, `{"$x":1}`},
		{in(`{"required":["$x"]}`), `{"p":{"_x":1},"q":{"_x":1}}`, `{"p":{"$x":1},"q":{"_x":1}}`},
		// Where one alternative says nothing, another's names are still new.
		{in(`{"anyOf":[{"properties":{"l":{"items":{"properties":{"$x":{"type":"integer"}}}}}},{}]}`), `{"p":{"l":[{"_x":"1"}],"_x":1}}`, `{"p":{"l":[{"$x":"1"}],"_x":1}}`},
		{in(`{"anyOf":[{"items":{"properties":{"$x":{}}}},{"type":"string"},{}]}`), `{"p":[{"_x":1}]}`, `{"p":[{"$x":1}]}`},
		{in(`{"if":{},"then":{"properties":{"$x":{}}},"else":{"properties":{"a":{"properties":{"$x":{}}}}}}`), `{"p":{"_x":1,"a":{"_x":null}}}`, `{"p":{"$x":1,"a":{"$x":null}}}`},
		{in(`{"patternProperties":{"^a":{"properties":{"$x":{}}}}}`), `{"p":{"a":{"_x":1}}}`, `{"p":{"a":{"$x":1}}}`},
		{in(`{"not":{"required":["$x"]},"contains":{"properties":{"$x":{}}}}`), `{"p":[{"_x":1}]}`, `{"p":[{"$x":1}]}`},
		{in(`{"dependentSchemas":{"a":{"properties":{"$x":{"type":"integer"}}}}}`), `{"p":{"_x":"1"}}`, `{"p":{"$x":"1"}}`},
	} {
		out, err := planFor(t, c.schema).Repair(t.Context(), []byte(c.in))
		require.NoError(t, err)
		assert.Equal(t, c.want, string(out), c.schema)
	}
	plan = planFor(t, `{"oneOf":[{"properties":{"k/1":{"const":1}}},{"properties":{"k/1":{"const":2},"k_1":{}}}]}`)
	out, err := plan.Repair(t.Context(), []byte(`{"k_1_2":"1","k_1":0}`))
	require.NoError(t, err)
	assert.Equal(t, `{"k/1":1,"k_1":0}`, string(out))
}

func TestRepairRecursion(t *testing.T) {
	plan := planFor(t, `{"type":"object","properties":{"tree":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object","properties":{"n":{"type":"integer"},"kids":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/Node"},{"type":"null"}]}}}}}}`)
	in, want := `"1"`, `1`
	for range 50 {
		in, want = `{"n":`+in+`}`, `{"n":`+want+`}`
		in = strings.Replace(in, `{"n":{`, `{"kids":[{`, 1)
		want = strings.Replace(want, `{"n":{`, `{"kids":[{`, 1)
		if strings.HasPrefix(in, `{"kids":[`) {
			in, want = strings.TrimSuffix(in, "}")+"]}", strings.TrimSuffix(want, "}")+"]}"
		}
	}
	out, err := plan.Repair(t.Context(), []byte(`{"tree":`+in+`}`))
	require.NoError(t, err)
	assert.Equal(t, `{"tree":`+want+`}`, string(out))

	// A string in a string, as deep as a decoded text may be.
	deep := strings.Repeat(`{"tree":`, 990) + `"[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]"` + strings.Repeat("}", 990)
	plan = planFor(t, `{"type":"object","properties":{"tree":{"anyOf":[{"$ref":"#"},{"type":"array"}]}}}`)
	out, err = plan.Repair(t.Context(), []byte(deep))
	require.NoError(t, err)
	assert.Equal(t, deep, string(out), "what would nest too deeply stays")
}

func TestRepairConcurrently(t *testing.T) {
	plan := planFor(t, string(rewritingSchema))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			out, err := plan.Repair(t.Context(), []byte(`{"page":"2","_filter":{"author":null}}`))
			assert.NoError(t, err)
			assert.Equal(t, `{"page":2,"$filter":{}}`, string(out))
		})
	}
	group.Wait()
}

var cleanArguments = []byte(`{"owner":"someone","repo":"something","state":"open","labels":["bug","help wanted"],"since":"2026-01-02T03:04:05Z","page":2,"perPage":50,"filter":{"author":"x","milestone":null}}`)

func TestRepairAllocatesNothing(t *testing.T) {
	plan := planFor(t, string(cleanSchema))
	_, err := plan.Repair(t.Context(), cleanArguments)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := plan.Repair(t.Context(), cleanArguments); err != nil {
			t.Fatal(err)
		}
	}))
}

func BenchmarkRepair(b *testing.B) {
	_, plan, err := Normalize(cleanSchema)
	require.NoError(b, err)
	large := []byte(`{"owner":"` + strings.Repeat("x", 1<<20) + `"}`)
	for name, arguments := range map[string][]byte{
		"nothing": cleanArguments,
		"edits":   []byte(`{"owner":"someone","repo":"something","page":"2","perPage":50.0,"since":null}`),
		"large":   large,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(arguments)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := plan.Repair(b.Context(), arguments); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := newPlan(cleanSchema, nil).Repair(b.Context(), cleanArguments); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A schema that stands where a list of them belongs is the only one in it, for
// names, references and plans as well.
func TestRepairAloneInList(t *testing.T) {
	const object = `{"type":"object","properties":{"$x":{"type":"integer"}}}`
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		for _, c := range []struct{ schema, want, in, out string }{
			{in(`{"` + k + `":` + object + `}`), in(`{"` + k + `":[{"type":"object","properties":{"_x":{"type":"integer"}}}]}`), `{"p":{"_x":"5"}}`, `{"p":{"$x":5}}`},
			{`{"` + k + `":{"$ref":"#/$defs/d"},"$defs":{"d":` + object + `}}`, `{"type":"object","properties":{"_x":{"type":"integer"}}}`, `{"_x":"5"}`, `{"$x":5}`},
		} {
			out, plan := normal(t, c.schema)
			assert.Equal(t, c.want, out)
			repaired, err := plan.Repair(t.Context(), []byte(c.in))
			require.NoError(t, err)
			assert.Equal(t, c.out, string(repaired))
		}
	}
}
