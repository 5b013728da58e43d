package main

// This file compares package raw with what else reads JSON, on the two things
// that it does most: to find the result of a message, and to walk over a list
// of tools.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/ast"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/minio/simdjson-go"
	"github.com/tidwall/gjson"

	"github.com/seed94b59a13/mcp/internal/mcptest"
	"github.com/seed94b59a13/mcp/internal/raw"
)

// A walker calls tool for each tool of a list that is the result of a message,
// with three of its members as they came. It returns the id and the result.
type walker func(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error)

// BenchmarkJSON reports the fastest round of each, which a busy machine spoils
// least.
func BenchmarkJSON(b *testing.B) {
	long := []byte(`{"jsonrpc":"2.0","id":7,"result":` + mcptest.Text(strings.Repeat(strings.Repeat("x", 79)+"\n", 1<<20/80)) + `}`)
	list := []byte(`{"jsonrpc":"2.0","id":7,"result":` + newScripted(1000).toolList() + `}`)
	for _, c := range []struct {
		name string
		walk walker
	}{
		{"raw", walkRaw},
		{"raw unchecked", walkRawOnce},
		{"sonic", walkSonicDecode},
		{"sonic unchecked", walkSonic},
		{"gjson", walkGjsonChecked},
		{"gjson unchecked", walkGjson},
		{"simdjson", walkSimdjson},
		{"jsontext", walkJSONText},
		{"encoding json", walkEncodingJSON},
	} {
		b.Run("text/"+c.name, func(b *testing.B) {
			fastest(b, func() {
				id, result, err := c.walk(long, nil)
				if err != nil || string(id) != "7" || len(result) < 1<<20 && c.name != "simdjson" {
					b.Fatal(string(id), len(result), err)
				}
			})
		})
		b.Run("list/"+c.name, func(b *testing.B) {
			fastest(b, func() {
				tools, size := 0, 0
				_, _, err := c.walk(list, func(name, description, schema []byte) {
					if len(name) > 0 && len(description) > 0 {
						tools++
					}
					size += len(schema)
				})
				if err != nil || tools != 1000 || size < 800<<10 && c.name != "simdjson" {
					b.Fatal(tools, size, err)
				}
			})
		})
	}
}

func fastest(b *testing.B, round func()) {
	b.ReportAllocs()
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		round()
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(best.Microseconds()), "best-µs")
}

// walkRaw is what this module does: a message is checked whole before anything
// of it is used.
func walkRaw(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	_, err = raw.Object(message, func(name, value []byte) bool {
		switch string(name) {
		case "id":
			id = value
		case "result":
			result = value
		}
		return true
	})
	if err == nil && tool != nil {
		walkTools(raw.Read(result), tool)
	}
	return id, result, err
}

// walkRawOnce takes the message for checked, as sonic and gjson do.
func walkRawOnce(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	c := raw.Read(message)
	for name := range c.Object() {
		switch string(name) {
		case "id":
			id = c.Value()
		case "result":
			start := c.At()
			if tool == nil {
				c.Value()
			} else {
				walkTools(c, tool)
			}
			result = c.Since(start)
		}
	}
	return id, result, nil
}

func walkTools(c *raw.Cursor, tool func(name, description, schema []byte)) {
	for name := range c.Object() {
		if string(name) != "tools" {
			continue
		}
		for range c.Array() {
			var name, description, schema []byte
			for member := range c.Object() {
				switch string(member) {
				case "name":
					name = c.Value()
				case "description":
					description = c.Value()
				case "inputSchema":
					schema = c.Value()
				}
			}
			tool(name, description, schema)
		}
	}
}

func walkSonic(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	s := ast.NewSearcher(text(message))
	s.ValidateJSON = false
	s.CopyReturn = false
	node, err := s.GetByPath("id")
	if err != nil {
		return nil, nil, err
	}
	rawID, _ := node.Raw()
	node, err = s.GetByPath("result")
	if err != nil {
		return nil, nil, err
	}
	rawResult, _ := node.Raw()
	id, result = data(rawID), data(rawResult)
	if tool == nil {
		return id, result, nil
	}
	tools := node.Get("tools")
	it, err := tools.Values()
	if err != nil {
		return nil, nil, err
	}
	var n ast.Node
	for it.Next(&n) {
		name, _ := n.Get("name").Raw()
		description, _ := n.Get("description").Raw()
		schema, _ := n.Get("inputSchema").Raw()
		tool(data(name), data(description), data(schema))
	}
	return id, result, nil
}

func walkSonicDecode(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	var m struct {
		ID     sonic.NoCopyRawMessage `json:"id"`
		Result sonic.NoCopyRawMessage `json:"result"`
	}
	if err := sonic.Unmarshal(message, &m); err != nil || tool == nil {
		return m.ID, m.Result, err
	}
	var list struct {
		Tools []struct {
			Name        sonic.NoCopyRawMessage `json:"name"`
			Description sonic.NoCopyRawMessage `json:"description"`
			InputSchema sonic.NoCopyRawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if err := sonic.Unmarshal(m.Result, &list); err != nil {
		return nil, nil, err
	}
	for _, t := range list.Tools {
		tool(t.Name, t.Description, t.InputSchema)
	}
	return m.ID, m.Result, nil
}

func walkGjsonChecked(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	if !gjson.ValidBytes(message) {
		return nil, nil, errors.New("not valid")
	}
	return walkGjson(message, tool)
}

func walkGjson(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	var found gjson.Result
	gjson.Parse(text(message)).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "id":
			id = data(value.Raw)
		case "result":
			found = value
		}
		return true
	})
	if tool == nil {
		return id, data(found.Raw), nil
	}
	found.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "tools" {
			value.ForEach(func(_, entry gjson.Result) bool {
				var name, description, schema string
				entry.ForEach(func(key, value gjson.Result) bool {
					switch key.Str {
					case "name":
						name = value.Raw
					case "description":
						description = value.Raw
					case "inputSchema":
						schema = value.Raw
					}
					return true
				})
				tool(data(name), data(description), data(schema))
				return true
			})
		}
		return true
	})
	return id, data(found.Raw), nil
}

var reused *simdjson.ParsedJson

// The tape of simdjson does not say where a value came from.
func walkSimdjson(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	parsed, err := simdjson.Parse(message, reused, simdjson.WithCopyStrings(false))
	if err != nil {
		return nil, nil, err
	}
	reused = parsed
	it := parsed.Iter()
	it.Advance()
	_, root, err := it.Root(nil)
	if err != nil {
		return nil, nil, err
	}
	element, err := root.FindElement(nil, "id")
	if err != nil {
		return nil, nil, err
	}
	n, _ := element.Iter.Int()
	id = fmt.Append(nil, n)
	if tool == nil {
		_, err = root.FindElement(nil, "result")
		return id, nil, err
	}
	element, err = root.FindElement(nil, "result", "tools")
	if err != nil {
		return nil, nil, err
	}
	array, err := element.Iter.Array(nil)
	if err != nil {
		return nil, nil, err
	}
	array.ForEach(func(i simdjson.Iter) {
		object, err := i.Object(nil)
		if err != nil {
			return
		}
		var name, description []byte
		object.ForEach(func(key []byte, i simdjson.Iter) {
			switch string(key) {
			case "name":
				name, _ = i.StringBytes()
			case "description":
				description, _ = i.StringBytes()
			}
		}, nil)
		tool(name, description, nil)
	})
	return id, nil, nil
}

func walkJSONText(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	members := func(text []byte, member func(name, value []byte)) error {
		d := jsontext.NewDecoder(bytes.NewBuffer(text))
		d.ReadToken()
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return err
			}
			key := name.String()
			value, err := d.ReadValue()
			if err != nil {
				return err
			}
			member(data(key), value)
		}
		_, err := d.ReadToken()
		return err
	}
	err = members(message, func(name, value []byte) {
		switch string(name) {
		case "id":
			id = value
		case "result":
			result = value
		}
	})
	if err != nil || tool == nil {
		return id, result, err
	}
	err = members(result, func(_, value []byte) {
		d := jsontext.NewDecoder(bytes.NewBuffer(value))
		d.ReadToken()
		for d.PeekKind() == '{' {
			var name, description, schema []byte
			d.ReadToken()
			for d.PeekKind() == '"' {
				token, _ := d.ReadToken()
				key := token.String()
				value, err := d.ReadValue()
				if err != nil {
					return
				}
				switch key {
				case "name":
					name = value
				case "description":
					description = value
				case "inputSchema":
					schema = value
				}
			}
			d.ReadToken()
			tool(name, description, schema)
		}
	})
	return id, result, err
}

func walkEncodingJSON(message []byte, tool func(name, description, schema []byte)) (id, result []byte, err error) {
	var m struct{ ID, Result json.RawMessage }
	if err := json.Unmarshal(message, &m); err != nil || tool == nil {
		return m.ID, m.Result, err
	}
	var list struct {
		Tools []struct{ Name, Description, InputSchema json.RawMessage }
	}
	if err := json.Unmarshal(m.Result, &list); err != nil {
		return nil, nil, err
	}
	for _, t := range list.Tools {
		tool(t.Name, t.Description, t.InputSchema)
	}
	return m.ID, m.Result, nil
}

// Nobody pays for a copy that its API does not make.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
func data(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
