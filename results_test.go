package mcp_test

// This file proves what becomes of the results of tools, as tables of exact
// values: the server answers a call with the result that the call gives it.

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
	"github.com/seed94b59a13/mcp/internal/text"
)

func init() { servers["answers"] = answersServer }

// An answer is what the answers server sends back. Its bytes travel encoded,
// so that they need not be JSON.
type answer struct{ Result, Error []byte }

func answersServer(p *mcptest.Peer) {
	p.Tools = `[{"name":"tool","inputSchema":{"type":"object","properties":{}}}]`
	p.Call = func(r mcptest.Request) {
		var a answer
		json.Unmarshal(r.Params.Arguments, &a)
		member, value := "result", a.Result
		if a.Error != nil {
			member, value = "error", a.Error
		}
		p.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"` + member + `":` + string(value) + "}\n")
	}
	p.Serve()
}

// asker returns a function that calls the tool of an answers server.
func asker(t testing.TB, change func(*mcp.Server)) func(t testing.TB, a answer) mcp.ToolResult {
	server := stdioServer(t, "answers")
	if change != nil {
		change(&server)
	}
	tool := connect(t, server).Tools()[0]
	return func(t testing.TB, a answer) mcp.ToolResult {
		t.Helper()
		arguments, err := json.Marshal(a)
		require.NoError(t, err)
		result, err := tool.Handler(t.Context(), arguments)
		require.NoError(t, err)
		return result
	}
}

// A resultCase says what a tool's result becomes.
type resultCase struct {
	name   string
	result string // the server's, a JSON text
	want   mcp.ToolResult
}

func testResults(t *testing.T, change func(*mcp.Server), cases []resultCase) {
	ask := asker(t, change)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, said(ask(t, answer{Result: []byte(c.result)})))
		})
	}
}

// said is what a model gets of a result, without the parts.
func said(r mcp.ToolResult) mcp.ToolResult {
	r.Parts = nil
	return r
}

func content(s string) mcp.ToolResult { return mcp.ToolResult{Content: s} }

func failure(s string) mcp.ToolResult { return mcp.ToolResult{Content: s, IsError: true} }

func structured(content, value string) mcp.ToolResult {
	return mcp.ToolResult{Content: content, Structured: json.RawMessage(value)}
}

// The shortest files of which each reader of images knows the size: 1 by 1.
var (
	pngHead  = encoded(png.Encode)
	jpegHead = encoded(func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) })
	png64    = base64.StdEncoding.EncodeToString([]byte(pngHead))
)

func encoded(encode func(io.Writer, image.Image) error) string {
	var b strings.Builder
	encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)))
	return b.String()
}

const (
	gifHead  = "GIF89a\x01\x00\x01\x00\x00\x00\x00"
	webpHead = "RIFF\x16\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x10\x00\x00\x9d\x01\x2a\x01\x00\x01\x00"

	nothing = "[the tool returned nothing]"
	failed  = `[the tool "tool" failed without a message]`
)

func pictures(content string, images ...string) mcp.ToolResult {
	r := mcp.ToolResult{Content: content}
	for _, image := range images {
		kind := map[byte]string{pngHead[0]: "image/png", jpegHead[0]: "image/jpeg", gifHead[0]: "image/gif", webpHead[0]: "image/webp"}[image[0]]
		r.Images = append(r.Images, mcp.Image{MIMEType: kind, Data: []byte(image)})
	}
	return r
}

func imagePart(mimeType, data string) string {
	return fmt.Sprintf(`{"type":"image","mimeType":%q,"data":%q}`, mimeType, data)
}

func image64(mimeType, data string) string {
	return imagePart(mimeType, base64.StdEncoding.EncodeToString([]byte(data)))
}

func ofParts(parts ...string) string { return `{"content":[` + strings.Join(parts, ",") + `]}` }

func TestResultShapes(t *testing.T) {
	testResults(t, nil, []resultCase{
		{"R24 text is itself", `{"content":[{"type":"text","text":"<file path=\"a.ts\">\nexport const x = \"1\";\n</file>"}]}`,
			content("<file path=\"a.ts\">\nexport const x = \"1\";\n</file>")},
		{"texts are joined", ofParts(`{"type":"text","text":"a"}`, `{"type":"text","text":"b\n"}`, `{"type":"text","text":"c"}`), content("a\nb\n\nc")},
		{"white space in text stays", ofParts(`{"type":"text","text":"  a \n"}`), content("  a \n")},
		{"content that is a string", `{"content":"a"}`, content("a")},
		{"content that is one part", `{"content":{"type":"text","text":"a"}}`, content("a")},
		{"content that is a list of strings", `{"content":["a","b"]}`, content("a\nb")},
		{"content that is a number", `{"content":7}`, content("[unknown content: 7]")},
		{"a part without a type", `{"content":[{"text":"a"}]}`, content("a")},
		{"null parts", `{"content":[null,{"type":"text","text":"a"}]}`, content("[unknown content: null]\na")},

		{"structured content beside a note", `{"content":[{"type":"image","data":"?"}],"structuredContent":{"a":1}}`,
			structured("[image not shown (broken data): 1 byte]\n{\"a\":1}", `{"a":1}`)},
		{"structured content beside white space", `{"content":["  \n"],"structuredContent":{"a":1}}`, structured(`{"a":1}`, `{"a":1}`)},
		{"a caption", ofParts(`{"type":"image","text":"a cat"}`), content("[image not shown (no data): 0 bytes]\na cat")},
		{"a caption of an image", ofParts(`{"type":"image","data":"` + png64 + `","text":"a cat"}`), pictures("[image 1]\na cat", pngHead)},
		{"a transcript", ofParts(`{"type":"audio","data":"QUJD","text":"hello"}`), content("[audio: 3 bytes]\nhello")},
		{"audio that is broken", ofParts(`{"type":"audio","mimeType":"audio/wav","data":"?"}`), content("[audio that cannot be decoded: audio/wav, 1 byte]")},
		{"a link with its text", ofParts(`{"type":"resource_link","uri":"x:/a","text":"a"}`), content("[resource link: x:/a]\na")},
		{"a link by URL", ofParts(`{"type":"resource_link","url":"https://e.test/a"}`), content("[resource link: https://e.test/a]")},
		{"a link in another member", ofParts(`{"type":"resource_link","href":"x:/a"}`), content(`[resource link: {"type":"resource_link","href":"x:/a"}]`)},
		{"a link that is an object", ofParts(`{"type":"resource_link","uri":{"a":1}}`), content(`[resource link: {"type":"resource_link","uri":{"a":1}}]`)},
		{"a resource in a resource", ofParts(`{"type":"resource","resource":{"resource":{"text":"a"}}}`),
			content(`[resource without content: {"type":"resource","resource":{"resource":{"text":"a"}}}]`)},
		{"a resource with data", ofParts(`{"type":"resource","resource":{"uri":"x:/a","data":"QUJD"}}`), content("[resource: x:/a, 3 bytes]")},
		{"an unknown part with more than a text", ofParts(`{"type":"json","text":"t","json":{"a":1}}`), content(`[unknown content: {"type":"json","text":"t","json":{"a":1}}]`)},

		{"R03 no parts", `{"content":[]}`, content(nothing)},
		{"R03 no members", `{}`, content(nothing)},
		{"R03 content null", `{"content":null}`, content(nothing)},
		{"R03 empty text", `{"content":[{"type":"text","text":""}]}`, content(nothing)},
		{"R03 structured null", `{"content":[],"structuredContent":null}`, content(nothing)},
		{"a null result", `null`, content(nothing)},
		{"white space alone", `{"content":[{"type":"text","text":" \n\t"}]}`, content(nothing)},
		{"only metadata", `{"_meta":{"a":1}}`, content(nothing)},

		{"R07 an error has all its texts", `{"content":[{"type":"text","text":"rate limited"},{"type":"text","text":"retry after 30s"}],"isError":true}`,
			failure("rate limited\nretry after 30s")},
		{"R08 an error without parts", `{"content":[],"isError":true}`, failure(failed)},
		{"R08 an error without content", `{"isError":true}`, failure(failed)},
		{"R08 an error with an image", `{"content":[` + image64("image/png", pngHead) + `],"isError":true}`,
			mcp.ToolResult{Content: failed, IsError: true, Images: pictures("", pngHead).Images}},
		{"R08 an error with a code", `{"content":[],"structuredContent":{"code":"E42"},"isError":true}`,
			mcp.ToolResult{Content: `{"code":"E42"}`, IsError: true, Structured: json.RawMessage(`{"code":"E42"}`)}},
		{"R27 an error's text wins", `{"content":[{"type":"text","text":"bad input"}],"structuredContent":{"code":"E42"},"isError":true}`,
			mcp.ToolResult{Content: "bad input", IsError: true, Structured: json.RawMessage(`{"code":"E42"}`)}},
		{"R29 no sniffing of texts", `{"content":[{"type":"text","text":"Error: handling guide for beginners"}],"isError":false}`,
			content("Error: handling guide for beginners")},
		{"isError null", `{"content":[{"type":"text","text":"a"}],"isError":null}`, content("a")},

		{"R30 bad annotations", `{"content":[{"type":"text","text":"a","annotations":{"priority":"high","audience":"user"}}]}`, content("a")},
		{"R30 annotations of another kind", `{"content":[{"type":"text","text":"a","annotations":[1]}]}`, content("a")},
		{"R30 isError in capitals", `{"content":["a"],"isError":"True"}`, failure("a")},
		{"R30 isError is a number", `{"content":["a"],"isError":1}`, failure("a")},
		{"R30 isError is 0", `{"content":["a"],"isError":0}`, content("a")},
		{"R30 isError is the text false", `{"content":["a"],"isError":"False"}`, content("a")},
		{"R30 isError is a text", `{"content":["a"],"isError":"disk full"}`, failure("a\n[isError: disk full]")},
		{"R30 isError is an object", `{"isError":{"code":5}}`, failure(failed + "\n[isError: {\"code\":5}]")},
		{"R30 isError is a string", `{"content":[{"type":"text","text":"a"}],"isError":"true"}`, failure("a")},
		{"R30 text is a number", `{"content":[{"type":"text","text":42}]}`, content("42")},
		{"R30 text is an object", `{"content":[{"type":"text","text":{"a":1}}]}`, content(`{"a":1}`)},
		{"R30 text is null", `{"content":[{"type":"text","text":null}]}`, content(nothing)},
		{"text has another name", `{"content":[{"type":"text","content":"a"}]}`, content(`[text without text: {"type":"text","content":"a"}]`)},

		{"R28 an empty toolResult", `{"toolResult":""}`, content(nothing)},
		{"R28 a toolResult of white space", `{"content":[],"toolResult":" \u0000"}`, content(nothing)},
		{"R28 an empty toolResult with an error", `{"toolResult":"","isError":true}`, failure(failed)},
		{"R02 parts that say nothing beside structured content", `{"content":{},"structuredContent":{"id":"u1"}}`,
			mcp.ToolResult{Content: `{"id":"u1"}`, Structured: json.RawMessage(`{"id":"u1"}`)}},
		{"R02 a part that says nothing beside another", `{"content":[{},"a"],"structuredContent":{"id":"u1"}}`,
			mcp.ToolResult{Content: "[unknown content: {}]\na", Structured: json.RawMessage(`{"id":"u1"}`)}},
		{"text null with other members", `{"content":[{"type":"text","text":null,"content":"a"}]}`,
			content(`[text without text: {"type":"text","text":null,"content":"a"}]`)},
		{"R28 toolResult", `{"toolResult":{"content":[{"type":"text","text":"x"}]}}`, content("x")},
		{"R28 toolResult with an error", `{"toolResult":{"content":[{"type":"text","text":"x"}],"isError":true}}`, failure("x")},
		{"R28 error around toolResult", `{"toolResult":{"content":[{"type":"text","text":"x"}]},"isError":true}`, failure("x")},
		{"R28 toolResult is a text", `{"toolResult":"x"}`, content("x")},
		{"R28 toolResult is a list", `{"toolResult":[1,2]}`, content("[1,2]")},
		{"R28 toolResult of unknown form", `{"toolResult":{"rows":[1]}}`, content(`[unknown result: {"rows":[1]}]`)},
		{"R28 toolResult beside content", `{"toolResult":"x","content":[{"type":"text","text":"y"}]}`, content("y")},
		{"R28 toolResult two deep", `{"toolResult":{"toolResult":{"content":[{"type":"text","text":"x"}]}}}`, content(`{"content":[{"type":"text","text":"x"}]}`)},

		{"an unknown result", `{"answer":42}`, content(`[unknown result: {"answer":42}]`)},
		{"a result that is a text", `"done"`, content(`[unknown result: done]`)},
		{"a result that is a list", `[1]`, content(`[unknown result: [1]]`)},
		{"unknown members beside content", `{"answer":42,"content":[{"type":"text","text":"a"}]}`, content("a")},
		{"unknown content", ofParts(`{"type":"hologram","w":1}`, `{"type":"text","text":"a"}`), content("[unknown content: {\"type\":\"hologram\",\"w\":1}]\na")},
		{"unknown content with text", ofParts(`{"type":"markdown","text":"# a"}`), content(`[unknown content "markdown": # a]`)},
		{"unknown content that is long", ofParts(`{"type":"x","a":"` + strings.Repeat("é", 2000) + `"}`),
			content(`[unknown content: {"type":"x","a":"` + strings.Repeat("é", 2000) + `"}]`)},
		{"members that the SDK chokes on", `{"inputRequests":{"x":null},"content":[{"type":"text","text":"a"}]}`, content("a")},
		{"the last of two members counts", `{"content":[{"type":"text","text":"a"}],"content":[{"type":"text","text":"b"}]}`, content("b")},
		{"resultType complete", `{"resultType":"complete","content":[{"type":"text","text":"a"}]}`, content("a")},
		{"resultType complete with nothing", `{"resultType":"complete","content":[]}`, content(nothing)},
		{"resultType unknown with content", `{"resultType":"new","content":[{"type":"text","text":"a"}]}`, content("a")},
		{"resultType unknown without", `{"resultType":"new","thing":1}`, failure(`[unknown result: {"resultType":"new","thing":1}]`)},
	})
}

func TestStructuredContent(t *testing.T) {
	u1 := `{"id":"u1"}`
	testResults(t, nil, []resultCase{
		{"R02 content null", `{"content":null,"structuredContent":` + u1 + `}`, structured(u1, u1)},
		{"R02 content absent", `{"structuredContent":` + u1 + `}`, structured(u1, u1)},
		{"R02 content of white space", `{"content":[{"type":"text","text":"  "}],"structuredContent":` + u1 + `}`, structured(u1, u1)},
		{"text is never replaced", `{"content":[{"type":"text","text":"see below"}],"structuredContent":` + u1 + `}`, structured("see below", u1)},
		{"nothing is shown twice", `{"content":[{"type":"text","text":"{\"id\": \"u1\"}"}],"structuredContent":` + u1 + `}`, structured(`{"id": "u1"}`, u1)},
		{"a note is not all there is", `{"content":[{"type":"audio","data":"AAAA"}],"structuredContent":` + u1 + `}`, structured("[audio: 3 bytes]\n"+u1, u1)},
		{"an image is not a text", `{"content":[` + image64("image/png", pngHead) + `],"structuredContent":` + u1 + `}`,
			mcp.ToolResult{Content: u1, Structured: json.RawMessage(u1), Images: pictures("", pngHead).Images}},
		{"R25 nothing is escaped", `{"content":[],"structuredContent":{"code":"if a < b && c > d { ch <- 1 }","url":"https://e.test/?a=1&b=2"}}`,
			structured(`{"code":"if a < b && c > d { ch <- 1 }","url":"https://e.test/?a=1&b=2"}`, `{"code":"if a < b && c > d { ch <- 1 }","url":"https://e.test/?a=1&b=2"}`)},
		{"R26 numbers keep their text", `{"content":[],"structuredContent":{"Id":1234567890123456789,"price":1.10,"big":18446744073709551615,"e":1E400}}`,
			structured(`{"Id":1234567890123456789,"price":1.10,"big":18446744073709551615,"e":1E400}`, `{"Id":1234567890123456789,"price":1.10,"big":18446744073709551615,"e":1E400}`)},
		{"R27 no structured content", `{"content":[{"type":"text","text":"n is 3"}]}`, content("n is 3")},
		{"R27 structured content null", `{"content":[{"type":"text","text":"n is 3"}],"structuredContent":null}`, content("n is 3")},
		{"R27 structured content of another type", `{"content":[{"type":"text","text":"n is 3"}],"structuredContent":{"n":"three"}}`, structured("n is 3", `{"n":"three"}`)},
		{"order, duplicates and white space stay", `{"structuredContent":{ "b":1,  "a":2, "b":[ ] }}`, structured(`{ "b":1,  "a":2, "b":[ ] }`, `{ "b":1,  "a":2, "b":[ ] }`)},
		{"a list", `{"structuredContent":[1,"a"]}`, structured(`[1,"a"]`, `[1,"a"]`)},
		{"a number", `{"structuredContent":0}`, structured(`0`, `0`)},
		{"a text", `{"structuredContent":"a\nb"}`, structured(`"a\nb"`, `"a\nb"`)},
		{"false", `{"structuredContent":false}`, structured(`false`, `false`)},
		{"text that is not valid", "{\"structuredContent\":{\"a\":\"caf\xe9\",\"b\":\"\\ud800\",\"c\":\"\x01\"}}",
			structured("{\"a\":\"caf\uFFFD\",\"b\":\"\\ufffd\",\"c\":\"\\u0001\"}", "{\"a\":\"caf\uFFFD\",\"b\":\"\\ufffd\",\"c\":\"\\u0001\"}")},
		{"hidden text is not shown", "{\"structuredContent\":{\"a\":\"x\U000e0068\U000e0069\"}}",
			structured("{\"a\":\"x\"}\n[removed 2 invisible characters]", "{\"a\":\"x\U000e0068\U000e0069\"}")},
		{"beside an unknown member", `{"structuredContent":1,"x":2}`, structured("1", "1")},
	})
}

func TestResourceResults(t *testing.T) {
	blob := func(uri, mimeType, data string) string {
		return fmt.Sprintf(`{"type":"resource","resource":{"uri":%q,"mimeType":%q,"blob":%q}}`, uri, mimeType, base64.StdEncoding.EncodeToString([]byte(data)))
	}
	testResults(t, nil, []resultCase{
		{"resource link", ofParts(`{"type":"resource_link","uri":"file:///notes.txt"}`), content("[resource link: file:///notes.txt]")},
		{"R10 resource link with all", ofParts(`{"type":"text","text":"report ready"}`,
			`{"type":"resource_link","uri":"file:///out/report.pdf","name":"report.pdf","mimeType":"application/pdf","description":"May figures","size":52431}`),
			content("report ready\n[resource link: file:///out/report.pdf, report.pdf, application/pdf, 52431 bytes, May figures]")},
		{"R11 resource link without a name", ofParts(`{"type":"resource_link","uri":"file:///a.pdf"}`), content("[resource link: file:///a.pdf]")},
		{"R11 resource link without a URI", ofParts(`{"type":"resource_link","name":"a"}`), content("[resource link: a]")},
		{"R11 resource link with wrong types", ofParts(`{"type":"resource_link","uri":"file:///a.pdf","name":"a","size":"12","mimeType":7}`, `"b"`),
			content("[resource link: file:///a.pdf, a, 12 bytes]\nb")},
		{"resource link with a title", ofParts(`{"type":"resource_link","uri":"x:/a","title":"A","size":1}`), content("[resource link: x:/a, A, 1 byte]")},
		{"resource link with nothing", ofParts(`{"type":"resource_link","size":-1}`), content("[resource link]")},

		{"R12 embedded text", ofParts(`{"type":"text","text":"successfully downloaded text file (SHA: 0a1b)"}`,
			`{"type":"resource","resource":{"uri":"repo://acme/demo/README.md","mimeType":"text/plain; charset=utf-8","text":"# Demo\nHello"}}`,
			`{"type":"text","text":"end"}`),
			content("successfully downloaded text file (SHA: 0a1b)\n[resource: repo://acme/demo/README.md]\n# Demo\nHello\nend")},
		{"embedded text without a URI", ofParts(`{"type":"resource","resource":{"text":"a"}}`), content("a")},
		{"embedded text that is JSON", ofParts(`{"type":"resource","resource":{"uri":"x:/a","text":{"a":1}}}`), content("[resource: x:/a]\n{\"a\":1}")},
		{"R13 a blob of JSON", ofParts(`{"type":"resource","resource":{"uri":"x:/a.json","mimeType":"application/json","blob":"eyJhIjoxfQ=="}}`),
			content("[resource: x:/a.json]\n{\"a\":1}")},
		{"R13 a blob of a document", ofParts(`{"type":"resource","resource":{"uri":"x:/b.pdf","mimeType":"application/pdf","blob":"JVBERi0xLjQK"}}`),
			content("[resource: x:/b.pdf, application/pdf, 9 bytes]")},
		{"R13 a blob that is not a text", ofParts(`{"type":"resource","resource":{"uri":"x:/c.txt","mimeType":"text/plain","blob":"/////w=="}}`),
			content("[resource: x:/c.txt, text/plain, 4 bytes]")},
		{"R13 a blob that is an image", ofParts(`{"type":"resource","resource":{"uri":"x:/d.png","mimeType":"image/png","blob":"` + png64 + `"}}`), pictures("", pngHead)},
		{"R13 no resource", ofParts(`{"type":"resource"}`), content("[resource without content]")},
		{"a resource that is a text", ofParts(`{"type":"resource","resource":"x:/a"}`), content(`[resource without content: {"type":"resource","resource":"x:/a"}]`)},
		{"a resource that is a list", ofParts(`{"type":"resource","resource":[{"uri":"x:/a","text":"a"},{"uri":"x:/b","blob":"AA=="},7]}`),
			content("[resource: x:/a]\na\n[resource: x:/b, 1 byte]\n[resource without content: 7]")},
		{"a resource with the answer of resources/read", ofParts(`{"type":"resource","resource":{"contents":[{"uri":"x:/a","text":"a"},{"text":"b"}]}}`),
			content("[resource: x:/a]\na\nb")},
		{"a resource without the object around it", ofParts(`{"type":"resource","uri":"x:/a","text":"a"}`), content("[resource: x:/a]\na")},
		{"a resource with other members", ofParts(`{"type":"resource","resource":{"uri":"x:/a","content":"a"}}`),
			content(`[resource without content: {"type":"resource","resource":{"uri":"x:/a","content":"a"}}]`)},
		{"R13 a blob beside an empty text", ofParts(`{"type":"resource","resource":{"uri":"x:/a","text":"","blob":"aGVsbG8=","mimeType":"text/plain"}}`), content("[resource: x:/a]\nhello")},
		{"a link in an object", ofParts(`{"type":"resource_link","resource":{"uri":"x:/a","name":"a"}}`), content("[resource link: x:/a, a]")},
		{"a resource that is empty", ofParts(`{"type":"resource","resource":{"uri":"x:/a","mimeType":"text/plain"}}`), content("[resource without content: x:/a, text/plain]")},
		{"a resource of an empty text", ofParts(`{"type":"resource","resource":{"uri":"x:/a","text":""}}`), content("[resource: x:/a]")},
		{"a blob of XML", ofParts(blob("x:/a", "application/atom+xml; charset=utf-8", "<a/>")), content("[resource: x:/a]\n<a/>")},
		{"a blob of SVG", ofParts(blob("x:/a", "image/svg+xml", "<svg/>")), content("[resource: x:/a]\n<svg/>")},
		{"a blob of text is cleaned", ofParts(blob("x:/a", "TEXT/X-Log", "\x1b[1ma\x00\U000e0041")), content("[resource: x:/a]\na\n[removed 1 invisible character]")},
		{"a blob without a type", ofParts(`{"type":"resource","resource":{"uri":"x:/a","blob":"YWJj"}}`), content("[resource: x:/a, 3 bytes]")},
		{"a blob of an image under another type", ofParts(blob("x:/a", "application/octet-stream", jpegHead)), pictures("", jpegHead)},
		{"a blob that is called an image", ofParts(blob("x:/a", "image/png", "nothing")), content("[resource: x:/a, image/png, 7 bytes]")},
		{"a blob that is broken", ofParts(`{"type":"resource","resource":{"uri":"x:/a","mimeType":"text/plain","blob":"?"}}`),
			content("[resource that cannot be decoded: x:/a, text/plain]")},

		{"R17 audio", ofParts(imagePart("image/png", png64), `{"type":"audio","mimeType":"audio/wav","data":"UklGRiQAAABXQVZF"}`),
			pictures("[audio: audio/wav, 12 bytes]", pngHead)},
		{"audio without data", ofParts(`{"type":"audio"}`), content("[audio]")},
		{"audio by URL", ofParts(`{"type":"audio","mimeType":"audio/ogg","data":"https://e.test/a.ogg"}`), content("[audio: https://e.test/a.ogg, audio/ogg]")},
	})
}

func TestImageResults(t *testing.T) {
	long := pngHead + strings.Repeat("\xfb\xff\xbe", 40) // needs + and / in base64
	std := base64.StdEncoding.EncodeToString([]byte(long))
	lines := func(separator string) string {
		var b strings.Builder
		for i := 0; i < len(std); i += 76 {
			b.WriteString(std[i:min(i+76, len(std))] + separator)
		}
		return `{"type":"image","data":"` + b.String() + `"}`
	}
	one := func(name, part string, want mcp.ToolResult) resultCase { return resultCase{name, ofParts(part), want} }
	unsupported := "[image not shown (unsupported format): "
	testResults(t, nil, []resultCase{
		one("png", image64("image/png", pngHead), pictures("", pngHead)),
		one("jpeg", image64("image/jpeg", jpegHead), pictures("", jpegHead)),
		one("gif", image64("image/gif", gifHead), pictures("", gifHead)),
		one("webp", image64("image/webp", webpHead), pictures("", webpHead)),
		one("the label is wrong", image64("image/png", jpegHead), pictures("", jpegHead)),
		one("the label is not a type", image64("jpg", webpHead), pictures("", webpHead)),
		one("the label is missing", `{"type":"image","data":"`+png64+`"}`, pictures("", pngHead)),
		{"several", ofParts(image64("", pngHead), `"a"`, image64("", gifHead)), pictures("[image 1]\na", pngHead, gifHead)},

		one("without padding", imagePart("", strings.TrimRight(png64, "=")), pictures("", pngHead)),
		one("with + and /", imagePart("", std), pictures("", long)),
		one("URL-safe", imagePart("", base64.URLEncoding.EncodeToString([]byte(long))), pictures("", long)),
		one("URL-safe without padding", imagePart("", base64.RawURLEncoding.EncodeToString([]byte(long))), pictures("", long)),
		one("with line breaks", lines(`\n`), pictures("", long)),
		one("with CRLF", lines(`\r\n`), pictures("", long)),
		one("with spaces", lines(` `), pictures("", long)),
		one("with escaped slashes", `{"type":"image","data":"`+strings.ReplaceAll(std, "/", `\/`)+`"}`, pictures("", long)),
		one("a data URI", imagePart("image/png", "data:image/png;base64,"+std), pictures("", long)),
		one("a data URI in capitals", imagePart("", "DATA:image/PNG;charset=x;BASE64,"+std), pictures("", long)),
		one("a data URI with percent signs", imagePart("", "data:;base64,"+url.PathEscape(png64)), pictures("", pngHead)),
		one("a data URI without base64", imagePart("", "data:image/gif,GIF89a%01%00%01%00%00%00%00"), pictures("", gifHead)),

		one("R16 svg", imagePart("image/svg+xml", "PHN2Zy8+"), content(unsupported+"image/svg+xml, 6 bytes]")),
		one("R16 not what the label says", imagePart("image/png", "PGh0bWw+bm90IGFuIGltYWdlPC9odG1sPg=="), content(unsupported+"image/png, 25 bytes]")),
		one("R16 empty", imagePart("image/png", ""), content("[image not shown (no data): image/png, 0 bytes]")),
		one("no data", `{"type":"image","mimeType":"image/png"}`, content("[image not shown (no data): image/png, 0 bytes]")),
		one("data null", `{"type":"image","data":null}`, content("[image not shown (no data): 0 bytes]")),
		one("data of another type", `{"type":"image","mimeType":"image/png","data":[137,80]}`, content("[image not shown (broken data): image/png, 6 bytes]")),
		one("broken base64", imagePart("image/png", "iVBORw0KGg!="), content("[image not shown (broken data): image/png, 12 bytes]")),
		one("base64 that is cut off", imagePart("image/png", "iVBORw0KG"), content("[image not shown (broken data): image/png, 9 bytes]")),
		one("a data URI without data", imagePart("image/png", "data:image/png;base64"), content("[image not shown (broken data): image/png, 21 bytes]")),
		one("bmp", image64("image/png", "BM\x00\x00"), content(unsupported+"image/bmp, 4 bytes]")),
		one("tiff", image64("image/tiff", "II*\x00"), content(unsupported+"image/tiff, 4 bytes]")),
		one("tiff of the other kind", image64("", "MM\x00*"), content(unsupported+"image/tiff, 4 bytes]")),
		one("heic", image64("image/jpeg", "\x00\x00\x00\x18ftypheic"), content(unsupported+"image/heic, 12 bytes]")),
		one("avif", image64("image/jpeg", "\x00\x00\x00\x18ftypavif"), content(unsupported+"image/avif, 12 bytes]")),
		one("riff that is not webp", image64("image/webp", "RIFF\x00\x00\x00\x00WAVE"), content(unsupported+"image/webp, 12 bytes]")),

		one("a URL in place of data", imagePart("image/png", "https://e.test/a.png"), content("[image not shown (it is not fetched): https://e.test/a.png, image/png]")),
		one("a URL in capitals", imagePart("", "HTTP://E.TEST/"), content("[image not shown (it is not fetched): HTTP://E.TEST/]")),
		one("a file in place of data", imagePart("", "file:///tmp/a.png"), content("[image not shown (it is not fetched): file:///tmp/a.png]")),
		one("a URL beside data that is not there", `{"type":"image","url":"https://e.test/a.png"}`, content("[image not shown (it is not fetched): https://e.test/a.png]")),
		one("a URI beside data that is not there", `{"type":"image","uri":"x:/a","data":null}`, content("[image not shown (it is not fetched): x:/a]")),
		one("a URL beside data", `{"type":"image","url":"https://e.test/a.png","data":"`+png64+`"}`, pictures("", pngHead)),
	})
}

// TestFailuresInOtherNames has results of servers that write names in another
// case. A failure must never read as a success.
func TestFailuresInOtherNames(t *testing.T) {
	cases := []resultCase{
		{"two flags", `{"content":["a"],"isError":true,"is_error":false}`, failure("a")},
		{"two flags of one name", `{"content":["a"],"isError":true,"isError":false}`, failure("a")},
		{"one that is odd", `{"content":["a"],"is_error":"disk full"}`, failure("a\n[isError: disk full]")},
		{"a success", `{"content":["a"],"is_error":false,"IsError":0}`, content("a")},
		{"PascalCase", `{"Content":[{"Type":"text","Text":"a"}],"StructuredContent":{"B":1},"IsError":true}`,
			mcp.ToolResult{Content: "a", IsError: true, Structured: json.RawMessage(`{"B":1}`)}},
		{"snake_case", `{"content":[],"structured_content":{"b":1},"is_error":"True"}`,
			mcp.ToolResult{Content: `{"b":1}`, IsError: true, Structured: json.RawMessage(`{"b":1}`)}},
		{"an image", `{"CONTENT":[{"type":"Image","mime_type":"image/png","Data":"` + png64 + `"}]}`, pictures("", pngHead)},
		{"a type of result", `{"result_type":"new","thing":1}`, failure(`[unknown result: {"result_type":"new","thing":1}]`)},
		{"a wrapped one", `{"tool_result":{"content":["a"]},"is_error":1}`, failure("a")},
		{"a flag within", `{"toolResult":{"content":["a"],"IsError":true},"isError":false}`, failure("a")},

		{"a member error", `{"error":"disk full"}`, failure(`[unknown result: {"error":"disk full"}]`)},
		{"a member error that is an object", `{"Error":{"code":-32000,"message":"m"}}`, failure(`[unknown result: {"Error":{"code":-32000,"message":"m"}}]`)},
		{"a member error beside content", `{"content":["a"],"error":{"code":1},"isError":false}`, failure("a\n[error: {\"code\":1}]")},
		{"a member error beside structured content", `{"structuredContent":1,"error":"e"}`, mcp.ToolResult{Content: "1\n[error: e]", IsError: true, Structured: json.RawMessage("1")}},
	}
	for _, none := range []string{"null", "false", `""`, "{}", "[]"} {
		cases = append(cases, resultCase{"no error: " + none, `{"content":["a"],"error":` + none + `}`, content("a")})
	}
	for _, name := range []string{"isError", "is_error", "IsError", "iserror", "IS_ERROR", "is-error"} {
		cases = append(cases, resultCase{name, `{"content":["a"],"` + name + `":true}`, failure("a")})
	}
	testResults(t, nil, cases)
}

// TestNaNResults is a number that JSON does not have: it costs only itself.
func TestNaNResults(t *testing.T) {
	note := "\n[NaN or an infinity is null here]"
	testResults(t, nil, []resultCase{
		{"structured content", `{"structuredContent":{"a":NaN,"b":[1,-Infinity,Infinity],"c":"NaN"}}`,
			structured(`{"a":null,"b":[1,null,null],"c":"NaN"}`+note, `{"a":null,"b":[1,null,null],"c":"NaN"}`)},
		{"beside a text", `{"content":["mean: NaN"],"structuredContent":{"mean":NaN}}`, structured("mean: NaN"+note, `{"mean":null}`)},
		{"an unknown part", ofParts(`{"type":"row","x":NaN}`, `"a"`), content(`[unknown content: {"type":"row","x":null}]` + "\na" + note)},
		{"a text that is a value", ofParts(`{"type":"text","text":NaN}`), content("null" + note)},
		{"another result", `{"rows":[Infinity]}`, content(`[unknown result: {"rows":[null]}]` + note)},
		{"metadata", `{"content":["a"],"_meta":{"t":NaN}}`, content("a")},
		{"a text alone", `{"content":["NaN"]}`, content("NaN")},
	})
}

// TestUnknownIsWhole has what is shown as it is, however long, unless the caller
// has a cap.
func TestUnknownIsWhole(t *testing.T) {
	rows := "[" + strings.Repeat(`{"name":"é","n":1},`, 5000) + "0]"
	quoted, err := json.Marshal(rows)
	require.NoError(t, err)
	cases := func(want func(string) mcp.ToolResult) []resultCase {
		return []resultCase{
			{"an unknown kind", ofParts(`{"type":"table","rows":` + rows + `}`), want(`[unknown content: {"type":"table","rows":` + rows + `}]`)},
			{"a kind with a text", ofParts(`{"type":"html","text":` + string(quoted) + `}`), want(`[unknown content "html": ` + rows + `]`)},
			{"no kind", ofParts(`{"rows":` + rows + `}`), want(`[unknown content: {"rows":` + rows + `}]`)},
			{"a list in a list", ofParts(rows), want(`[unknown content: ` + rows + `]`)},
			{"a text without text", ofParts(`{"type":"text","rows":` + rows + `}`), want(`[text without text: {"type":"text","rows":` + rows + `}]`)},
			{"a resource", ofParts(`{"type":"resource","resource":{"rows":` + rows + `}}`), want(`[resource without content: {"type":"resource","resource":{"rows":` + rows + `}}]`)},
			{"another result", `{"rows":` + rows + `}`, want(`[unknown result: {"rows":` + rows + `}]`)},
			{"a list", rows, want(`[unknown result: ` + rows + `]`)},
			{"a text", string(quoted), want(`[unknown result: ` + rows + `]`)},
			{"an old wrapper", `{"toolResult":` + rows + `}`, want(rows)},
		}
	}
	testResults(t, nil, cases(content))
	testResults(t, func(s *mcp.Server) { s.MaxOutput = 1000 }, cases(func(s string) mcp.ToolResult { return content(text.Middle(s, 1000)) }))
}

// TestImageHeaders has images that no provider takes: one of them fails every
// later turn of a conversation.
func TestImageHeaders(t *testing.T) {
	sized := func(encode func(io.Writer, image.Image) error, width, height int) string {
		var b strings.Builder
		require.NoError(t, encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
		return b.String()
	}
	toJPEG := func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }
	toGIF := func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }
	webp := func(chunk, body string) string { return "RIFF\x1a\x00\x00\x00WEBP" + chunk + "\x0a\x00\x00\x00" + body }
	ihdr := func(width, height uint32) string {
		data := []byte("IHDR\x00\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00")
		binary.BigEndian.PutUint32(data[4:], width)
		binary.BigEndian.PutUint32(data[8:], height)
		return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + string(binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data)))
	}
	var cases []resultCase
	for name, data := range map[string]string{
		"png signature":            "\x89PNG\r\n\x1a\n",
		"png and zeros":            "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 2000),
		"png of 0 by 0":            ihdr(0, 0),
		"png of 1 by 0":            ihdr(1, 0),
		"png with a wrong sum":     strings.Replace(ihdr(1, 1), "\x08\x00\x00\x00\x00", "\x08\x02\x00\x00\x00", 1),
		"jpeg start":               "\xff\xd8\xff",
		"jpeg and zeros":           "\xff\xd8\xff\xe0" + strings.Repeat("\x00", 2000),
		"jpeg without a frame":     "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9",
		"gif signature":            "GIF89a",
		"gif of 0 by 0":            "GIF89a" + strings.Repeat("\x00", 100),
		"gif of 0 by 1":            "GIF87a\x00\x00\x01\x00\x00\x00\x00",
		"webp signature":           "RIFF\x04\x00\x00\x00WEBP",
		"webp and zeros":           webp("VP8 ", strings.Repeat("\x00", 2000)),
		"webp of 0 by 0":           webp("VP8 ", "\x10\x00\x00\x9d\x01\x2a\x00\x00\x00\x00"),
		"webp lossless, and zeros": webp("VP8L", strings.Repeat("\x00", 10)),
		"webp of an unknown chunk": webp("VP9 ", strings.Repeat("\x01", 10)),
	} {
		kind, _, _ := strings.Cut(name, " ")
		part := image64("image/png", data)
		cases = append(cases,
			resultCase{name, ofParts(part), content(fmt.Sprintf("[image not shown (broken header): image/%s, %d bytes]", kind, len(data)))},
			resultCase{name + " in a resource", ofParts(`{"type":"resource","resource":{"blob":"` + base64.StdEncoding.EncodeToString([]byte(data)) + `"}}`),
				content(fmt.Sprintf("[image not shown (broken header): image/%s, %d bytes]", kind, len(data)))})
	}
	for name, data := range map[string]string{
		"png 9000 by 20":     sized(png.Encode, 9000, 20),
		"png 20 by 8001":     sized(png.Encode, 20, 8001),
		"jpeg 8001 by 1":     sized(toJPEG, 8001, 1),
		"gif 1 by 9000":      sized(toGIF, 1, 9000),
		"webp 16383 by 1":    webp("VP8 ", "\x10\x00\x00\x9d\x01\x2a\xff\x3f\x01\x00"),
		"webp 16384 by 1":    webp("VP8L", "\x2f\xff\x3f\x00\x00\x00\x00\x00\x00\x00"),
		"webp 1 by 16777216": webp("VP8X", "\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff"),
	} {
		kind, size, _ := strings.Cut(name, " ")
		cases = append(cases, resultCase{name, ofParts(image64("", data), `"a"`),
			content(fmt.Sprintf("[image left out (more than 8000 pixels on a side): image/%s, %s, %d bytes]\na", kind, size, len(data)))})
	}
	for name, data := range map[string]string{
		"png 8000 by 1": sized(png.Encode, 8000, 1), "jpeg": sized(toJPEG, 8, 8000), "gif": sized(toGIF, 8000, 8),
		"webp": webp("VP8 ", "\x10\x00\x00\x9d\x01\x2a\x40\x1f\x40\x1f"), "webp lossless": webp("VP8L", "\x2f\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		"webp extended": webp("VP8X", "\x00\x00\x00\x00\x3f\x1f\x00\x00\x00\x00"),
	} {
		cases = append(cases, resultCase{name, ofParts(image64("", data)), pictures("", data)})
	}
	testResults(t, nil, cases)
	r := asker(t, nil)(t, answer{Result: []byte(ofParts(image64("", "GIF89a")))})
	assert.Equal(t, "GIF89a", string(r.Parts[0].Data), "a program may still want it")
}

func TestImageLimits(t *testing.T) {
	big := pngHead + strings.Repeat("x", 100-len(pngHead))
	testResults(t, func(s *mcp.Server) { s.MaxImages, s.MaxImageBytes, s.MaxOutput = 2, 100, 64 }, []resultCase{
		{"all that is allowed", ofParts(image64("", big), image64("", pngHead)), pictures("", big, pngHead)},
		{"too many", ofParts(image64("", pngHead), image64("", webpHead), image64("", gifHead)),
			pictures("[image left out (more than 2): image/gif, 13 bytes]", pngHead, webpHead)},
		{"too large", ofParts(image64("", big+"x"), image64("", pngHead)), pictures("[image left out (larger than 100 bytes): image/png, 101 bytes]", pngHead)},
		{"what is left out does not count", ofParts(image64("", "BM"), image64("", pngHead), image64("", gifHead)),
			pictures("[image not shown (unsupported format): image/bmp, 2 bytes]", pngHead, gifHead)},
		{"from a source", ofParts(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png64 + `"}}`), pictures("", pngHead)},
		{"from a blob", ofParts(`{"type":"image","blob":"` + png64 + `"}`), pictures("", pngHead)},
		{"from a resource", ofParts(image64("", pngHead), image64("", pngHead), `{"type":"resource","resource":{"blob":"`+png64+`"}}`),
			pictures("[image left out (more than 2): image/png, "+strconv.Itoa(len(pngHead))+" bytes]", pngHead, pngHead)},
		{"R19 images are kept whole", ofParts(`"`+strings.Repeat("a", 100)+`"`, image64("", big)),
			pictures(strings.Repeat("a", 32)+"\n[58 bytes left out]\n"+strings.Repeat("a", 10), big)},
	})
}

func TestAudience(t *testing.T) {
	part := func(text, audience string) string {
		return `{"type":"text","text":"` + text + `","annotations":{"audience":` + audience + `}}`
	}
	withStructured := `{"content":[` + part("a", `["user"]`) + `],"structuredContent":{"b":1}`
	testResults(t, nil, []resultCase{
		{"for the user", ofParts(part("a", `["user"]`), part("b", `["assistant"]`)), content("b\n[left out 1 part meant only for the user]")},
		{"for both", ofParts(part("a", `["user","assistant"]`), part("b", `["assistant","user"]`)), content("a\nb")},
		{"for nobody", ofParts(part("a", `[]`), `"b"`), content("a\nb")},
		{"several for the user", ofParts(part("a", `["user"]`), `"b"`, part("c", `["user","user"]`)), content("b\n[left out 2 parts meant only for the user]")},
		{"an image for the user", ofParts(`{"type":"image","data":"`+png64+`","annotations":{"audience":["user"]}}`, `"b"`), content("b\n[left out 1 part meant only for the user]")},
		{"beside an image", ofParts(part("a", `["user"]`), image64("", pngHead)), pictures("[left out 1 part meant only for the user]", pngHead)},
		{"nothing else", ofParts(part("a", `["user"]`), part("b", `["user"]`)), content("a\nb")},
		{"nothing else but white space", ofParts(part("a", `["user"]`), `" "`), content(" \na")},
		{"nothing else in an error", `{"isError":true,"content":[` + part("a", `["user"]`) + `]}`, failure("a")},
		{"beside structured content", withStructured + `}`, structured("{\"b\":1}\n[left out 1 part meant only for the user]", `{"b":1}`)},
		{"an error's text wins", withStructured + `,"isError":true}`, mcp.ToolResult{Content: "a", IsError: true, Structured: json.RawMessage(`{"b":1}`)}},
		{"a wrong type", ofParts(part("a", `"user"`), part("b", `{"user":1}`), part("c", `["user",1]`)), content("a\nb\nc")},
	})
}

// partsOf are the parts of a result without Raw, which is compared with what was
// sent.
func partsOf(t *testing.T, r mcp.ToolResult, sent ...string) []mcp.Part {
	t.Helper()
	var parts []mcp.Part
	for i, part := range r.Parts {
		if assert.Less(t, i, len(sent)) {
			assert.Equal(t, sent[i], string(part.Raw))
		}
		part.Raw = nil
		parts = append(parts, part)
	}
	assert.Len(t, parts, len(sent))
	return parts
}

// TestParts has one part of each kind, in a small answer and behind a text that
// makes a large one.
func TestParts(t *testing.T) {
	ask := asker(t, func(s *mcp.Server) { s.MaxImages = 1 })
	wav := []byte("RIFF\x24\x00\x00\x00WAVE")
	pdf := []byte("%PDF-1.4\n")
	std := base64.StdEncoding.EncodeToString
	for _, c := range []struct {
		sent, large string // large is what is left of it in a large answer
		want        mcp.Part
	}{
		{`{"type":"text","text":"a\n\u001b[1mb","annotations":{"audience":["user","assistant"],"priority":0.5},"_meta":{"k":[1]}}`,
			`{"type":"text","text":null,"annotations":{"audience":["user","assistant"],"priority":0.5},"_meta":{"k":[1]}}`,
			mcp.Part{Type: "text", Text: "a\nb", Audience: []string{"user", "assistant"}}},
		{`"a text"`, `null`, mcp.Part{Text: "a text"}},
		{`{ "text" : {"b":[1]} , "type" : "text" }`, `{ "text" : null , "type" : "text" }`, mcp.Part{Type: "text", Text: `{"b":[1]}`}},
		{`{"type":"text","text":"for you","annotations":{"audience":["user"]}}`, `{"type":"text","text":null,"annotations":{"audience":["user"]}}`,
			mcp.Part{Type: "text", Text: "for you", Audience: []string{"user"}}},
		{`{"type":"image","mimeType":"image/jpeg","data":"` + png64 + `"}`, `{"type":"image","mimeType":"image/jpeg","data":null}`,
			mcp.Part{Type: "image", MIMEType: "image/png", Data: []byte(pngHead)}},
		{`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png64 + `"}}`,
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":null}}`,
			mcp.Part{Type: "image", MIMEType: "image/png", Data: []byte(pngHead), Text: fmt.Sprintf("[image left out (more than 1): image/png, %d bytes]", len(pngHead))}},
		{`{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zy8+"}`, `{"type":"image","mimeType":"image/svg+xml","data":null}`,
			mcp.Part{Type: "image", MIMEType: "image/svg+xml", Data: []byte("<svg/>"), Text: "[image not shown (unsupported format): image/svg+xml, 6 bytes]"}},
		{`{"type":"image","mimeType":"image/png","data":"?"}`, `{"type":"image","mimeType":"image/png","data":"?"}`,
			mcp.Part{Type: "image", MIMEType: "image/png", Text: "[image not shown (broken data): image/png, 1 byte]"}},
		{`{"type":"audio","mimeType":"audio/wav","data":"` + std(wav) + `"}`, `{"type":"audio","mimeType":"audio/wav","data":null}`,
			mcp.Part{Type: "audio", MIMEType: "audio/wav", Data: wav, Text: "[audio: audio/wav, 12 bytes]"}},
		{`{"type":"resource_link","uri":"file:///a.pdf","name":"a","mimeType":"application/pdf","size":9}`, `{"type":"resource_link","uri":"file:///a.pdf","name":"a","mimeType":"application/pdf","size":9}`,
			mcp.Part{Type: "resource_link", MIMEType: "application/pdf", URI: "file:///a.pdf", Text: "[resource link: file:///a.pdf, a, application/pdf, 9 bytes]"}},
		{`{"type":"resource_link","uri":"x:/a","blob":"` + std(pdf) + `"}`, `{"type":"resource_link","uri":"x:/a","blob":null}`,
			mcp.Part{Type: "resource_link", URI: "x:/a", Data: pdf, Text: "[resource link: x:/a]"}},
		{`{"type":"resource","resource":{"uri":"x:/a.pdf","mimeType":"application/pdf","blob":"` + std(pdf) + `"},"_meta":{"n":1}}`,
			`{"type":"resource","resource":{"uri":"x:/a.pdf","mimeType":"application/pdf","blob":null},"_meta":{"n":1}}`,
			mcp.Part{Type: "resource", MIMEType: "application/pdf", URI: "x:/a.pdf", Data: pdf, Text: "[resource: x:/a.pdf, application/pdf, 9 bytes]"}},
		{`{"type":"resource","resource":{"uri":"x:/a","mimeType":"text/plain","text":"a\nb"}}`, `{"type":"resource","resource":{"uri":"x:/a","mimeType":"text/plain","text":null}}`,
			mcp.Part{Type: "resource", MIMEType: "text/plain", URI: "x:/a", Text: "a\nb"}},
		{`{"type":"resource","resource":{"uri":"x:/a","mimeType":"application/json","blob":"eyJhIjoxfQ=="}}`, `{"type":"resource","resource":{"uri":"x:/a","mimeType":"application/json","blob":null}}`,
			mcp.Part{Type: "resource", MIMEType: "application/json", URI: "x:/a", Data: []byte(`{"a":1}`), Text: `{"a":1}`}},
		{`{"type":"markdown","text":"# abc"}`, `{"type":"markdown","text":null}`, mcp.Part{Type: "markdown", Text: "# abc"}},
		{`{"type":"table","rows":[[1,NaN]]}`, `{"type":"table","rows":[[1,null]]}`, mcp.Part{Type: "table", Text: `[unknown content: {"type":"table","rows":[[1,null]]}]`}},
		{`{"type":"video","mimeType":"video/mp4","data":"AAAA"}`, `{"type":"video","mimeType":"video/mp4","data":null}`,
			mcp.Part{Type: "video", MIMEType: "video/mp4", Data: []byte{0, 0, 0}, Text: "[video: video/mp4, 3 bytes]"}},
		{`{"Type":"Text","Text":"abcd"}`, `{"Type":"Text","Text":null}`, mcp.Part{Type: "Text", Text: "abcd"}},
		{`{"type":"ResourceLink","uri":"x:/a"}`, `{"type":"ResourceLink","uri":"x:/a"}`, mcp.Part{Type: "ResourceLink", URI: "x:/a", Text: "[resource link: x:/a]"}},
		{`{"Type":"text","Mime_Type":"text/plain","Text":"abc"}`, `{"Type":"text","Mime_Type":"text/plain","Text":null}`, mcp.Part{Type: "text", MIMEType: "text/plain", Text: "abc"}},
		{"{\"type\":\"text\",\"text\":\"caf\xe9\x01\"}", `{"type":"text","text":null}`, mcp.Part{Type: "text", Text: "caf\uFFFD"}},
		{`{}`, `{}`, mcp.Part{Text: "[unknown content: {}]"}},
	} {
		t.Run(c.sent, func(t *testing.T) {
			image := image64("", pngHead) // takes the one place, or the second one
			sent := strings.NewReplacer("NaN", "null", "\xe9", "\uFFFD", "\x01", `\u0001`).Replace(c.sent)
			parts := []string{c.sent, `"b"`}
			if strings.Contains(c.want.Text, "more than 1") {
				parts = []string{image, c.sent}
				got := ask(t, answer{Result: []byte(ofParts(parts...))})
				assert.Equal(t, c.want, partsOf(t, got, image, sent)[1])
				return
			}
			small := ask(t, answer{Result: []byte(ofParts(parts...))})
			assert.Equal(t, []mcp.Part{c.want, {Text: "b"}}, partsOf(t, small, sent, `"b"`))
			long := strings.Repeat("0123456789abcdef", 4<<10)
			large := ask(t, answer{Result: []byte(ofParts(append(parts, `"`+long+`"`)...))})
			for range 3 { // which would spoil what is still in their buffer
				ask(t, answer{Result: []byte(ofParts(`"` + strings.Repeat("#", len(long)+1000) + `"`))})
			}
			assert.Equal(t, []mcp.Part{c.want, {Text: "b"}, {Text: long}}, partsOf(t, large, c.large, `"b"`, `null`))
		})
	}
}

// TestPartsShareMemory proves that parts are not copies of what is in the result.
func TestPartsShareMemory(t *testing.T) {
	ask := asker(t, nil)
	for _, text := range []string{"short", strings.Repeat("long\n", 20_000)} {
		encoded, err := json.Marshal(text)
		require.NoError(t, err)
		r := ask(t, answer{Result: []byte(ofParts(`{"type":"text","text":` + string(encoded) + `}`))})
		require.Equal(t, text, r.Content)
		assert.Same(t, unsafe.StringData(r.Content), unsafe.StringData(r.Parts[0].Text))
	}
	r := ask(t, answer{Result: []byte(ofParts(image64("image/png", pngHead)))})
	assert.Same(t, &r.Images[0].Data[0], &r.Parts[0].Data[0])
}

// TestResourceListParts has a list where the specification has one resource.
func TestResourceListParts(t *testing.T) {
	ask := asker(t, nil)
	r := ask(t, answer{Result: []byte(ofParts(`{"type":"resource","resource":[{"uri":"x:/a","text":"a"},{"uri":"x:/b","blob":"AA=="},7]}`, `"b"`))})
	assert.Equal(t, []mcp.Part{
		{Type: "resource", URI: "x:/a", Text: "a"},
		{Type: "resource", URI: "x:/b", Data: []byte{0}, Text: "[resource: x:/b, 1 byte]"},
		{Type: "resource", Text: "[resource without content: 7]"},
		{Text: "b"},
	}, partsOf(t, r, `{"uri":"x:/a","text":"a"}`, `{"uri":"x:/b","blob":"AA=="}`, `7`, `"b"`))
	for _, none := range []string{`{}`, `{"content":[]}`, `{"content":null}`, `{"structuredContent":1}`, `null`, `7`, `{"toolResult":"a"}`} {
		assert.Nil(t, ask(t, answer{Result: []byte(none)}).Parts, none)
	}
	assert.Nil(t, ask(t, answer{Error: []byte(`{"code":1}`)}).Parts)
}

// TestOrder is U15: a model is told where images stood among texts.
func TestOrder(t *testing.T) {
	png, gif := image64("", pngHead), image64("", gifHead)
	testResults(t, nil, []resultCase{
		{"between texts", ofParts(`"Before:"`, png, `"After:"`, gif), pictures("Before:\n[image 1]\nAfter:", pngHead, gifHead)},
		{"before a text", ofParts(png, gif, `"a"`), pictures("[image 1]\n[image 2]\na", pngHead, gifHead)},
		{"behind all texts", ofParts(`"a"`, `"b"`, png, gif), pictures("a\nb", pngHead, gifHead)},
		{"before a note alone", ofParts(png, `{"type":"audio"}`), pictures("[audio]", pngHead)},
		{"before a note and a text", ofParts(png, `{"type":"audio"}`, `"a"`), pictures("[image 1]\n[audio]\na", pngHead)},
		{"before an embedded text", ofParts(png, `{"type":"resource","resource":{"uri":"x:/a","text":"a"}}`), pictures("[image 1]\n[resource: x:/a]\na", pngHead)},
		{"before an empty text", ofParts(png, `""`), pictures("", pngHead)},
		{"before white space", ofParts(png, `" "`), pictures("", pngHead)},
		{"before what is for the user", ofParts(png, `{"type":"text","text":"a","annotations":{"audience":["user"]}}`),
			pictures("[left out 1 part meant only for the user]", pngHead)},
		{"for the user alone", ofParts(strings.Replace(png, "{", `{"annotations":{"audience":["user"]},`, 1), `{"type":"text","text":"a","annotations":{"audience":["user"]}}`),
			pictures("[image 1]\na", pngHead)},
		{"one that is not shown", ofParts(`"a"`, image64("", "BM"), `"b"`, png, `"c"`),
			pictures("a\n[image not shown (unsupported format): image/bmp, 2 bytes]\nb\n[image 1]\nc", pngHead)},
		{"a failure", `{"isError":true,"content":[` + png + `,"a"]}`, mcp.ToolResult{Content: "[image 1]\na", IsError: true, Images: pictures("", pngHead).Images}},
		{"a note on the whole", "{\"content\":[" + png + "],\"isError\":\"odd\"}",
			mcp.ToolResult{Content: failed + "\n[isError: odd]", IsError: true, Images: pictures("", pngHead).Images}},
	})
}

func TestTextHygiene(t *testing.T) {
	say := func(s string) string { return `{"content":[{"type":"text","text":"` + s + `"}]}` }
	testResults(t, nil, []resultCase{
		{"R21 Latin-1", say("caf\xe9 \xc4\xd6"), content("caf\uFFFD \uFFFD\uFFFD")},
		{"R21 a lone surrogate", say(`a\ud83db\udc00c\ud83d\ude00`), content("a\uFFFDb\uFFFDc\U0001f600")},
		{"R23 NUL", say(`a\u0000b\u0000`), content("a\nb")},
		{"U14 pages", say(`end of page one.\fPage two begins`), content("end of page one.\nPage two begins")},
		{"U14 old line ends", say(`alpha,1\rbeta,2\rgamma,3`), content("alpha,1\nbeta,2\ngamma,3")},
		{"U14 file names", say(`src/a.go\u0000src/b.go\u0000`), content("src/a.go\nsrc/b.go")},
		{"U14 fields", say(`9f1c2ab\u001fAnna\u001f2026-01-02\u001e`), content("9f1c2ab Anna 2026-01-02")},
		{"U14 as they are", say("a\x0cb\x0bc\xc2\x85d\re"), content("a\nb\nc\nd\ne")},
		{"R23 colours and links", say(`\u001b[31mred\u001b[0m\u001b]8;;http://e.test\u0007link\u001b]8;;\u0007`), content("redlink")},
		{"R23 other scripts", say("café – ok 漢字 שלום עִברית"), content("café – ok 漢字 שלום עִברית")},
		{"controls as they are", say("a\x01\x1b[1mb\x7f"), content("ab")},
		{"CRLF as it came", say(`a\r\nb\tc\n`), content("a\r\nb\tc\n")},
		{"a file with invisible formatting", say(`\ufeffa\u200bb\u2060c\u202ed\u2066e`), content("\ufeffa\u200bb\u2060c\u202ed\u2066e")},
		{"hidden text", say("hi\U000e0049\U000e0047\U000e004e\U000e004f\U000e0052\U000e0045"), content("hi\n[removed 6 invisible characters]")},
		{"hidden text as escapes", say(`hi\udb40\udc41`), content("hi\n[removed 1 invisible character]")},
		{"hidden text alone", say("\U000e0041"), content(nothing + "\n[removed 1 invisible character]")},
		{"a note for all parts", ofParts(`"a`+"\U000e0041"+`"`, `"b`+"\U000e0041"+`"`), content("a\nb\n[removed 2 invisible characters]")},
		{"hidden text in a note", ofParts(`{"type":"resource_link","uri":"x:/a","description":"` + "\U000e0041b" + `"}`), content("[resource link: x:/a, b]\n[removed 1 invisible character]")},
		{"flags and joined emoji", say("\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f \U0001f469\u200d\U0001f4bb"),
			content("\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f \U0001f469\u200d\U0001f4bb")},
	})
}

func TestErrorAnswers(t *testing.T) {
	ask := asker(t, nil)
	for _, c := range []struct{ name, answer, want string }{
		{"R09 with data", `{"code":-32602,"message":"missing field owner","data":{"field":"owner"}}`, `[error] missing field owner (code -32602): {"field":"owner"}`},
		{"without data", `{"code":-32603,"message":"boom"}`, `[error] boom (code -32603)`},
		{"without a message", `{"code":-32603}`, `[error] the server gave no message (code -32603)`},
		{"without a code", `{"message":"boom"}`, `[error] boom`},
		{"a text", `"boom"`, `[error] boom`},
		{"with long data", `{"code":1,"message":"m","data":"` + strings.Repeat("x", 3000) + `"}`, `[error] m (code 1): "` + strings.Repeat("x", 2047) + `… (3002 bytes)`},
		{"not clean", "{\"code\":1,\"message\":\"\\u001b[31ma\\u0000\U000e0041\"}", "[error] a (code 1)\n[removed 1 invisible character]"},
		{"URL elicitation", `{"code":-32042,"message":"Authorization is needed","data":{"elicitations":[` +
			`{"mode":"url","elicitationId":"1","url":"https://e.test/connect?id=1","message":"Connect your account"},{"mode":"url","url":"https://e.test/2"},{"message":"only this"},{},3]}}`,
			"[error] Authorization is needed (code -32042)\nConnect your account: https://e.test/connect?id=1\nhttps://e.test/2\nonly this"},
		{"URL elicitation without URLs", `{"code":-32042,"message":"m","data":{"elicitations":[]}}`, `[error] m (code -32042): {"elicitations":[]}`},
		{"URL elicitation with other data", `{"code":-32042,"message":"m","data":7}`, `[error] m (code -32042): 7`},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, failure(c.want), ask(t, answer{Error: []byte(c.answer)}))
		})
	}
}

func TestWhatTheClientLacks(t *testing.T) {
	needs := `[the tool "tool" needs input, which this client does not offer`
	task := failure(`[the tool "tool" wants to run as a task, which this client does not offer]`)
	form := `"a":{"method":"elicitation/create","params":{"mode":"form","message":"What is your name?"}}`
	testResults(t, nil, []resultCase{
		{"input", `{"resultType":"input_required","inputRequests":{` + form + `},"requestState":"x"}`, failure(needs + `: elicitation/create: What is your name?]`)},
		{"several inputs", `{"resultType":"input_required","inputRequests":{` + form + `,"b":{"method":"roots/list"},"c":{"params":{"url":"https://e.test","message":"Open"}},"d":null}}`,
			failure(needs + `: elicitation/create: What is your name?; roots/list; Open: https://e.test]`)},
		{"input without requests", `{"resultType":"input_required"}`, failure(needs + "]")},
		{"input with null", `{"resultType":"input_required","inputRequests":{"x":null}}`, failure(needs + "]")},
		{"input without a type", `{"inputRequests":{` + form + `}}`, failure(needs + `: elicitation/create: What is your name?]`)},
		{"input beside content", `{"resultType":"input_required","content":[{"type":"text","text":"a"}]}`, failure("a\n" + needs + "]")},
		{"many inputs", `{"resultType":"input_required","inputRequests":{` + strings.Repeat(`"x":{"method":"m"},`, 20) + `"y":1}}`,
			failure(needs + ": " + strings.Repeat("m; ", 10) + "and more]")},
		{"task of 2025-11-25", `{"task":{"taskId":"7","status":"working","createdAt":"2025-11-25T10:30:00Z","ttl":60000}}`, task},
		{"task of 2026-07-28", `{"resultType":"task","taskId":"7","status":"working"}`, task},
		{"a member task beside content", `{"task":{"taskId":"7"},"content":[{"type":"text","text":"a"}]}`, content("a")},
		{"a member task that is none", `{"task":"sweep"}`, content(`[unknown result: {"task":"sweep"}]`)},
	})
}

func TestMaxOutput(t *testing.T) {
	mixed := strings.Repeat("aé漢\U0001f600", 1250) // 10 bytes each
	for _, limit := range []int{64, 65, 66, 67, 68, 100, 1000, 12_499, 12_500, 100_000} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			ask := asker(t, func(s *mcp.Server) { s.MaxOutput = limit })
			r := ask(t, answer{Error: []byte(`{"message":"` + mixed + `"}`)})
			assert.LessOrEqual(t, len(r.Content), limit)
			for _, isError := range []string{"false", "true"} {
				r := ask(t, answer{Result: []byte(`{"content":["` + mixed + `"],"isError":` + isError + `}`)})
				assert.Equal(t, isError == "true", r.IsError)
				if limit >= len(mixed) {
					assert.Equal(t, mixed, r.Content)
					continue
				}
				assert.LessOrEqual(t, len(r.Content), limit)
				assert.Greater(t, len(r.Content), limit-12)
				assert.True(t, utf8.ValidString(r.Content))
				head, rest, _ := strings.Cut(r.Content, "\n[")
				note, tail, _ := strings.Cut(rest, "]\n")
				assert.Equal(t, fmt.Sprintf("%d bytes left out", len(mixed)-len(head)-len(tail)), note)
				assert.True(t, strings.HasPrefix(mixed, head))
				assert.True(t, strings.HasSuffix(mixed, tail))
				assert.InDelta(t, 0.75, float64(len(head))/float64(len(head)+len(tail)), 0.1)
			}
		})
	}
	t.Run("R19 many parts", func(t *testing.T) {
		ask := asker(t, func(s *mcp.Server) { s.MaxOutput = 1000 })
		parts := make([]string, 200)
		for i := range parts {
			parts[i] = `"` + strings.Repeat(string(rune('a'+i%26)), 50_000) + `"`
		}
		r := ask(t, answer{Result: []byte(ofParts(parts...))})
		assert.Equal(t, content(strings.Repeat("a", 730)+"\n[9999226 bytes left out]\n"+strings.Repeat("r", 243)), said(r))
	})
}

func TestLimitsAreChecked(t *testing.T) {
	for _, c := range []struct {
		change func(*mcp.Server)
		want   string // "" means valid
	}{
		{func(s *mcp.Server) { s.MaxOutput = -1 }, "MaxOutput must be 0 or at least 64"},
		{func(s *mcp.Server) { s.MaxOutput = 1 }, "MaxOutput must be 0 or at least 64"},
		{func(s *mcp.Server) { s.MaxOutput = 63 }, "MaxOutput must be 0 or at least 64"},
		{func(s *mcp.Server) { s.MaxImages = -1 }, "MaxImages must not be negative"},
		{func(s *mcp.Server) { s.MaxImageBytes = -1 }, "MaxImageBytes must not be negative"},
		{func(s *mcp.Server) { s.CallTimeout = -1 }, "CallTimeout must not be negative"},
		{func(s *mcp.Server) { s.MaxOutput, s.MaxImages, s.MaxImageBytes, s.CallTimeout = 64, 1, 1, 1 }, ""},
	} {
		server := mcp.Server{Name: "test", Command: "/does/not/exist"}
		c.change(&server)
		_, err := mcp.Connect(t.Context(), server)
		if c.want == "" {
			assert.NotErrorIs(t, err, mcp.ErrInvalidServer)
			continue
		}
		assert.ErrorIs(t, err, mcp.ErrInvalidServer)
		assert.ErrorContains(t, err, `mcp server "test": invalid server: `+c.want)
	}
}

func TestListingHygiene(t *testing.T) {
	c := connect(t, stdioServer(t, "hidden"))
	tools := c.Tools()
	require.Len(t, tools, 3)
	assert.Equal(t, "Tool a from the MCP server test. Reads.", tools[0].Description)
	assert.Equal(t, "A", tools[0].Title)
	assert.Equal(t, "Tool b from the MCP server test. \u05e9\u05dc\u05d5\u05dd \U0001f469\u200d\U0001f4bb bold", tools[1].Description)
	assert.Equal(t, "Tool c\uFFFD from the MCP server test.", tools[2].Description)
	assert.Equal(t, "c\uFFFD", tools[2].ServerTool, "the name that is called is the server's")
	assert.Equal(t, []string{`removed 7 invisible characters from what the server says of tool "a"`}, c.Warnings())
}

func init() {
	servers["hidden"] = func(p *mcptest.Peer) {
		p.Tools = `[{"name":"a","title":"A\u200b","description":"\u202eRe\u2060ads.\u2069` + "\U000e0041\U000e0042\U000e0043" + `"},` +
			`{"name":"b","description":"\u05e9\u05dc\u05d5\u05dd \ud83d\udc69\u200d\ud83d\udcbb \u001b[1mbold\u001b[0m\u0000"},` +
			`{"name":"c\ud800"}]`
		p.Serve()
	}
}

func init() {
	servers["long"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			var arguments struct{ Size int }
			json.Unmarshal(r.Params.Arguments, &arguments)
			p.Reply(r, `{"content":["`+strings.Repeat("0123456789abcdef", arguments.Size/16)+`"]}`)
		}
		p.Serve()
	}
}

// TestLongResults is R20: a line of any length below the cap of 64 MiB is
// delivered, one above it costs its own call.
func TestLongResults(t *testing.T) {
	tool := connect(t, stdioServer(t, "long")).Tools()[0]
	for _, size := range []int{1 << 20, 17 << 20, 63 << 20, 65 << 20, 1 << 10} {
		result, err := tool.Handler(t.Context(), fmt.Appendf(nil, `{"size":%d}`, size))
		if size == 65<<20 {
			assert.ErrorContains(t, err, "longer than the 67108864 allowed")
			continue
		}
		require.NoError(t, err)
		require.Len(t, result.Content, size)
		assert.Equal(t, "0123456789abcdef", result.Content[size-16:])
	}
}
