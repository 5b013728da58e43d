package secret

// This file quotes errors, those of net/http and of a caller's transport, whose
// texts may come from a server and whose trees may hold more than they say.

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Error returns an error whose text is that of err as [Quoter.Quote] has it,
// and URLs in it without their queries. errors.Is finds in it what it found in
// err. A walk over its tree, as by errors.As, meets the errors whose own texts
// and trees had nothing to take out, and no others.
func (q *Quoter) Error(err error, limit int) error {
	text := limited(err.Error(), limit)
	for _, e := range nodes(err) {
		e, ok := e.(*url.Error)
		if !ok {
			continue
		}
		bare := Masked
		if u, err := url.Parse(e.URL); err == nil {
			bare = BareURL(u)
		}
		shown := fmt.Sprintf("%s %q: %v", e.Op, bare, e.Err)
		if full := e.Error(); strings.Contains(text, full) {
			text = strings.ReplaceAll(text, full, shown)
		} else {
			text = shown // whatever it was within
		}
	}
	return &quoted{text: q.Quote(text, limit), causes: q.harmless(nil, err, limit), hidden: Keep(err)}
}

// A quoted error has the text of another without what it must not show.
type quoted struct {
	text   string
	causes []error
	hidden Box[error]
}

func (e *quoted) Error() string        { return e.text }
func (e *quoted) Unwrap() []error      { return e.causes }
func (e *quoted) Is(target error) bool { return errors.Is(e.hidden.Open(), target) }

// Original returns the error that [Quoter.Error] was given, for one that wraps
// its result: to tell what has happened, not to be shown.
func Original(err error) error {
	var q *quoted
	if errors.As(err, &q) {
		return q.hidden.Open()
	}
	return err
}

// harmless appends err, or if something in its tree is not fit to be shown, what
// is below that.
func (q *Quoter) harmless(causes []error, err error, limit int) []error {
	fit := true
	for _, e := range nodes(err) {
		_, address := e.(*url.Error)
		text := limited(e.Error(), limit)
		fit = fit && !address && q.Text([]byte(text), limit) == text // a line end does no harm
	}
	if fit {
		return append(causes, err)
	}
	for _, e := range below(err) {
		causes = q.harmless(causes, e, limit)
	}
	return causes
}

// limited returns as much of a text as [Quoter.Quote] may look at, so that
// nothing else is done with more.
func limited(s string, limit int) string { return s[:min(len(s), window(limit)+1)] }

// nodes returns the errors in the tree of err, the outer ones first.
func nodes(err error) (all []error) {
	for left := []error{err}; len(left) > 0; {
		all = append(all, left[0])
		left = append(below(left[0]), left[1:]...)
	}
	return all
}

// below returns the errors that err wraps.
func below(err error) (wrapped []error) {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		wrapped = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		wrapped = slices.Clone(e.Unwrap())
	}
	return slices.DeleteFunc(wrapped, func(e error) bool { return e == nil })
}

// BareURL returns the URL without user, query and fragment.
func BareURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
