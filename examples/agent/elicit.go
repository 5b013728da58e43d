package main

// This file asks the user in the terminal what a server wants to know.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed94b59a13/mcp"
)

// secret finds the fields that a form must not have.
var secret = regexp.MustCompile(`(?i)pass[-_ ]?(word|phrase|code)|passwd|secret|credential|api[-_ ]?key|private[-_ ]?key|access[-_ ]?key|token($|[^s])|\bpin(\b|_)|\bcvv\b|card[-_ ]?number`)

// refusal is what the specification says of such fields.
const refusal = "refused: servers must not ask for passwords, keys or other secrets in a form, which passes\n" +
	"through this program; they must send the user to a page of their own (specification, elicitation)\n"

// elicit asks the user. It is Server.Elicit: calls run side by side, but there
// is one terminal, and a question waits until it is free.
func (a *agent) elicit(ctx context.Context, q mcp.Question) (json.RawMessage, error) {
	select {
	case a.terminal <- struct{}{}:
		defer func() { <-a.terminal }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	who := fmt.Sprintf("the server %q", q.Server)
	if q.Tool != "" {
		who += fmt.Sprintf(", for its tool %q,", q.Tool)
	}
	a.printf("%s asks: %s\n", who, q.Message)
	if q.URL != "" {
		a.printf("open this address yourself, if you trust it: %s\n", q.URL)
		line, _ := a.ask(ctx, "agree? (y)es, (n)o: ")
		if line != "y" {
			return nil, mcp.ErrDeclined
		}
		return nil, nil
	}
	fields, err := form(q.Schema)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if f.Format == "password" || secret.MatchString(f.name+"\n"+f.Title+"\n"+f.Description) {
			a.printf("%s: %s", f.name, refusal)
			return nil, mcp.ErrDeclined
		}
	}
	for {
		answer, ok := a.fill(ctx, fields)
		if !ok {
			return nil, ctx.Err()
		}
		a.printf("to be sent to %q: %s\n", q.Server, answer)
		switch line, ok := a.ask(ctx, "(s)end, (e)dit, (n)o: "); {
		case line == "s":
			return answer, nil
		case line != "e" || !ok:
			return nil, mcp.ErrDeclined
		}
	}
}

// A field is one of a form. The value starts as the server's default.
type field struct {
	name     string
	required bool
	value    json.RawMessage // nil where the user gives none

	Type                       string
	Title, Description, Format string
	Default                    json.RawMessage
	choices
	Items choices
}

type choices struct {
	Enum  []string
	OneOf []struct{ Const, Title string }
	AnyOf []struct{ Const, Title string }
}

// list returns the values that may be chosen, each with its title.
func (c choices) list() (values, shown []string) {
	values, shown = slices.Clone(c.Enum), slices.Clone(c.Enum)
	for _, choice := range slices.Concat(c.OneOf, c.AnyOf) {
		values = append(values, choice.Const)
		shown = append(shown, fmt.Sprintf("%s (%s)", choice.Const, choice.Title))
	}
	return values, shown
}

// form returns the fields of a schema in its order.
func form(schema json.RawMessage) (fields []*field, err error) {
	var object struct {
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, err
	}
	if object.Properties == nil {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(object.Properties))
	for decoder.Token(); decoder.More(); { // a map would lose the order
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		f := &field{name: fmt.Sprint(name)}
		if err := decoder.Decode(f); err != nil {
			return nil, err
		}
		f.required, f.value = slices.Contains(object.Required, f.name), f.Default
		fields = append(fields, f)
	}
	return fields, nil
}

// fill asks for each field, as often as the answer is of the wrong type, and
// returns the form; ok is false when there is no answer. The library checks the
// whole once more.
func (a *agent) fill(ctx context.Context, fields []*field) (answer json.RawMessage, ok bool) {
	object := object{}
	for _, f := range fields {
		for {
			line, ok := a.ask(ctx, f.question())
			if !ok {
				return nil, false
			}
			if err := f.read(strings.TrimSpace(line)); err != nil {
				a.printf("%v\n", err)
				continue
			}
			break
		}
		if f.value != nil {
			object[f.name] = f.value
		}
	}
	answer, _ = json.Marshal(object) // all of it is JSON already
	return answer, true
}

func (f *field) question() string {
	about := []string{f.Type}
	if f.required {
		about = append(about, "required")
	}
	for _, s := range []string{f.Title, f.Description, f.Format} {
		if s != "" {
			about = append(about, s)
		}
	}
	if _, shown := f.choices.list(); shown != nil {
		about = append(about, "one of "+strings.Join(shown, ", "))
	}
	if _, shown := f.Items.list(); shown != nil {
		about = append(about, "some of "+strings.Join(shown, ", ")+", with commas")
	}
	if f.value != nil {
		about = append(about, "empty for "+string(f.value))
	}
	return fmt.Sprintf("%s (%s): ", f.name, strings.Join(about, "; "))
}

// read takes what the user typed. Nothing keeps the value.
func (f *field) read(line string) error {
	if line == "" {
		if f.value == nil && f.required {
			return fmt.Errorf("%s is required", f.name)
		}
		return nil
	}
	var value any = line
	switch f.Type {
	case "boolean":
		yes := strings.HasPrefix("yes", strings.ToLower(line)) || strings.EqualFold(line, "true")
		if !yes && !strings.HasPrefix("no", strings.ToLower(line)) && !strings.EqualFold(line, "false") {
			return fmt.Errorf("%s must be yes or no", f.name)
		}
		value = yes
	case "integer", "number":
		number := json.Number(line)
		if _, err := number.Float64(); err != nil {
			return fmt.Errorf("%s must be a number", f.name)
		}
		value = number
	case "array":
		var list []string
		for part := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(part))
		}
		if err := f.chosen(f.Items, list...); err != nil {
			return err
		}
		value = list
	default:
		if err := f.chosen(f.choices, line); err != nil {
			return err
		}
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("%s must be a %s", f.name, f.Type)
	}
	f.value = encoded
	return nil
}

func (f *field) chosen(from choices, values ...string) error {
	known, _ := from.list()
	for _, value := range values {
		if known != nil && !slices.Contains(known, value) {
			return fmt.Errorf("%s must not be %q", f.name, value)
		}
	}
	return nil
}
