package rank

// This file reads queries.

import (
	"maps"
	"slices"
	"strings"
)

// A wanted is a word that a query asks for, and how much it counts.
type wanted struct {
	word   string
	weight float64
}

// What a word counts that means about the same as one of the query, and what two
// words of the query count that a tool may write as one.
const (
	alike  = .25
	asOne  = .5
	mostly = 64 // words that are looked for: more are not a query
)

// read returns the words of a query and those that may stand for them, in one
// order, so that sums do not depend on another.
func read(query string) []wanted {
	weights := map[string]float64{}
	last, n := "", 0
	words(query, func(word []byte) {
		if n++; n > mostly {
			return
		}
		if both, ok := joined(last, word); ok {
			weights[string(both)] = max(weights[string(both)], asOne)
		}
		if last = string(word); !skipped[last] {
			weights[last] = 1
		}
	})
	// Words that stand for a word stand for no further ones: those of the clone are
	// the query's own.
	for word, weight := range maps.Clone(weights) {
		for _, group := range groups[word] {
			if weight < 1 {
				break
			}
			for _, other := range group {
				weights[other] = max(weights[other], alike)
			}
		}
	}
	all := make([]wanted, 0, len(weights))
	for word, weight := range weights {
		all = append(all, wanted{word, weight})
	}
	slices.SortFunc(all, func(a, b wanted) int { return strings.Compare(a.word, b.word) })
	return all
}

// skipped are words of a query that say nothing about a tool, where a model
// passes on what its user asked. They are rare in short documents, which would
// make them count. English is what most ask in; no other language loses by it.
var skipped = func() map[string]bool {
	m := map[string]bool{}
	words("a an the this that these those it its is are was were be been do does did has have had how what when where which who whose why "+
		"i me my mine we us our am you your he she they them their his her can could will would should please want need like let lets "+
		"and or of to in on at for from by with into about as but so if than then there here some any all every each just only also "+
		"tell give know", func(word []byte) { m[string(word)] = true })
	return m
}()

// groups are words that tools and those who ask for them use for one another.
var groups = func() map[string][][]string {
	m := map[string][][]string{}
	for group := range strings.SplitSeq(synonyms, ";") {
		var list []string
		words(group, func(word []byte) { list = append(list, string(word)) })
		for _, word := range list {
			m[word] = append(m[word], list)
		}
	}
	return m
}()

// Most of them are what one server calls something that another calls otherwise; the
// rest is what people say and no server does.
const synonyms = `delete remove erase drop; create add new make; update edit modify change set;
get read show view fetch retrieve; list show all; find search look query; send post publish;
run execute start launch; stop end kill terminate cancel; copy duplicate clone; move rename;
file document; folder directory; image picture photo screenshot; mail email message; message chat;
page website web site url; repo repository; pull merge request; issue ticket bug;
chart graph plot diagram; database table sql; user person member people; customer contact client;
calendar event meeting appointment; task todo; invoice bill payment; undo revert restore rollback;
download fetch; log history; error crash exception failure; branch fork; pod container; click press tap;
type fill enter write; summary overview; comment note remark; price cost; secret password credential;
spreadsheet sheet excel; check validate verify test lint; save store remember; forget delete;
video movie clip; photo picture; phone call; place location; company organization business;
package library dependency; shell terminal command`
