package schema

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	var properties []string
	for p := range 8 {
		properties = append(properties, fmt.Sprintf(`"property_%d":{"type":"string","description":"What the property number %d of this tool is for, in a sentence."}`, p, p))
	}
	text := []byte(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":["property_1"]}},{"tail":1}`)
	z := Normalizer{Clean: func(s string) string { return s }}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, _, n := z.Read(text); n == 0 {
			b.Fatal()
		}
	}
}
