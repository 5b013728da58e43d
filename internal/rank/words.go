package rank

// This file splits texts into words.

import (
	"unicode"
	"unicode/utf8"
)

// stem is how many characters of a word count.
const stem = 6

// maxText bounds what is read of a text, in bytes: neither a server nor a model
// can make the work large.
const maxText = 4 << 10

// maxWord bounds what is looked at of a word, in bytes.
const maxWord = 32

// words calls yield with the stems of the words of a text. It splits at all that
// is not a letter or digit, and before the capitals of camelCase. A character of
// a script that has no spaces between its words, or that hangs particles on them
// as Korean does, is a word. A word is only valid until yield returns.
func words(text string, yield func(word []byte)) {
	text = text[:min(len(text), maxText)]
	var buffer [maxWord]byte
	word := buffer[:0]
	flush := func() {
		if len(word) > 0 {
			yield(stemOf(word))
		}
		word = buffer[:0]
	}
	var before rune // the character before
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			flush()
		case isWord(r):
			flush()
			yield(utf8.AppendRune(buffer[:0], r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if unicode.IsUpper(r) && begins(before, text[i+utf8.RuneLen(r):]) {
				flush()
			}
			if len(word) <= maxWord-utf8.UTFMax {
				word = utf8.AppendRune(word, unicode.ToLower(r))
			}
		default:
			flush()
		}
		before = r
	}
	flush()
}

// begins reports whether a capital begins a word: behind a small letter, or
// before one, as R in HTTPResponse and T in S3Trash.
func begins(before rune, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLower(before) || (unicode.IsUpper(before) || unicode.IsDigit(before)) && unicode.IsLower(next)
}

// isWord reports whether a character is a word by itself.
func isWord(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// stemOf returns what counts of a word: "create", "creates" and "created" are
// one word, in any language whose words change at the end. It was as good as an
// English stemmer on the queries that it was measured with.
func stemOf(word []byte) []byte {
	end, n := 0, 0
	for ; end < len(word) && n < stem; n++ {
		_, size := utf8.DecodeRune(word[end:])
		end += size
	}
	if end == len(word) && n > 3 && word[end-1] == 's' {
		end-- // the plural of a short word
	}
	return word[:end]
}

// list returns the words of a text, joined by spaces.
func list(text string) string {
	var b []byte
	words(text, func(word []byte) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(b, word...)
	})
	return string(b)
}

// joined returns the stem of two words that stand side by side as one, as in
// boxplot for box plot; ok is false where the second one would not count.
func joined(first string, second []byte) (word []byte, ok bool) {
	if len(first) < 2 || len(first) >= stem || len(second) < 2 {
		return nil, false
	}
	return stemOf(append([]byte(first), second...)), true
}
