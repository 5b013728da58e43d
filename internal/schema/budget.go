package schema

// This file bounds what schemas cost. Steps are counted where they are taken and
// bytes where they are allocated, by whoever does so, and in loops over whatever
// a server chooses the length of. What is used up ends the work at once, from any
// depth: the schema then gets the generic form.

import (
	"context"
	"errors"
	"math"
)

// Bounds of what one schema may cost. They grow with its size, so that time and memory
// grow no faster, and leave a small one room for a few large clauses. The longest
// schema may take some 17 million steps and 130 MiB that are counted. What it guards
// against are texts that cost more than their length: references that double, names
// that clash, patterns with large classes, clauses in long descriptions.
const (
	maxSchema    = 1 << 20 // bytes
	stepsPerByte = 16
	freeSteps    = 1 << 19 // a few milliseconds
	bytesPerByte = 128
	freeBytes    = 2 << 20
)

// Bounds of what all schemas of a listing may cost beyond what each of them may
// by its size alone, so that those which cost much take nothing from the others.
const (
	listingSteps  = 1 << 26  // less than a second
	listingGrowth = 32 << 20 // bytes of the normal forms that are kept, beyond those of the originals
	stepsPerLook  = 1 << 12  // that go by between two looks at the context

	// The share of one schema, which costs the listing nothing: plain ones keep within it.
	ownStepsPerByte = 8
	ownGrowth       = 256 // and half the size
)

// A Budget bounds what the schemas of one listing, and the plans made from them,
// cost together. It ends the work within some 100 µs of the end of its context.
// The zero value has nothing left; a nil one bounds each schema alone. It is for
// one goroutine at a time.
type Budget struct {
	ctx    context.Context
	steps  int     // left
	growth int     // bytes left
	parser *parser // of the schema before; nil while there is none
}

// NewBudget returns the budget of one listing.
func NewBudget(ctx context.Context) *Budget {
	return &Budget{ctx: ctx, steps: listingSteps, growth: listingGrowth}
}

// Release gives back what the budget has kept for the next schema.
func (b *Budget) Release() {
	if b.parser != nil {
		b.parser.clear()
		b.parser = nil
	}
}

// Err is the cause of the end of the context, nil before it ends.
func (b *Budget) Err() error {
	if b == nil || b.ctx.Err() == nil {
		return nil
	}
	return context.Cause(b.ctx)
}

// A meter counts what the work on one schema costs. It counts down, so that a bound is
// passed where a count is below 0.
type meter struct {
	ctx    context.Context
	budget *Budget
	next   int // steps until the next look at the context
	steps  int // left after these
	own    int // of them, those that cost the listing nothing
	bytes  int // left
}

// Reasons to stop.
var (
	errSteps   = errors.New("takes too much work to read")
	errBytes   = errors.New("takes too much memory to read")
	errListing = errors.New("is one of too many that take much work to read")
)

// A stopped is what a meter panics with; [meter.run] recovers it.
type stopped struct{ reason error }

// newMeter returns the meter for size bytes of schema.
func newMeter(ctx context.Context, budget *Budget, size int) meter {
	return meter{
		ctx: ctx, budget: budget,
		steps: stepsPerByte*size + freeSteps,
		own:   ownStepsPerByte*size + stepsPerLook,
		bytes: bytesPerByte*size + freeBytes,
	}
}

// limit makes the meter one for size bytes, which it had more for. What was taken so
// far may be more than is left then; the next count ends the work.
func (m *meter) limit(size int) {
	more := maxSchema - size
	m.steps -= stepsPerByte * more
	m.own -= ownStepsPerByte * more
	m.bytes -= bytesPerByte * more
}

// run does the work, which m bounds, and returns why it was stopped, nil where it
// was not.
func (m *meter) run(work func()) (reason error) {
	// A panic ends the work from any depth, without an error that each of the recursive
	// functions would have to pass on, and one would forget. Any other panic is a fault of
	// this package: it must not look like a schema that costs much.
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped:
			reason = r.reason
		default:
			panic(r)
		}
	}()
	work()
	return nil
}

// step counts n steps, of some nanoseconds each. It is small enough to be inlined, as
// most calls are one subtraction; [meter.refill] has the rest.
func (m *meter) step(n int) {
	if m.next -= n; m.next < 0 {
		m.refill()
	}
}

// look stops the work where the context has ended.
func (m *meter) look() {
	if err := m.ctx.Err(); err != nil {
		m.stop(err)
	}
}

// refill looks at the context and takes steps for a while.
func (m *meter) refill() {
	m.look()
	// What the last step took beyond the mark counts, too: next is negative here.
	n := stepsPerLook - m.next
	m.next = stepsPerLook
	if m.steps -= n; m.steps < 0 {
		m.stop(errSteps)
	}
	// What a schema takes within its own share is free, so that a list of many plain
	// tools never runs out.
	if m.own -= n; m.own < 0 && m.budget != nil {
		if m.budget.steps += m.own; m.budget.steps < 0 {
			m.stop(errListing)
		}
		m.own = 0
	}
}

// room counts n bytes that are about to be allocated. The bytes are never given back:
// garbage is memory as well, until it is collected.
func (m *meter) room(n int) {
	if m.bytes -= n; m.bytes < 0 {
		m.stop(errBytes)
	}
	m.step(n / 16)
}

// grownTo is how large the normal form of size bytes may be for its listing. Half as
// much again and a little is free, for added keywords and a few sentences; what goes
// beyond is mostly references that are inlined.
func (b *Budget) grownTo(size int) int {
	if b == nil {
		return math.MaxInt
	}
	return size + size/2 + ownGrowth + b.growth
}

// grew takes what a normal form has beyond its own share.
func (b *Budget) grew(from, to int) {
	if b != nil {
		b.growth -= max(to-(from+from/2+ownGrowth), 0)
	}
}

// stop ends the work for a reason.
func (m *meter) stop(reason error) error { panic(stopped{reason}) }
