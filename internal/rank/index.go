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
// times the usual length loses more than it does there: words that are put into
// a description for the sake of searches cannot buy a place.
var weights = [...]float64{3, 1, .5}

const (
	saturation = 1.2
	shortness  = .75
	stuffing   = .01
)

// A text of so many words or more, by field, that says less than one of once words
// a single time alone, repeats them for the sake of searches: what tells something
// is not like that in any language. Small schemas are, by their keywords. The score
// of the tool is repeating of what it were: it is found where nothing else is.
var listed = [fields]int{12, 12, 24}

const (
	once      = 8
	repeating = .1
)

// mostCounts is how often a word counts in a field. A name and a title say it
// twice at most.
var mostCounts = [fields]uint8{2, 255, 255}

// An index knows which documents have which words. Documents are added and
// removed one by one: what stays costs nothing.
type index struct {
	terms     map[string]int32 // the number of a word
	postings  [][]posting      // by word, those of removed documents among them
	holders   []int32          // by word, how many documents have it
	documents []document       // by number, those that were removed among them
	live      int              // documents that were not removed
	total     [fields]int      // words of these
	scores    []float64        // room for those of a search
}

// A posting says how often a document has a word.
type posting struct {
	document int32
	counts   [fields]uint8 // see mostCounts
}

type document struct {
	terms   []int32 // distinct; nil after it was removed
	lengths [fields]int32
	repeats bool // see listed
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
		last := ""
		words(text, func(word []byte) {
			x.put(number, field, word)
			d.lengths[field]++
			if field > 0 {
				return
			}
			if both, ok := joined(last, word); ok {
				x.put(number, field, both)
			}
			last = string(word)
		})
		x.total[field] += int(d.lengths[field])
		d.repeats = d.repeats || x.repeats(d, field)
	}
	d.terms = slices.Clip(d.terms)
	x.live++
	return number
}

// repeats reports whether a text of the last document repeats its words.
func (x *index) repeats(d *document, field int) bool {
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
	return distinct >= listed[field] && single*once < distinct
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
	for f, n := range d.lengths {
		x.total[f] -= int(n)
	}
	*d = document{}
	x.live--
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
	// The terms are numbered anew, too, in a map of their size.
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
	return numbers
}

// A hit is a document that shares a word with a query.
type hit struct {
	document int32
	at       int // in the list of tools
	score    float64
}

// search passes the documents that share a word with the query, the best one
// first; of equal ones that which is before the other in the list, by at. Almost
// all documents may have a word of a query, and few are looked at: they are put
// into order as far as somebody looks.
func (x *index) search(query string, at func(document int32) int) iter.Seq[hit] {
	var found hits
	for number, score := range x.score(query) {
		if score > 0 {
			found = append(found, hit{int32(number), at(int32(number)), score})
		}
	}
	heap.Init(&found)
	return func(yield func(hit) bool) {
		for len(found) > 0 && yield(found[0]) {
			heap.Pop(&found)
		}
	}
}

// score returns the scores of all documents by their numbers, until it is called
// again. That of one which has a word of the query is more than 0.
func (x *index) score(query string) []float64 {
	var mean [fields]float64
	for f, n := range x.total {
		mean[f] = max(float64(n)/float64(max(x.live, 1)), 1)
	}
	x.scores = slices.Grow(x.scores[:0], len(x.documents))[:len(x.documents)]
	clear(x.scores)
	for _, w := range read(query) {
		term, ok := x.terms[w.word]
		if !ok {
			continue
		}
		holders := float64(x.holders[term])
		rarity := w.weight * math.Log(1+(float64(x.live)-holders+.5)/(holders+.5))
		for _, p := range x.postings[term] {
			d := &x.documents[p.document]
			if d.terms == nil {
				continue
			}
			n := 0.
			for f, count := range p.counts {
				if count > 0 {
					length := float64(d.lengths[f]) / mean[f]
					n += weights[f] * float64(count) / (1 - shortness + shortness*length + stuffing*length*length)
				}
			}
			score := rarity * n / (n + saturation)
			if d.repeats {
				score *= repeating
			}
			x.scores[p.document] += score
		}
	}
	return x.scores
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
