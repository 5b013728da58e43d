package rpc

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCallParams(t *testing.T) {
	protocol, caller := []byte(`"p":{"v":1}`), []byte(`"a":"b","c":2`)
	for want, got := range map[string][]byte{
		`{"name":"x","arguments":{}}`:                                                              CallParams("x", []byte(`{}`), 0),
		`{"name":"a\"b\n","arguments":{"k":"<&>  ","n":1.0}}`:                                      CallParams("a\"b\n", []byte("{\"k\" : \"<&>  \",\n\"n\":1.0}"), 0, nil, nil),
		`{"_meta":{"progressToken":7},"name":"x","arguments":{}}`:                                  CallParams("x", []byte(`{}`), 7),
		`{"_meta":{"p":{"v":1}},"name":"x","arguments":{}}`:                                        CallParams("x", []byte(`{}`), 0, protocol, nil),
		`{"_meta":{"p":{"v":1},"a":"b","c":2,"progressToken":7},"name":"x","arguments":{"q":[1]}}`: CallParams("x", []byte(`{"q":[1]}`), 7, protocol, caller),
	} {
		assert.Equal(t, want, string(got))
	}
	assert.Equal(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"no","requestId":5}}`, string(Encode(0, MethodCancelled, Cancelled(5, "no"))))
}

// A code that is long makes no copies of itself.
func TestLongErrorCode(t *testing.T) {
	object := []byte(`{"code":"` + strings.Repeat("9", 8<<20) + `","message":"m"}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := ParseError(object)
	runtime.ReadMemStats(&after)
	assert.Equal(t, "m", e.Message)
	assert.Zero(t, e.Code)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(len(object)))
}
