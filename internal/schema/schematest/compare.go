package schematest

// This file compares a schema with its normal form by the instances that both
// accept.

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Comparison is what [Compare] did. A test that compares looks at Valid as well:
// with too few, it has shown nothing.
type Comparison struct {
	Unresolved string // why the original could not be used, "" when it could
	Valid      int    // instances that the original accepts, so that they were compared
	Apart      int    // those not compared since they mix the branches of a root union
	Problems   []string
}

// Compare makes n instances of the original schema and lists those that it
// accepts and its normal form does not: in the form that models see, with
// renamed keys, and without those that have a property of another branch than
// the one of a root union that they match.
//
// The arguments that repair makes of an accepted instance, as the model would write
// it, must be the instance as the server knows it. The promise is that a normal
// form only widens: whatever the server takes, a model must be able to send. The
// other way round nothing is checked, since a server checks its own arguments. The
// same seed makes the same instances.
func Compare(original, normal []byte, n int, seed uint64, repair func([]byte) (json.RawMessage, error)) (c Comparison) {
	root, ok := decode(original).(object)
	if !ok {
		// A server that sends a list or a text in place of a schema, say.
		root = object{} // such a tool has no parameters
	}
	readable(root)
	accepts, err := resolve(root)
	if err != nil {
		c.Unresolved = err.Error()
		return c
	}
	takes, err := resolve(decode(normal))
	if err != nil {
		c.Problems = append(c.Problems, "the normal form: "+err.Error())
		return c
	}
	names := renames(root, decode(normal))
	unions := rootUnions(root, root, 0)
	m := maker{rand.New(rand.NewPCG(seed, 4)), root}
	for range n {
		// Through JSON and back, as arguments go: both validators see what a server
		// would.
		made, err := json.Marshal(m.object(m.flat(root, 0), 0))
		if err != nil {
			continue // a number that is none
		}
		var instance object
		if json.Unmarshal(made, &instance) != nil || accepts.Validate(instance) != nil {
			continue
		}
		if !inBranches(unions, instance) {
			c.Apart++
			continue
		}
		c.Valid++
		seen := renamed(instance, names)
		text, _ := json.Marshal(seen)
		if err := takes.Validate(seen); err != nil {
			c.Problems = append(c.Problems, fmt.Sprintf("it refuses %s: %v", text, err))
			continue
		}
		repaired, err := repair(text)
		var back any
		if err == nil {
			err = json.Unmarshal(repaired, &back)
		}
		if again, _ := json.Marshal(back); err != nil || string(again) != string(made) {
			// Marshal sorts the keys of both.
			c.Problems = append(c.Problems, fmt.Sprintf("repair makes %s of %s: %v", repaired, text, err))
		}
	}
	return c
}

// resolve makes a validator of a schema, by a library that has nothing of the
// package that is tested.
func resolve(schema any) (*jsonschema.Resolved, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	parsed := new(jsonschema.Schema)
	if err := json.Unmarshal(text, parsed); err != nil {
		return nil, err
	}
	return parsed.Resolve(nil)
}

// subschemas calls f for the schemas in s, and with the names of properties. What
// is under a keyword that it does not know, or in another form than the keyword
// has, counts as data.
func subschemas(s object, f func(sub any, property string)) {
	for keyword, v := range s {
		switch v := v.(type) {
		case object:
			switch keyword {
			case "properties":
				for name, sub := range v {
					f(sub, name)
				}
			case "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
				for _, sub := range v {
					f(sub, "")
				}
			case "items", "additionalItems", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems":
				f(v, "")
			}
		case []any:
			switch keyword {
			case "allOf", "anyOf", "oneOf", "prefixItems", "items":
				for _, sub := range v {
					f(sub, "")
				}
			}
		}
	}
}

// readable brings a schema to what the validator reads: draft-07 or 2020-12.
// What a schema of neither says with a keyword in another form is gone, so that
// it accepts more.
func readable(root object) {
	old := strings.Contains(fmt.Sprint(root["$schema"]), "/draft-0")
	var walk func(v any)
	walk = func(v any) {
		s, ok := v.(object)
		if !ok {
			return
		}
		_, tuple := s["items"].([]any)
		old = old || tuple
		for _, names := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
			if exclusive, ok := s[names[0]].(bool); ok {
				delete(s, names[0])
				if bound, ok := s[names[1]]; ok && exclusive {
					s[names[0]] = bound
				}
			}
		}
		if pattern, ok := s["pattern"].(string); ok {
			if _, err := regexp.Compile(pattern); err != nil {
				delete(s, "pattern")
			}
		}
		if _, ok := s["required"].(bool); ok {
			delete(s, "required")
		}
		subschemas(s, func(sub any, _ string) { walk(sub) })
	}
	walk(root)
	// Its own may be that of a draft the validator does not know. Before 2020-12 a
	// list of items was a tuple.
	delete(root, "$schema")
	if old {
		root["$schema"] = "http://json-schema.org/draft-07/schema#"
	}
}

// renames finds the new names of the properties that have one, by what resembles
// them. The package knows the names that it gave; to ask it would be to trust what
// is tested.
func renames(original, normal any) map[string]string {
	before, after := map[string]bool{}, map[string]bool{}
	properties(original, before)
	properties(normal, after)
	names := map[string]string{}
	for name := range before {
		if propertyName.MatchString(name) {
			continue
		}
		for candidate := range after {
			if !before[candidate] && likeness(candidate) == likeness(name) {
				names[name] = candidate
			}
		}
	}
	return names
}

// properties collects the names of all properties in a schema, also of those that
// are only required.
func properties(v any, names map[string]bool) {
	if s, ok := v.(object); ok {
		required, _ := s["required"].([]any)
		for _, name := range required {
			if name, ok := name.(string); ok {
				names[name] = true
			}
		}
		subschemas(s, func(sub any, property string) {
			if property != "" {
				names[property] = true
			}
			properties(sub, names)
		})
	}
}

var unlike = regexp.MustCompile(`_\d+$|[^a-zA-Z0-9.-]`)

// likeness is what is left of a name when it is changed: characters that a provider
// does not take are replaced, and a number is put behind names that would be the
// same then.
func likeness(name string) string { return strings.Trim(unlike.ReplaceAllString(name, "_"), "_") }

// renamed returns an instance with the names that a model sees, at all depths.
func renamed(v any, names map[string]string) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for key, value := range v {
			if to, ok := names[key]; ok {
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

// A branch is one of a root's union.
type branch struct {
	schema *jsonschema.Resolved
	names  map[string]bool
}

// rootUnions are the unions that apply to the root itself. A root must have no
// union for many providers: its branches are merged, and it is here that a normal
// form loses which properties belong together.
func rootUnions(root object, at any, depth int) (unions [][]branch) {
	s, ok := at.(object)
	if !ok || depth > maxDepth {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		unions = append(unions, rootUnions(root, find(root, ref), depth+1)...)
	}
	list, _ := s["allOf"].([]any)
	for _, part := range list {
		unions = append(unions, rootUnions(root, part, depth+1)...)
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		list, _ := s[name].([]any)
		var union []branch
		for _, part := range list {
			// A branch alone, with all that its references lead to.
			whole := object{"allOf": []any{part}}
			for _, name := range []string{"$schema", "$defs", "definitions"} {
				if v, ok := root[name]; ok {
					whole[name] = v
				}
			}
			b := branch{names: map[string]bool{}}
			b.schema, _ = resolve(whole)
			named(root, part, b.names, 0)
			union = append(union, b)
		}
		if len(union) > 0 {
			unions = append(unions, union)
		}
	}
	return unions
}

// named collects the properties that a schema names about the value itself.
func named(root object, at any, names map[string]bool, depth int) {
	s, ok := at.(object)
	if !ok || depth > maxDepth {
		return
	}
	props, _ := s["properties"].(object)
	for name := range props {
		names[name] = true
	}
	if ref, ok := s["$ref"].(string); ok {
		named(root, find(root, ref), names, depth+1)
	}
	list, _ := s["allOf"].([]any)
	for _, part := range list {
		named(root, part, names, depth+1)
	}
}

// inBranches reports whether the instance matches a branch of each union that
// names all those of its properties that the union names.
func inBranches(unions [][]branch, instance object) bool {
	for _, union := range unions {
		of := map[string]bool{}
		for _, b := range union {
			for name := range b.names {
				of[name] = true
			}
		}
		fits := false
		for _, b := range union {
			names := true
			for name := range instance {
				names = names && (b.names[name] || !of[name])
			}
			fits = fits || names && b.schema != nil && b.schema.Validate(instance) == nil
		}
		if !fits {
			return false
		}
	}
	return true
}
