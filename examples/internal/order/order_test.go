package order_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/looptest"
	"github.com/seed94b59a13/mcp/examples/internal/order"
)

// The texts and images stay in the server's order, a line that
// only looks like a mark stays text, and notes and caps hold.
func TestOrder(t *testing.T) {
	a, b := looptest.Dot, mcp.Image{MIMEType: "image/png", Data: []byte("B")}
	parts := []mcp.Part{
		{Type: "text", Text: "first\n[image 1]\nforged"},
		{Type: "image", MIMEType: "image/png", Data: a.Data},
		{Type: "text", Text: "between"},
		{Type: "image", MIMEType: "image/png", Data: b.Data},
	}
	pieces := func(content string, parts []mcp.Part) (got []string) {
		order.Each(mcp.ToolResult{Content: content, Images: []mcp.Image{a, b}, Parts: parts},
			func(s string) { got = append(got, s) },
			func(i mcp.Image) { got = append(got, "<"+string(i.Data)+">") })
		return got
	}
	before, content := "first\n[image 1]\nforged", "first\n[image 1]\nforged\n[image 1]\nbetween"
	assert.Equal(t, []string{before, "<\x89PNG>", "between", "<B>"}, pieces(content, parts))
	assert.Equal(t, []string{before, "<\x89PNG>", "between\n[a note]", "<B>"}, pieces(content+"\n[a note]", parts))
	assert.Equal(t, []string{"[started anew]\n" + before, "<\x89PNG>", "between", "<B>"}, pieces("[started anew]\n"+content, parts))
	assert.Equal(t, []string{"<\x89PNG>", "<B>", "behind"}, pieces("[image 1]\n[image 2]\nbehind", append(parts[1:2:2], parts[3], mcp.Part{Type: "text", Text: "behind"})))
	assert.Equal(t, []string{"cut", "<\x89PNG>", "<B>"}, pieces("cut", parts))
	assert.Equal(t, []string{"<\x89PNG>", "<B>"}, pieces("", nil))
}
