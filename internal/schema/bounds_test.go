package schema

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/schema/schematest"
)

// list is n items of a format, in which % stands for the number of the item.
func list(n int, format string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(format, "%", fmt.Sprint(i))
	}
	return strings.Join(items, ",")
}

// escaped is about size bytes of a string, all escapes.
func escaped(size int) string { return strings.Repeat(`\u0041`, size/6) }

// shapes are schemas that cost more than their size if a loop is careless. Each
// makes one of about size bytes.
var shapes = map[string]func(size int) string{
	"branches that share a property": func(size int) string {
		return `{"allOf":[` + list(size/50, `{"properties":{"a":{"minLength":%,"type":"string"}}}`) + `]}`
	},
	"branches that share a large property": func(size int) string {
		large := `{"enum":[` + list(size/20, `"%"`) + `]}`
		return `{"properties":{"a":` + large + `},"allOf":[` + list(size/60, `{"properties":{"a":{"enum":["%"]}}}`) + `]}`
	},
	"branches with a property each": func(size int) string {
		return `{"allOf":[` + list(size/40, `{"properties":{"a%":{}},"required":["a%"]}`) + `]}`
	},
	"unions beside many properties": func(size int) string {
		return `{"properties":{` + list(size/40, `"a%":{}`) + `},"allOf":[` + list(size/120, `{"anyOf":[{"properties":{"b%":{}}},{"properties":{"c":{}}}]}`) + `]}`
	},
	"unknown keywords of the root": func(size int) string {
		return `{"not":{},` + list(size/14, `"x-%":%`) + `}`
	},
	"unknown keywords before a known one": func(size int) string {
		return `{"properties":{"a":{` + list(size/28, `"x-%":1`) + `,"type":"int"}},"allOf":[` + list(size/28, `{"title":"%"}`) + `]}`
	},
	"patterns of names that repeat": func(size int) string {
		return `{"properties":{"$":{}},"patternProperties":{` + list(size/40, `"^(%a{1,1000}){1}b{900}":{}`) + `}}`
	},
	"patterns with large classes": func(size int) string {
		return `{"patternProperties":{` + list(size/3100, `"%`+strings.Repeat(`\\pL`, 750)+`":{}`) + `}}`
	},
	"patterns with cases": func(size int) string {
		return `{"patternProperties":{` + list(size/80, `"(?i)[%-\ud83a\udd42]{2}[%-\ud83a\udd41]{3}":{}`) + `}}`
	},
	"long names and patterns": func(size int) string {
		return `{"properties":{"$` + strings.Repeat("a", size/2) + `":{}},"patternProperties":{` + list(size/60, `"^(a|a|b%)*c":{}`) + `}}`
	},
	"names that clash when renamed": func(size int) string {
		x := strings.Repeat("x", 58)
		return `{"properties":{` + list(size/160, `"`+x+`_%":{},"$`+x+`_%":{}`) + `}}`
	},
	"names that clash in their beginning": func(size int) string {
		x := strings.Repeat("x", 64)
		return `{"properties":{` + list(size/75, `"`+x+`%":{}`) + `}}`
	},
	"references to missing anchors": func(size int) string {
		return `{"$defs":{` + list(size/40, `"d%":{"$anchor":"a%"}`) + `},"properties":{` + list(size/50, `"p%":{"$ref":"#b%"}`) + `}}`
	},
	"references to missing anchors of a resource": func(size int) string {
		return `{"$defs":{"r":{"$id":"r","properties":{` + list(size/50, `"p%":{"$ref":"#b%"}`) + `},"$defs":{` + list(size/40, `"d%":{}`) + `}}},"$ref":"r"}`
	},
	"references to a large default": func(size int) string {
		return `{"$defs":{"d":{"default":[` + list(size/16, `%`) + `]}},"properties":{` + list(size/56, `"p%":{"$ref":"#/$defs/d"}`) + `}}`
	},
	"references to a large enum": func(size int) string {
		return `{"$defs":{"d":{"enum":[` + list(size/16, `"%"`) + `]}},"properties":{` + list(size/56, `"p%":{"$ref":"#/$defs/d"}`) + `}}`
	},
	"references to a long type": func(size int) string {
		return `{"$defs":{"d":{"type":[` + strings.TrimSuffix(strings.Repeat(`"null",`, size/14), ",") + `]}},"properties":{` + list(size/56, `"p%":{"$ref":"#/$defs/d","type":"null"}`) + `}}`
	},
	"references to many keywords": func(size int) string {
		return `{"$defs":{"d":{` + list(size/28, `"x-%":1`) + `}},"properties":{` + list(size/70, `"p%":{"$ref":"#/$defs/d","x-a":%}`) + `}}`
	},
	"references that fan out": func(size int) string {
		return `{"$defs":{"l0":{"anyOf":[` + list(size/24, `{"const":%}`) + `]},` +
			list(7, `"m%":{"type":"object","properties":{"a":{"$ref":"#/$defs/m%1"},"b":{"$ref":"#/$defs/l0"}}}`) + `},"properties":{` +
			list(size/60, `"p%":{"$ref":"#/$defs/l0"}`) + `}}`
	},
	"references that double": func(size int) string {
		var defs strings.Builder
		for i := range size / 90 {
			fmt.Fprintf(&defs, `"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+2)
		}
		return `{"$ref":"#/$defs/d0","$defs":{` + defs.String() + `"z":{}}}`
	},
	"references into members": func(size int) string {
		return `{` + list(size/60, `"h%":{"a":{}}`) + `,"properties":{` + list(size/60, `"p%":{"$ref":"#/h%/a"}`) + `}}`
	},
	"long references": func(size int) string {
		return `{"properties":{` + list(size/1040, `"p%":{"$ref":"#`+strings.Repeat("/p", 500)+`%"}`) + `}}`
	},
	"clauses that were said": func(size int) string {
		return `{"description":"` + strings.Repeat("Not allowed: a. ", size/32) + `","properties":{` + list(size/44, `"a%":false,"b%":false`) + `}}`
	},
	"clauses that are in the description": func(size int) string {
		return `{"description":"` + strings.ReplaceAll(list(size/44, `Not allowed: a%.`), ",", " ") + `","properties":{` + list(size/28, `"a%":false`) + `}}`
	},
	"clauses in a long description": func(size int) string {
		return `{"description":"` + strings.Repeat("d", size/2) + `","properties":{` + list(size/28, `"a%":false`) + `}}`
	},
	"clauses of the root": func(size int) string {
		return `{"allOf":[` + list(size/28, `{"not":{"const":%}}`) + `]}`
	},
	"required names in no order": func(size int) string {
		n := size / 26
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf(`"a%d"`, n-i-1)
		}
		return `{"type":"object","properties":{` + list(n, `"a%":{}`) + `},"required":[` + strings.Join(names, ",") + `]}`
	},
	"unions of many properties": func(size int) string {
		return `{"oneOf":[` + list(size/1200, `{"properties":{`+strings.ReplaceAll(list(40, `"a%":{"const":@}`), "@", "%")+`},"required":["a1"]}`) + `]}`
	},
	"in place within one another": func(size int) string {
		nested := `{}`
		for range 400 {
			nested = `{"anyOf":[` + nested + `,{"const":1}]}`
		}
		return `{"properties":{` + list(size/len(nested)+1, `"p%":`+nested) + `}}`
	},
	"beyond ten levels": func(size int) string {
		nested := `{"type":"string"}`
		for range 300 {
			nested = `{"type":"object","properties":{"a":` + nested + `,"b":{"anyOf":[{"type":"integer"},{"$ref":"#"}]}}}`
		}
		return `{"properties":{` + list(size/len(nested)+1, `"$p%":`+nested) + `}}`
	},
	"alternatives that multiply": func(size int) string {
		return `{"properties":{"a":{"allOf":[` + list(size/110, `{"anyOf":[{"properties":{"b":{"minLength":%}}},{"properties":{"c%":{}}},{"type":"null"}]}`) + `]}}}`
	},
	"properties of names alone": func(size int) string {
		return `{"properties":{` + list(size/48, `"%":{"$ref":"#","items":{}}`) + `},"patternProperties":{` + list(size/48, `"^%":{"properties":{"$":{}}}`) + `}}`
	},
	"references beside a long $id": func(size int) string {
		return `{"$defs":{"d":{"$id":"` + escaped(size/2) + `","properties":{` + list(size/80, `"p%":{"$ref":"x%#/a"}`) + `}}},"$ref":"#/$defs/d"}`
	},
	"references to a type with escapes": func(size int) string {
		return `{"$defs":{"d":{"type":["null","` + escaped(size/2) + `"]}},"properties":{` + list(size/70, `"p%":{"$ref":"#/$defs/d"}`) + `}}`
	},
	"a long name that many values may require": func(size int) string {
		return `{"$defs":{"d":{"properties":{"$":{}},"required":["` + escaped(size/3) + `"]}},"properties":{` + list(size/110, `"p%":{"allOf":[{"$ref":"#/$defs/d"},{"maxProperties":%}]}`) + `}}`
	},
	"a long name that others depend on": func(size int) string {
		return `{"$defs":{"d":{"dependentRequired":{"a":["` + escaped(size/3) + `"]}}},"properties":{` + list(size/110, `"p%":{"allOf":[{"$ref":"#/$defs/d"},{"maxProperties":%}]}`) + `}}`
	},
	"an enum of large values": func(size int) string {
		return in(`{"enum":[` + list(size/220, `{"a":[`+strings.Repeat("1,", 90)+`%]}`) + `]}`)
	},
}

// cost is what a schema costs to normalize and to plan.
type cost struct {
	steps, counted, allocated int
	planned                   int // allocated for the plan
	out                       []byte
	reason                    error
}

func measure(t testing.TB, schema string) (c cost) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := begin(context.Background(), nil, len(schema))
	full := p.meter
	c.reason = p.run(func() {
		var err error
		_, c.out, _, err = Normalizer{}.normalize(p, []byte(schema))
		require.NoError(t, err)
	})
	c.steps, c.counted = full.steps-p.steps, full.bytes-p.bytes
	p.release()
	runtime.ReadMemStats(&after)
	c.allocated = int(after.TotalAlloc - before.TotalAlloc)
	_, err := compile(context.Background(), []byte(schema), nil)
	require.NoError(t, err)
	runtime.ReadMemStats(&before)
	c.planned = int(before.TotalAlloc - after.TotalAlloc)
	return c
}

// Whatever a server writes, the steps and the bytes that are counted are within
// those of its size, and nothing to speak of is allocated without being counted.
func TestBounds(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			sizes := []int{10_000, 300_000}
			if raceEnabled {
				sizes = sizes[:1] // it takes ten times as long
			}
			for _, size := range sizes {
				schema := shape(size)
				c := measure(t, schema)
				n := len(schema)
				t.Logf("%d bytes: %d steps (%.1f a byte), %d bytes counted (%.1f a byte), %d allocated (%.1f a byte), %d out, %v",
					n, c.steps, float64(c.steps)/float64(n), c.counted, float64(c.counted)/float64(n), c.allocated, float64(c.allocated)/float64(n), len(c.out), c.reason)
				full := newMeter(context.Background(), nil, n)
				if !raceEnabled {
					assert.LessOrEqual(t, c.allocated, 3*min(c.counted, full.bytes)+1<<20)
					assert.LessOrEqual(t, c.planned, 3*full.bytes/2+1<<20)
				}
				if c.reason == nil {
					assert.LessOrEqual(t, c.steps, full.steps+stepsPerLook)
				}
				if c.reason == nil && size < 100_000 { // the checker is slow
					schematest.Check(t, c.out)
				}
			}
		})
	}
}

func BenchmarkShapes(b *testing.B) {
	for name, shape := range shapes {
		for _, kib := range []int{1, 8, 64, 512, 1000} {
			schema := []byte(shape(kib << 10))
			if len(schema) > maxSchema {
				continue
			}
			b.Run(fmt.Sprintf("%s/%dKiB", name, kib), func(b *testing.B) {
				b.SetBytes(int64(len(schema)))
				b.ReportAllocs()
				for b.Loop() {
					_, plan, err := Normalize(schema)
					if err == nil {
						_, err = plan.Repair(b.Context(), []byte(`{"a":"1"}`))
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The end of the context ends the work on a schema, and that on a plan, which
// the next call then does.
func TestContextEndsTheWork(t *testing.T) {
	schema := []byte(in(`{"enum":[` + list(50_000, `"v%"`) + `]}`))
	ctx, cancel := context.WithCancel(t.Context())
	normalizer := Normalizer{Budget: NewBudget(ctx)}
	_, plan, err := normalizer.Normalize(schema)
	require.NoError(t, err)
	cancel()
	_, _, err = normalizer.Normalize(schema)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = plan.Repair(ctx, []byte(`{"p":"1"}`))
	assert.ErrorIs(t, err, context.Canceled)
	out, err := plan.Repair(t.Context(), []byte(`{"p":null}`))
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(out))
}

// The schemas of a listing share what they may take beyond their sizes.
func TestBudgetIsShared(t *testing.T) {
	var said []string
	budget := NewBudget(t.Context())
	normalizer := Normalizer{Budget: budget, Warn: func(reason string) { said = append(said, reason) }}
	growing := []byte(`{"properties":{` + list(300, `"p%":{"$ref":"#/$defs/d"}`) + `},"$defs":{"d":{"enum":[` + list(100, `"v%"`) + `]}}}`)
	grown := 0
	for range 5000 {
		out, _, err := normalizer.Normalize(growing)
		require.NoError(t, err)
		if grown += max(len(out)-len(growing), 0); len(said) > 0 {
			break
		}
	}
	assert.LessOrEqual(t, grown, listingGrowth+5000*(len(growing)/2+ownGrowth))
	assert.Equal(t, []string{"is one of too many that take much work to read: it accepts any object instead"}, said)
	for _, schema := range []string{string(cleanSchema), string(rewritingSchema), in(`{"type":"array"}`)} {
		out, _, err := normalizer.Normalize([]byte(schema))
		require.NoError(t, err)
		assert.NotEqual(t, giveUp, string(out), "others have their own share")
	}
}

// What is read of a schema that is longer than any may be takes no more than one
// of the bound would, and ends with its context.
func TestReadIsBounded(t *testing.T) {
	schema := []byte(`{"enum":[` + strings.Repeat("1,", 8<<20) + `1]}`)
	ctx, cancel := context.WithCancel(t.Context())
	for _, end := range []func(){func() {}, cancel} {
		end()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _, n := Normalizer{Budget: NewBudget(ctx)}.Read(schema)
		runtime.ReadMemStats(&after)
		assert.Zero(t, n)
		most := 3 * (bytesPerByte*maxSchema + freeBytes)
		if ctx.Err() != nil {
			most = 1 << 20
		}
		assert.LessOrEqual(t, int(after.TotalAlloc-before.TotalAlloc), most)
	}
}
