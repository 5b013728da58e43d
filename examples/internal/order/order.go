// Package order has what the converters of two providers share: those whose
// results may have texts and images in any order. It is free to paste, too.
package order

import (
	"fmt"
	"strings"

	"github.com/seed94b59a13/mcp"
)

// Each gives the texts and the images of a result in the server's order. An
// image that stood before a text has a mark in Content, which is cut there.
// Parts tell the mark from a text of the server that looks like one. Content is
// what is given, since it alone has the notes and keeps to Server.MaxOutput:
// where it lacks a mark, the images stand behind it.
func Each(result mcp.ToolResult, text func(string), image func(mcp.Image)) {
	content, images := result.Content, result.Images
	read := 0 // bytes of content in which no mark is looked for
	for _, part := range result.Parts {
		if part.Text != "" {
			if at := strings.Index(content[read:], part.Text); at >= 0 {
				read += at + len(part.Text)
			}
			continue
		}
		mark := fmt.Sprintf("[image %d]\n", len(result.Images)-len(images)+1)
		at := strings.Index(content[read:], mark)
		if part.Data == nil || len(images) == 0 || at < 0 {
			continue
		}
		if before := strings.TrimSuffix(content[:read+at], "\n"); strings.TrimSpace(before) != "" {
			text(before)
		}
		image(images[0])
		content, images, read = content[read+at+len(mark):], images[1:], 0
	}
	if strings.TrimSpace(content) != "" { // providers refuse white space alone
		text(content)
	}
	for _, file := range images {
		image(file)
	}
}
