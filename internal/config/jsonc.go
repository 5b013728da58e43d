package config

// This file takes out of a text what people write into JSON and JSON does not
// have.

import "bytes"

// plain returns a copy of text in which spaces stand for comments and for a
// comma before a closing bracket, so that positions stay the same. It goes over
// the text once, whatever the text is: a comment or a string without an end
// stays as it is, with all behind it, and is not JSON.
//
// The libraries for this either build a tree or are this loop with a module
// around it.
func plain(text []byte) []byte {
	text = bytes.Clone(text)
	comma := -1 // where a comma is, if nothing but space followed so far
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; {
		case c == '"':
			if end = stringEnd(text, end); end < 0 {
				return text
			}
			comma = -1
		case bytes.HasPrefix(text[i:], []byte("//")):
			if end = bytes.IndexByte(text[i:], '\n'); end < 0 {
				end = len(text) - i
			}
			end += i
			blank(text[i:end])
		case bytes.HasPrefix(text[i:], []byte("/*")):
			n := bytes.Index(text[i+2:], []byte("*/"))
			if n < 0 {
				return text
			}
			end = i + 2 + n + 2
			blank(text[i:end])
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				text[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
		i = end
	}
	return text
}

// stringEnd returns where the string ends that has text[i] in it, or -1.
func stringEnd(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

func blank(text []byte) {
	for i := range text {
		text[i] = ' '
	}
}
