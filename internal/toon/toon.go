// Package toon writes JSON as TOON (Token-Oriented Object Notation) 4.0, which
// takes fewer tokens where a list has many objects of one shape:
// https://github.com/toon-format/spec. It uses the format's default options.
package toon

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// maxDepth bounds the nesting of what is encoded. All passes over a value recurse,
// and a server chooses its depth.
const maxDepth = 128

// Encode returns a JSON value that passed [raw.Scan] as TOON. Members keep their
// order, also those that share a name, and numbers all their digits. ok is false where
// it would take more than limit bytes, or is nested deeper than 128 levels. The time
// is linear in the length of the value.
func Encode(json []byte, limit int) (text string, ok bool) {
	if end, err := raw.ScanUpTo(json, maxDepth); err != nil || end != len(json) {
		return "", false
	}
	e := encoder{limit: limit}
	p := parser{shapes: map[string]int{}}
	switch v := p.parse(raw.Read(json)); {
	case v.kind == '{' && len(v.members) > 1 && isTable(v.members):
		e.keyed("", "", v, 0, 0)
	case v.kind == '{':
		e.object(v, 0)
	case v.kind == '[':
		e.array("", "", v, 0, 0)
	default:
		e.line(0, v.text)
	}
	text = strings.TrimSuffix(e.String(), "\n")
	return text, !e.over && len(text) <= limit
}

// A value is a JSON value in order. Texts are encoded when they are read, once:
// where they stand makes no difference with the default delimiter.
type value struct {
	kind    byte   // '{', '[', or 0 for all others
	text    string // of all others, as TOON
	members []member
	shape   int // what it is as a row of a table: equal for equal names and shapes
}

type member struct {
	name  string // as TOON; empty in an array
	value *value
}

// Shapes of values that are not rows.
const (
	cell   = 0  // no object or array
	noRow  = -1 // an array, or an object with one in it
	oneRow = 1  // the first shape of a row
)

// A parser numbers the shapes from the inside out, so that whether values make a
// table takes one look at each.
type parser struct{ shapes map[string]int }

// parse reads the value that c stands at. It recurses as deep as maxDepth at most, which
// Encode has looked at before.
func (p *parser) parse(c *raw.Cursor) *value {
	v := &value{kind: c.Kind(), shape: noRow}
	switch v.kind {
	case '{':
		for name := range c.Object() {
			v.members = append(v.members, member{key(string(name)), p.parse(c)})
		}
		v.shape = p.shapeOf(v.members)
	case '[':
		for range c.Array() {
			v.members = append(v.members, member{value: p.parse(c)})
		}
	case '"':
		v.kind, v.shape = 0, cell
		v.text = quote(string(raw.AppendString(nil, c.Value())), plainText)
	default:
		v.kind, v.shape = 0, cell
		v.text = number(string(c.Value()))
	}
	return v
}

// shapeOf returns the shape of an object: the same whatever the order of members (§9.3
// lets rows have another order than the header). Members that are objects take part by the
// number of their shape, so that a deep row is not spelled out at each of its levels: that
// made the time grow with the square of the depth.
func (p *parser) shapeOf(members []member) int {
	names := make([]string, 0, len(members))
	for _, m := range members {
		if m.value.shape == noRow {
			return noRow
		}
		names = append(names, m.name+"\x00"+strconv.Itoa(m.value.shape))
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 && strings.HasPrefix(name, names[i-1][:strings.IndexByte(names[i-1], 0)+1]) {
			return noRow // two members with one name
		}
	}
	if len(names) == 0 {
		return noRow
	}
	all := strings.Join(names, "\x00")
	if p.shapes[all] == 0 {
		p.shapes[all] = oneRow + len(p.shapes)
	}
	return p.shapes[all]
}

// isTable reports whether values are rows of one shape. Rows of nothing are none: their
// header would be empty.
func isTable(values []member) bool {
	return len(values) > 0 && values[0].value.shape >= oneRow &&
		!slices.ContainsFunc(values, func(m member) bool { return m.value.shape != values[0].value.shape })
}

var (
	plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	// What a reader would take for a number has to be in quotes (§7.2), also with a
	// plus sign or zeros in front, which JSON does not have.
	numeric = regexp.MustCompile(`(?i)^[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$`)
)

// key returns a name as TOON (§7.3).
func key(name string) string { return quote(name, plainKey.MatchString) }

// plainText reports whether a text needs no quotes (§7.2).
func plainText(s string) bool {
	return s != "" && s != "true" && s != "false" && s != "null" && s[0] != '-' && s[0] != '#' &&
		strings.Trim(s, " \t") == s && !strings.ContainsAny(s, `:"\[]{},`) && !numeric.MatchString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
}

// quote puts a text into quotes where it needs them (§7.1).
func quote(s string, plain func(string) bool) string {
	if plain(s) {
		return s
	}
	return string(raw.AppendQuote(nil, s)) // escapes what TOON does, and nothing else
}

// number returns a number in its canonical form (§2): without exponent from 1e-6
// to 1e21. true, false and null are as they are.
func number(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	if s == "" || digits == "" || digits[0] < '0' || digits[0] > '9' {
		return s
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(digits), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift, err := strconv.Atoi(exponent)
	if err != nil && exponent != "" || shift > 1<<31 || shift < -1<<31 {
		return s // beyond all that is a number elsewhere, and point would overflow
	}
	digits = strings.TrimLeft(whole+fraction, "0")
	point := len(digits) - len(fraction) + shift // where the point is in digits
	digits = strings.TrimRight(digits, "0")
	switch {
	case digits == "":
		return "0"
	// An exponent a reader can read, in place of zeros: 1e999999999 must not become
	// a text of a gigabyte.
	case point > 21 || point < -5:
		s = digits[:1]
		if len(digits) > 1 {
			s += "." + digits[1:]
		}
		if point > 0 {
			s += "e+" + strconv.Itoa(point-1)
		} else {
			s += "e" + strconv.Itoa(point-1)
		}
	case point <= 0:
		s = "0." + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		s = digits + strings.Repeat("0", point-len(digits))
	default:
		s = digits[:point] + "." + digits[point:]
	}
	if negative {
		return "-" + s
	}
	return s
}

// An encoder has no error: what does not fit is no TOON, and the JSON stays as it is.
type encoder struct {
	strings.Builder
	limit int
	over  bool // lines are missing
}

// line writes a line at a depth. Deep nesting can make much of little: what is
// beyond the limit is not written.
func (e *encoder) line(depth int, parts ...string) {
	if e.over = e.over || e.Len()+2*depth > e.limit; e.over {
		return
	}
	e.WriteString(strings.Repeat("  ", depth))
	for _, p := range parts {
		e.WriteString(p)
	}
	e.WriteByte('\n')
}

// object writes the members of an object.
func (e *encoder) object(v *value, depth int) {
	for _, m := range v.members {
		e.member("", m, depth, depth)
	}
}

// member writes a member on a line at a depth behind what stands before it there,
// and what is in it as of one that is at the depth within.
func (e *encoder) member(before string, m member, depth, within int) {
	switch v := m.value; {
	case v.kind == '[':
		e.array(before, m.name, v, depth, within)
	case v.kind == 0:
		e.line(depth, before, m.name, ": ", v.text)
	case len(v.members) > 1 && isTable(v.members):
		e.keyed(before, m.name, v, depth, within)
	default:
		e.line(depth, before, m.name, ":")
		e.object(v, within+1)
	}
}

// array writes an array, with its name where it has one.
func (e *encoder) array(before, name string, v *value, depth, within int) {
	switch {
	case len(v.members) == 0 && name == "":
		e.line(depth, before, "[]")
	case len(v.members) == 0:
		e.line(depth, before, name, ": []")
	case isTable(v.members):
		first := v.members[0].value
		e.line(depth, before, name, "[", strconv.Itoa(len(v.members)), "]", header(first), ":")
		for _, row := range v.members {
			e.line(within+1, e.cells(first, row.value))
		}
	default:
		e.list(before+name, v, depth, within)
	}
}

// list writes an array that is not a table: on one line where it has no objects and
// arrays (§9.1), else an item a line (§9.4), whose first member shares the line of its
// hyphen.
func (e *encoder) list(before string, v *value, depth, within int) {
	length := "[" + strconv.Itoa(len(v.members)) + "]:"
	if !slices.ContainsFunc(v.members, func(m member) bool { return m.value.kind != 0 }) {
		texts := make([]string, len(v.members))
		for i, m := range v.members {
			texts[i] = m.value.text
		}
		if len(texts) > 0 {
			length += " "
		}
		e.line(depth, before, length, strings.Join(texts, ","))
		return
	}
	e.line(depth, before, length)
	for _, m := range v.members {
		switch item := m.value; {
		case e.over:
			return
		case item.kind == 0:
			e.line(within+1, "- ", item.text)
		case item.kind == '[':
			e.list("- ", item, within+1, within+1)
		case len(item.members) == 0:
			e.line(within+1, "-")
		default:
			e.member("- ", item.members[0], within+1, within+2)
			e.object(&value{members: item.members[1:]}, within+2)
		}
	}
}

// keyed writes an object whose members make a table (§9.5). The names of the
// members stand before their cells.
func (e *encoder) keyed(before, name string, v *value, depth, within int) {
	first := v.members[0].value
	e.line(depth, before, name, "[", strconv.Itoa(len(v.members)), ":]", header(first), ":")
	for _, row := range v.members {
		e.line(within+1, row.name, ": ", e.cells(first, row.value))
	}
}

// header names the columns of a table, and groups of them (§9.3), in the order of
// its first row. It goes by the first row alone: the shape has told that the others
// have the same names.
func header(row *value) string {
	names := make([]string, len(row.members))
	for i, m := range row.members {
		if names[i] = m.name; m.value.kind == '{' {
			names[i] += header(m.value)
		}
	}
	return "{" + strings.Join(names, ",") + "}"
}

// cells returns the cells of a row in the order of the first one. It makes nothing
// where no more lines are written.
func (e *encoder) cells(first, row *value) string {
	if e.over {
		return ""
	}
	return strings.Join(appendCells(nil, first, row), ",")
}

// appendCells appends the cells of a row. Almost all rows have the order of the first one:
// only for another one is there a map.
func appendCells(cells []string, first, row *value) []string {
	var byName map[string]*value // where the order is another
	for i, m := range first.members {
		v := row.members[i].value
		if row.members[i].name != m.name {
			if byName == nil {
				byName = make(map[string]*value, len(row.members))
				for _, m := range row.members {
					byName[m.name] = m.value
				}
			}
			v = byName[m.name]
		}
		if v.kind == '{' {
			cells = appendCells(cells, m.value, v)
		} else {
			cells = append(cells, v.text)
		}
	}
	return cells
}
