package rank

// This file is the index.

import (
	"container/heap"
	"iter"
	"math"
	"slices"
)

// fields is the number of texts that a document has: its names, its description,
// and the strings of its schema.
const fields = len(weights)

// The weights of the fields, and the usual parameters of BM25. A text of many
// times the usual breadth loses more than it does there: words that are put into
// a description for the sake of searches cannot buy a place.
var (
	weights  = [...]float64{3, 1, .5}
	stuffing = [fields]float64{.4, .05, .05}
)

const (
	saturation = 1.2
	shortness  = .75
)

// A hit is sure whose words count at least sureness of what they may at most, one
// with the other. A word in a text of average breadth counts .45, one in a name .7,
// and one of a list of sixty others .2, whatever they are.
const sureness = .3

// What tells something says most of its words once, and some again, in any language.
// A text with so many words or more, by field, counts artful of what it would else
// where less than one of eight is said a single time, or almost all are: it is there
// for the sake of searches. A name says its words twice, with the title, and small
// schemas do, by their keywords.
var (
	repeated = [fields]int{math.MaxInt, 12, 24}
	listed   = [fields]int{math.MaxInt, 16, math.MaxInt}
)

const (
	onceAtLeast = 1. / 8
	onceAtMost  = .92
	artful      = .1
)

// mostCounts is how often a word counts in a field. A name and a title say it
// twice at most.
var mostCounts = [fields]uint8{2, 255, 255}

// An index knows which documents have which words. Documents are added and
// removed one by one: what stays is not read again.
type index struct {
	terms     map[string]int32 // the number of a word
	postings  [][]posting      // by word, those of removed documents among them
	holders   []int32          // by word, how many documents have it
	documents []document       // by number, those that were removed among them
	live      int              // documents that were not removed
	weighed   bool             // whether what depends on all documents is as they are
	rarity    []int32          // by word, see [rare]
	sums      []sum            // room for those of a search
}

// A posting says how often a document has a word.
type posting struct {
	document int32
	counts   [fields]uint8 // see mostCounts
}

type document struct {
	terms  []int32         // distinct; nil after it was removed
	artful [fields]bool    // see repeated
	gain   [fields]float64 // what a word counts that the text has once
}

// add adds a document and returns its number.
func (x *index) add(texts [fields]string) int32 {
	if x.terms == nil {
		x.terms = map[string]int32{}
	}
	number := int32(len(x.documents))
	x.documents = append(x.documents, document{terms: []int32{}})
	d := &x.documents[number]
	for field, text := range texts {
		last, length := "", 0
		words(text, func(word []byte) {
			x.put(number, field, word)
			length++
			if field > 0 {
				return
			}
			if both, ok := joined(last, word); ok {
				x.put(number, field, both)
			}
			last = string(word)
		})
		if d.artful[field] = x.isArtful(d, field, length); d.artful[field] {
			for _, term := range d.terms { // nor does saying it again help
				list := x.postings[term]
				count := &list[len(list)-1].counts[field]
				*count = min(*count, 1)
			}
		}
	}
	d.terms = slices.Clip(d.terms)
	x.live++
	x.weighed = false
	return number
}

// isArtful reports whether a text of the last document, of so many words, is there
// for the sake of searches: see repeated.
func (x *index) isArtful(d *document, field, length int) bool {
	distinct, single := 0, 0
	for _, term := range d.terms {
		list := x.postings[term]
		switch list[len(list)-1].counts[field] {
		case 0:
		case 1:
			single++
			fallthrough
		default:
			distinct++
		}
	}
	return distinct >= repeated[field] && float64(single) < onceAtLeast*float64(distinct) ||
		distinct >= listed[field] && float64(distinct) >= onceAtMost*float64(length)
}

// put notes a word of a document, the last one.
func (x *index) put(number int32, field int, word []byte) {
	term, ok := x.terms[string(word)]
	if !ok {
		term = int32(len(x.postings))
		x.terms[string(word)] = term
		x.postings = append(x.postings, nil)
		x.holders = append(x.holders, 0)
	}
	list := x.postings[term]
	if len(list) == 0 || list[len(list)-1].document != number {
		list = append(list, posting{document: number})
		x.postings[term] = list
		x.holders[term]++
		d := &x.documents[number]
		d.terms = append(d.terms, term)
	}
	if count := &list[len(list)-1].counts[field]; *count < mostCounts[field] {
		*count++
	}
}

// remove removes a document. Its postings stay until [index.compact].
func (x *index) remove(number int32) {
	d := &x.documents[number]
	for _, term := range d.terms {
		x.holders[term]--
	}
	*d = document{}
	x.live--
	x.weighed = false
}

// compact drops what is left of removed documents, if that is most of all, so
// that its cost is part of theirs. It returns the new number of each document,
// nil where they have not changed.
func (x *index) compact() []int32 {
	if len(x.documents) < 2*x.live+16 {
		return nil
	}
	numbers := make([]int32, len(x.documents))
	var next int32
	for i, d := range x.documents {
		if numbers[i] = -1; d.terms != nil {
			x.documents[next], numbers[i] = d, next
			next++
		}
	}
	x.documents = slices.Clone(x.documents[:next])
	for word, term := range x.terms {
		if x.holders[term] == 0 {
			delete(x.terms, word)
		}
	}
	// The terms are numbered anew, too, in a map of their size: one that words were
	// deleted from keeps the room of all it ever had.
	terms := make(map[string]int32, len(x.terms))
	renamed := make([]int32, len(x.postings))
	postings := make([][]posting, 0, len(x.terms))
	holders := make([]int32, 0, len(x.terms))
	for word, term := range x.terms {
		kept := make([]posting, 0, x.holders[term])
		for _, p := range x.postings[term] {
			if p.document = numbers[p.document]; p.document >= 0 {
				kept = append(kept, p)
			}
		}
		renamed[term] = int32(len(postings))
		terms[word] = renamed[term]
		postings = append(postings, kept)
		holders = append(holders, x.holders[term])
	}
	for _, d := range x.documents {
		for i, term := range d.terms {
			d.terms[i] = renamed[term]
		}
	}
	x.terms, x.postings, x.holders = terms, postings, holders
	x.weighed = false
	return numbers
}

// rare is how rare a word is that so many of all documents have: a thousand times
// its logarithm, so that sums of it are exact in any order. One that all have counts
// as well.
func rare(holders, all int) int32 {
	return 1 + int32(1000*math.Log(1+(float64(all-holders)+.5)/(float64(holders)+.5)))
}

// weigh makes rarity and gain what they are among the documents there are. What
// counts of a text is how much it says: its distinct words, by their rarity.
func (x *index) weigh() {
	if x.weighed {
		return
	}
	x.weighed = true
	x.rarity = slices.Grow(x.rarity[:0], len(x.holders))[:len(x.holders)]
	breadth := make([][fields]int32, len(x.documents))
	for term, list := range x.postings {
		rarity := rare(int(x.holders[term]), x.live)
		x.rarity[term] = rarity
		for i := range list {
			b := &breadth[list[i].document]
			for f, count := range list[i].counts {
				b[f] += rarity * int32(min(count, 1)) // faster than a branch
			}
		}
	}
	usual := x.usual(breadth)
	for i := range x.documents {
		d := &x.documents[i]
		for f := range usual {
			ratio := float64(breadth[i][f]) / float64(usual[f])
			d.gain[f] = weights[f] / (1 - shortness + shortness*ratio + stuffing[f]*ratio*ratio)
			if d.artful[f] {
				d.gain[f] *= artful
			}
		}
	}
}

// usual returns what seven of ten texts stay below, of those that are not empty. A mean
// would grow with each text that a server puts in to make others look short.
func (x *index) usual(breadth [][fields]int32) (usual [fields]int32) {
	all := make([]int32, 0, x.live)
	for f := range usual {
		all = all[:0]
		for i, d := range x.documents {
			if d.terms != nil && breadth[i][f] > 0 {
				all = append(all, breadth[i][f])
			}
		}
		slices.Sort(all)
		if usual[f] = 1; len(all) > 0 {
			usual[f] = all[len(all)*7/10]
		}
	}
	return usual
}

// A hit is a document that shares a word with a query.
type hit struct {
	document int32
	at       int32   // in the list of tools
	score    float64 // less than 0 where it is not sure: those come behind all others
}

// sure reports whether its words count enough: see sureness.
func (h hit) sure() bool { return h.score > 0 }

// search passes the documents that share a word with the query, the best one
// first; of equal ones that which is before the other in the list, by at. Almost
// all documents may have a word of a query, and few are looked at: they are put
// into order as far as somebody looks.
func (x *index) search(query string, at func(document int32) int) iter.Seq[hit] {
	var found hits
	for number, sum := range x.score(query) {
		switch {
		case sum.most == 0:
			continue
		case sum.score < sureness*sum.most:
			sum.score = -1 / sum.score
		}
		found = append(found, hit{int32(number), int32(at(int32(number))), sum.score})
	}
	heap.Init(&found)
	return func(yield func(hit) bool) {
		for len(found) > 0 && yield(found[0]) {
			heap.Pop(&found)
		}
	}
}

// A sum is what the words of a query count that a document has, and what they might
// count at most: more than 0 where it has one.
type sum struct{ score, most float64 }

// score returns the sums of all documents by their numbers, until it is called
// again.
func (x *index) score(query string) []sum {
	x.weigh()
	x.sums = slices.Grow(x.sums[:0], len(x.documents))[:len(x.documents)]
	clear(x.sums)
	for _, w := range read(query) {
		term, ok := x.terms[w.word]
		if !ok {
			continue
		}
		most := w.weight * float64(x.rarity[term])
		for _, p := range x.postings[term] {
			d := &x.documents[p.document]
			if d.terms == nil {
				continue
			}
			n := 0.
			for f, count := range p.counts {
				n += d.gain[f] * float64(count)
			}
			sum := &x.sums[p.document]
			sum.score += most * n / (n + saturation)
			sum.most += most
		}
	}
	return x.sums
}

// hits is a heap: the best one is at its top.
type hits []hit

func (h hits) Len() int      { return len(h) }
func (h hits) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h hits) Less(i, j int) bool {
	if h[i].score != h[j].score {
		return h[i].score > h[j].score
	}
	return h[i].at < h[j].at
}

// Push is never called: hits only leave.
func (h *hits) Push(v any) { *h = append(*h, v.(hit)) }

func (h *hits) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
