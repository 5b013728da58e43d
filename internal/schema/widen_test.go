package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/schema/schematest"
)

// rounds is n, or a tenth of it under the race detector: there is one goroutine
// to watch, and it takes ten times as long.
func rounds(n int) int {
	if raceEnabled {
		return n / 10
	}
	return n
}

// A maker makes schemas and values that have a good chance to match them.
type maker struct{ *rand.Rand }

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

func (m maker) name() string { return m.one("a", "b", "$c", "_c", "x y") }

func (m maker) scalar() string {
	return m.one(`1`, `2`, `1.0`, `2.5`, `"a"`, `"b"`, `""`, `"aab"`, `null`, `true`, `false`)
}

func (m maker) value(depth int) string {
	switch m.IntN(5) {
	case 0, 1:
		return m.scalar()
	case 2:
		items := make([]string, m.IntN(4))
		for i := range items {
			items[i] = m.deeper(depth)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return m.object(depth)
}

func (m maker) deeper(depth int) string {
	if depth <= 0 {
		return m.scalar()
	}
	return m.value(depth - 1)
}

func (m maker) object(depth int) string {
	var members []string
	for _, name := range []string{"a", "b", "$c", "x y", "d"} {
		if m.IntN(2) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, m.deeper(depth)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (m maker) schema(depth int) string {
	if m.IntN(12) == 0 {
		return m.one("true", "false", "{}")
	}
	var members []string
	seen := map[string]bool{}
	for range 1 + m.IntN(3) {
		member := m.keyword(depth)
		if name, _, _ := strings.Cut(member, ":"); !seen[name] {
			seen[name] = true
			members = append(members, member)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (m maker) schemas(depth int) string {
	list := make([]string, 1+m.IntN(3))
	for i := range list {
		list[i] = m.schema(depth)
	}
	return "[" + strings.Join(list, ",") + "]"
}

func (m maker) named(depth int, name func() string) string {
	members := map[string]string{}
	var order []string
	for range 1 + m.IntN(3) {
		n := name()
		if members[n] == "" {
			order = append(order, n)
		}
		members[n] = m.schema(depth)
	}
	for i, n := range order {
		order[i] = fmt.Sprintf("%q:%s", n, members[n])
	}
	return "{" + strings.Join(order, ",") + "}"
}

func (m maker) keyword(depth int) string {
	if depth <= 0 || m.IntN(3) == 0 {
		switch m.IntN(13) {
		case 0, 1, 2:
			return `"type":` + m.one(`"string"`, `"integer"`, `"number"`, `"object"`, `"array"`, `"null"`, `["string","null"]`, `["object","array"]`, `["integer","boolean"]`)
		case 3:
			return `"enum":[` + m.scalar() + "," + m.value(1) + "]"
		case 4:
			return `"const":` + m.value(1)
		case 5:
			return `"pattern":` + m.one(`"a"`, `"^[a-b]*$"`, `"[a[]"`, `"(?i)A"`)
		case 6:
			return `"required":[` + fmt.Sprintf("%q,%q", m.name(), m.name()) + `]`
		case 7:
			return m.one(`"minimum":2`, `"exclusiveMaximum":2`, `"minLength":1`, `"maxItems":1`, `"minItems":1`, `"maxProperties":2`, `"uniqueItems":true`)
		case 8:
			return `"$ref":` + m.one(`"#/$defs/A"`, `"#/$defs/B"`, `"#/properties/a"`, `"#"`)
		case 9:
			return fmt.Sprintf(`"dependentRequired":{%q:[%q]}`, m.name(), m.name())
		case 10:
			return m.one(`"additionalProperties":false`, `"unevaluatedProperties":false`, `"unevaluatedItems":false`, `"items":false`)
		case 11:
			return m.one(`"minContains":2`, `"maxContains":1`, `"minContains":0`)
		default:
			return `"description":"d"`
		}
	}
	depth--
	switch m.IntN(18) {
	case 0, 1, 2, 3:
		return `"properties":` + m.named(depth, m.name)
	case 4:
		return `"patternProperties":` + m.named(depth, func() string { return m.one("^a", "c$", "[", "^[^a-z]") })
	case 5:
		return `"additionalProperties":` + m.schema(depth)
	case 6:
		return `"items":` + m.schema(depth)
	case 7:
		return `"prefixItems":` + m.schemas(depth)
	case 8:
		return `"contains":` + m.schema(depth)
	case 9:
		return `"anyOf":` + m.schemas(depth)
	case 10:
		return `"oneOf":` + m.schemas(depth)
	case 11:
		return `"allOf":` + m.schemas(depth)
	case 12:
		return `"not":` + m.schema(depth)
	case 13:
		return `"if":` + m.schema(depth) + `,"then":` + m.schema(depth) + `,"else":` + m.schema(depth)
	case 14:
		return `"dependentSchemas":` + m.named(depth, m.name)
	case 15:
		return `"propertyNames":` + m.schema(depth)
	case 16:
		return `"unevaluatedProperties":` + m.schema(depth)
	default:
		return `"unevaluatedItems":` + m.schema(depth)
	}
}

// A root whose unions are nested only: what a root union does not name is let
// in by intent otherwise.
func (m maker) root() string {
	root := `{"type":"object","properties":` + m.named(4, m.name)
	seen := map[string]bool{`"type"`: true, `"properties"`: true, `"anyOf"`: true, `"oneOf"`: true, `"$ref"`: true}
	for range m.IntN(4) {
		member := m.keyword(3)
		if name, _, _ := strings.Cut(member, ":"); !seen[name] && !(name == `"allOf"` && strings.Contains(member, "Of\":[")) {
			seen[name] = true
			root += "," + member
		}
	}
	if m.IntN(4) == 0 {
		root = `{"$schema":"http://json-schema.org/draft-07/schema#",` + root[1:]
		root = strings.Replace(root, `"prefixItems":`, `"additionalItems":`+m.schema(1)+`,"items":`, 1)
	}
	return root + `,"$defs":{"A":` + m.schema(3) + `,"B":` + m.schema(3) + `}}`
}

func resolve(schema string) *jsonschema.Resolved {
	parsed := new(jsonschema.Schema)
	if json.Unmarshal([]byte(schema), parsed) != nil {
		return nil
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved
}

// renamed is an instance as a model sees it.
func renamed(v any, names *renaming) any {
	if names == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if to, ok := names.names[key]; ok {
				key = to
			}
			out[key] = renamed(value, names)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = renamed(item, names)
		}
		return out
	}
	return v
}

// valid is Validate, for schemas that are recursive without end too.
func valid(r *jsonschema.Resolved, v any) bool { return r.Validate(v) == nil }

// parse returns a tree that stays.
func parse(data []byte) *node { return begin(context.Background(), nil, len(data)).read(data) }

// repairs is a plan's repair without a context.
func repairs(plan *Plan) func([]byte) (json.RawMessage, error) {
	return func(arguments []byte) (json.RawMessage, error) {
		return plan.Repair(context.Background(), arguments)
	}
}

// endless reports whether a schema refers to itself in place, on which the
// validator does not end.
func endless(schema string) bool {
	root := parse([]byte(schema))
	m := newMeter(context.Background(), nil, maxSchema)
	d := document{meter: &m, root: root, old: m.isOld(root)}
	var walk func(n, base *node, active []*node) bool
	visit := func(n *node) bool { return walk(n, d.root, nil) }
	walk = func(n, base *node, active []*node) bool {
		if !n.is('{') {
			return false
		}
		for _, a := range active {
			if a == n {
				return true
			}
		}
		active = append(active, n)
		if ref, ok := d.reference(n); ok {
			if target, base := d.find(ref, base); target != nil && walk(target, base, active) {
				return true
			}
		}
		for _, m := range n.members {
			k := keywordOf(m.name)
			in := schemasIn(k, m.value)
			if in == noSchema && k != kwDefs {
				continue
			}
			subs := []member{m}
			if in != oneSchema {
				subs = m.value.members
			}
			for _, sub := range subs {
				if has(inPlaceKeywords, k) && walk(sub.value, base, active) || !has(inPlaceKeywords, k) && len(active) == 1 && k != kwDefs && visit(sub.value) {
					return true
				}
			}
		}
		return false
	}
	return visit(d.root) || visit(d.root.get(kwDefs).property("A")) || visit(d.root.get(kwDefs).property("B"))
}

// widens checks that what the original accepts, the normal form accepts.
func widens(t *testing.T, seed uint64) (compared int) {
	m := maker{rand.New(rand.NewPCG(seed, 1))}
	schema := m.root()
	original := resolve(schema)
	if original == nil || endless(schema) {
		return 0
	}
	out, plan, err := Normalize([]byte(schema))
	if err != nil {
		return 0
	}
	require.Empty(t, schematest.Problems(out), schema)
	result := resolve(string(out))
	require.NotNil(t, result, "%s", out)
	var names *renaming
	if plan != nil {
		names = plan.names
	}
	for range 40 {
		text := m.object(3)
		var instance any
		require.NoError(t, json.Unmarshal([]byte(text), &instance))
		if !valid(original, instance) {
			continue
		}
		compared++
		err := result.Validate(renamed(instance, names))
		require.NoError(t, err, "seed %d\nschema %s\nnormal %s\ninstance %s", seed, schema, out, text)

		// What is right is left alone, but for fractions that are none.
		repaired, err := plan.Repair(t.Context(), []byte(text))
		require.NoError(t, err)
		whole := strings.NewReplacer("1.0", "1")
		require.Equal(t, whole.Replace(text), whole.Replace(string(repaired)), "seed %d\nschema %s", seed, schema)
	}
	// Instances made for the schema reach deeper. Not those that hold objects of
	// an enum: whether a model writes names in them as they were is open.
	if names != nil && regexp.MustCompile(`"(const|enum)":[^:]*\{`).MatchString(schema) {
		return compared
	}
	comparison := schematest.Compare([]byte(schema), out, 20, seed, repairs(plan))
	require.Empty(t, comparison.Problems, "seed %d\nschema %s\nnormal %s", seed, schema, out)
	return compared + comparison.Valid
}

func TestNormalizeWidens(t *testing.T) {
	compared, n := 0, rounds(400)
	for seed := range uint64(n) {
		compared += widens(t, seed)
	}
	require.Greater(t, compared, 3*n)
}

// widensUnion does the same for a root with a union, of whose branches one must
// name the properties that any of them names.
func widensUnion(t *testing.T, seed uint64) (compared int) {
	m := maker{rand.New(rand.NewPCG(seed, 3))}
	branches := make([]string, 1+m.IntN(3))
	for i := range branches {
		branches[i] = `{"properties":` + m.named(2, m.name)
		for _, more := range []string{
			fmt.Sprintf(`"required":[%q]`, m.name()), `"additionalProperties":false`, `"additionalProperties":` + m.schema(1), `"unevaluatedProperties":false`,
			`"patternProperties":` + m.named(1, func() string { return "^" + m.one("a", "d") }), `"minProperties":2`, `"type":"object"`, `"not":{"required":["d"]}`,
		} {
			if m.IntN(5) == 0 && (!strings.HasPrefix(more, `"add`) || !strings.Contains(branches[i], `"add`)) {
				branches[i] += "," + more
			}
		}
		branches[i] += "}"
	}
	defs := `,"$defs":{"A":{},"B":{"type":"string"}}}`
	root := `{"properties":` + m.named(2, m.name) + `,"` + m.one("anyOf", "oneOf") + `":[` + strings.Join(branches, ",") + "]"
	root += m.one("", `,"unevaluatedProperties":false`, `,"additionalProperties":false`, `,"patternProperties":{"^d":{}}`) + defs
	if strings.Contains(root, `"#"`) || strings.Contains(root, "#/properties") {
		return 0
	}
	original := resolve(root)
	out, plan, err := Normalize([]byte(root))
	if original == nil || err != nil {
		return 0
	}
	require.Empty(t, schematest.Problems(out), root)
	result := resolve(string(out))
	require.NotNil(t, result)
	unnamed := func(instance map[string]any, branch string) bool {
		names := parse([]byte(branch)).get(kwProperties)
		for _, other := range branches {
			for _, p := range parse([]byte(other)).get(kwProperties).members {
				if _, has := instance[p.name]; has && names.property(p.name) == nil {
					return true
				}
			}
		}
		return false
	}
	resolved := make([]*jsonschema.Resolved, len(branches))
	for i, branch := range branches {
		resolved[i] = resolve(strings.TrimSuffix(branch, "}") + defs)
	}
	for range 40 {
		var instance map[string]any
		text := m.object(1)
		require.NoError(t, json.Unmarshal([]byte(text), &instance))
		if !valid(original, instance) {
			continue
		}
		for i, branch := range branches {
			if valid(resolved[i], instance) && !unnamed(instance, branch) {
				compared++
				err := result.Validate(renamed(instance, plan.names))
				require.NoError(t, err, "seed %d\nschema %s\nnormal %s\ninstance %s", seed, root, out, text)
			}
		}
	}
	return compared
}

func TestNormalizeWidensUnions(t *testing.T) {
	compared, n := 0, rounds(800)
	for seed := range uint64(n) {
		compared += widensUnion(t, seed)
	}
	require.Greater(t, compared, n*3/4)
}

func FuzzWidensUnion(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { widensUnion(t, seed) })
}

func FuzzWidens(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { widens(t, seed) })
}

// wild is any JSON made of the words of schemas.
func (m maker) wild(depth int) string {
	if depth <= 0 || m.IntN(6) == 0 {
		return m.one(`1`, `-1`, `2.0`, `"a"`, `"string"`, `"object"`, `"Array"`, `"any"`, `"#"`, `"#/$defs/a"`, `"#/properties/a/items"`,
			`"("`, `"^a"`, `""`, `null`, `true`, `false`, `{}`, `[]`, `["a","a","$b"]`, `["object","null"]`, `"http://json-schema.org/draft-07/schema#"`)
	}
	n := m.IntN(5)
	if m.IntN(4) == 0 {
		items := make([]string, n)
		for i := range items {
			items[i] = m.wild(depth - 1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	members := make([]string, n)
	for i := range members {
		name := m.one("a", "$b", "c d", "_b", "x-y", "nullable", "$recursiveRef", rules[1+m.IntN(len(rules)-1)].name,
			rules[1+m.IntN(len(rules)-1)].name, m.one("type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "required", "enum", "$defs"))
		value := m.wild(depth - 1)
		if m.IntN(2) == 0 { // of the kind that it takes
			switch schemasIn(keywordOf(name), &node{kind: '['}) {
			case listOfSchemas:
				value = "[" + m.wild(depth-1) + "," + m.wild(depth-1) + "]"
			case noSchema:
				if rules[keywordOf(name)].want == wantSchemaMap {
					value = `{"a":` + m.wild(depth-1) + `,"$b":` + m.wild(depth-1) + `}`
				}
			}
		}
		members[i] = fmt.Sprintf("%q:%s", name, value)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func anyJSON(t *testing.T, seed uint64) {
	m := maker{rand.New(rand.NewPCG(seed, 2))}
	schema := m.wild(7)
	if m.IntN(2) == 0 {
		schema = `{"properties":` + m.named(1, m.name) + `,"$defs":{"a":` + schema + `},"allOf":[` + m.wild(5) + `,{"properties":{"p":` + m.wild(6) + `,"q":{"$ref":"#/$defs/a"}}}]}`
	}
	out, plan, err := Normalize([]byte(schema))
	if err != nil {
		return
	}
	require.NotEqual(t, giveUp, string(out), schema)
	require.Empty(t, schematest.Problems(out), "seed %d\n%s\n%s", seed, schema, out)
	require.LessOrEqual(t, len(out), maxGrowth*len(schema)+maxExtra)
	again, _, err := Normalize(out)
	require.NoError(t, err)
	require.Equal(t, string(out), string(again))
	repaired, err := plan.Repair(t.Context(), []byte(m.object(3)))
	require.NoError(t, err)
	require.True(t, json.Valid(repaired))
}

func TestNormalizeAnyJSON(t *testing.T) {
	for seed := range uint64(rounds(2000)) {
		anyJSON(t, seed)
	}
}

func FuzzAnyJSON(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { anyJSON(t, seed) })
}
