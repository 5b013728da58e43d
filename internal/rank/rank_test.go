package rank

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"getPullRequest_files":    "get pull reques file",
		"parseHTTPResponse":       "parse http respon",
		"emptyS3Trashcan":         "empty s3 trashc",
		"API-post-search":         "api post search",
		"created creates create":  "create create create",
		"is class bus files":      "is clas bus file",
		"v2 utf8 3D":              "v2 utf8 3d",
		"Überprüfung der Straßen": "überpr der straße",
		"файлы удалить":           "файлы удалит",
		"使用必应搜索 web":              "使 用 必 应 搜 索 web",
		"파일을 read":                "파 일 을 read",
		"\xff\xfe a\x00b":         "a b",
		"":                        "",
		strings.Repeat("z", 100):  "zzzzzz",
	} {
		assert.Equal(t, want, list(text), text)
	}
}

// find searches a list of tools, "name: description" each.
func find(t *testing.T, c *Catalog, query string, tools ...string) (names []string) {
	t.Helper()
	at := func(i int) Tool {
		name, description, _ := strings.Cut(tools[i], ": ")
		return Tool{Name: name, ServerTool: name, Server: "s", Description: description, Schema: []byte(`{"type":"object"}`)}
	}
	found, _, err := c.Find(t.Context(), len(tools), at, query, 5, 15)
	require.NoError(t, err)
	for _, i := range found {
		names = append(names, at(i).Name)
	}
	return names
}

func TestFind(t *testing.T) {
	tools := []string{"delete_branch: Deletes a branch.", "list_branches: Lists the branches of a repository.",
		"send_mail: Sends a message to somebody.", "generate_boxplot: Draws quartiles.", "파일_삭제: 파일을 삭제합니다", "emptyS3Trashcan: Empties it."}
	for query, want := range map[string][]string{
		"deleting a branch":                   {"delete_branch", "list_branches"},
		"remove branch":                       {"delete_branch", "list_branches"},
		"can you please do this to a branch?": {"delete_branch", "list_branches"},
		"box plot":                            {"generate_boxplot"},
		"삭제":                                  {"파일_삭제"},
		"trash can s3":                        {"emptyS3Trashcan"},
		"branch send_mail":                    {"send_mail", "delete_branch", "list_branches"}, // a name comes first
		"what can you do":                     nil,
		"":                                    nil,
		"zzz ?!":                              nil,
	} {
		assert.Equal(t, want, find(t, NewCatalog(), query, tools...), query)
	}
	assert.Empty(t, find(t, NewCatalog(), "x"))
}

// A word that all tools have finds the first of them.
func TestFindWhatAllHave(t *testing.T) {
	var tools []string
	for i := range 3000 {
		tools = append(tools, fmt.Sprintf("tool%d: does a thing", i))
	}
	assert.Equal(t, []string{"tool0", "tool1", "tool2"}, find(t, NewCatalog(), "thing", tools...)[:3])
}

// Two ways to write one name take one place.
func TestFindTwins(t *testing.T) {
	tools := []string{"get_user: A.", "getUser: A.", "user_b: x", "user_c: x", "user_d: x", "user_e: x", "user_f: x"}
	found := find(t, NewCatalog(), "get user", tools...)
	assert.Len(t, found, len(tools), "none is lost")
	assert.Equal(t, "get_user", found[0])
	assert.Equal(t, 5, slices.Index(found, "getUser"), "behind what is shown")
}

// A catalog that has seen other lists finds the same as a new one.
func TestFindAfterChanges(t *testing.T) {
	c := NewCatalog()
	for round := range 60 {
		var tools []string
		for i := range 40 {
			if (i+round)%7 != 0 {
				tools = append(tools, fmt.Sprintf("tool%d_%c: does thing %d%s", i, 'a'+i%5, i*(round%(i%9+1))%11, strings.Repeat(" more", round*i%4)))
			}
		}
		tools = append(tools, tools[0]+" again") // of two with one name the first counts
		for _, query := range []string{"thing 3", "more", "tool a", "tool7_c"} {
			require.Equal(t, find(t, NewCatalog(), query, tools...), find(t, c, query, tools...), "%d %s", round, query)
		}
		assert.Less(t, len(c.index.documents), 2*c.index.live+16, "what is gone takes little room")
	}
	assert.Empty(t, find(t, c, "thing"))
	assert.Empty(t, c.index.terms)
}

// What stays is not read again.
func TestUpdateReadsWhatChanged(t *testing.T) {
	c := NewCatalog()
	find(t, c, "x", "a: one", "b: two")
	before := slices.Clone(c.index.documents)
	find(t, c, "x", "a: one", "b: three")
	assert.Equal(t, before[0], c.index.documents[0])
	assert.Len(t, c.index.documents, 3, "one was added, one is left of what was removed")
}

// A search that is called off leaves what it did to the next one.
func TestFindEnds(t *testing.T) {
	c := NewCatalog()
	ctx, cancel := context.WithCancelCause(t.Context())
	n := 0
	at := func(i int) Tool {
		if n++; n == 3 {
			cancel(assert.AnError)
		}
		return Tool{Name: fmt.Sprint("tool", i), Description: "does a thing"}
	}
	_, _, err := c.Find(ctx, 5, at, "thing", 5, 15)
	assert.ErrorIs(t, err, assert.AnError)
	found, _, err := c.Find(t.Context(), 5, at, "thing", 5, 15)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 2, 3, 4}, found)
	c.lock <- struct{}{} // held by another search
	_, _, err = c.Find(ctx, 5, at, "thing", 5, 15)
	assert.ErrorIs(t, err, assert.AnError)
}

// Words that a server puts in for the sake of searches cannot buy a place.
func TestFindStuffed(t *testing.T) {
	nouns := strings.Fields("file folder page user issue branch message event table chart image invoice contact pod node label note")
	verbs := strings.Fields("create delete list update get search send move copy open")
	var tools []Tool
	for _, verb := range verbs {
		for _, noun := range nouns {
			name := verb + "_" + noun
			tools = append(tools, Tool{Name: name, ServerTool: name, Description: "Use it to " + verb + " one " + noun + " by its id.", Schema: []byte(`{"properties":{"id":{},"` + noun + `":{}}}`)})
		}
	}
	common := strings.Join(verbs, " ") + " " + strings.Join(nouns, " ") + " use it to one by its id"
	for _, times := range []int{1, 3, 20} {
		text := strings.Repeat(common+" ", times)
		for _, bad := range []Tool{
			{Name: "bad", Description: text},
			{Name: "bad", Title: text},
			{Name: "bad", Schema: []byte(`["` + text + `"]`)},
			{Name: "bad", Title: text, Description: text, Schema: []byte(`["` + text + `"]`)},
		} {
			all := append(slices.Clone(tools), bad)
			c := NewCatalog()
			for _, verb := range verbs {
				for _, noun := range nouns {
					found, _, err := c.Find(t.Context(), len(all), func(i int) Tool { return all[i] }, verb+" a "+noun, 5, 15)
					require.NoError(t, err)
					require.Equal(t, verb+"_"+noun, all[found[0]].Name)
					require.NotContains(t, found[:5], len(tools), "%s a %s", verb, noun)
				}
			}
		}
	}
}

// Words that no other tool has, repeated, do not buy one either. The tool is found
// where nothing else is.
func TestFindRepeats(t *testing.T) {
	tools := []string{"send_mail: Sends a message to one person.", "list_files: Lists what is in a folder.", "get_file: Reads what is in a file of a folder.",
		"delete_file: Removes a file.", "open_page: Opens a page in the browser.", "draw_chart: Draws a chart of numbers."}
	words := "tomorrow lunch boss budget report send mail file folder page browser chart numbers people friday meeting "
	for _, times := range []int{3, 20} {
		all := append(slices.Clone(tools), "bad: "+strings.Repeat(words, times))
		for query, want := range map[string]string{
			"send a mail to my boss before lunch tomorrow": "send_mail",
			"which folder has the budget of friday":        "list_files",
			"draw the numbers of the report":               "draw_chart",
		} {
			found := find(t, NewCatalog(), query, all...)
			assert.Equal(t, want, found[0], query)
			assert.Equal(t, "bad", found[len(found)-1], query)
		}
		assert.Equal(t, []string{"bad"}, find(t, NewCatalog(), "lunch", all...))
	}
}

// A tool that says many words once each is not shown for any of them, wherever it says
// them and however it is written, not even where no other tool has them: its name is
// behind those that are shown.
func TestFindBroad(t *testing.T) {
	var tools []Tool
	var all []string
	for i := range 300 { // each of them with words of its own, and some that others have
		own := []string{pseudo(3 * i), pseudo(3*i + 1), pseudo(3*i + 2)}
		name := own[0] + "_" + own[1]
		tools = append(tools, Tool{Name: name, ServerTool: name, Schema: []byte(`{"properties":{"` + own[2] + `":{"type":"string"}}}`),
			Description: fmt.Sprintf("This tool can %s the %s of a %s, and the one for %s. It takes an id.", own[0], own[1], own[2], pseudo(3*(i/7)))})
		all = append(all, own...)
	}
	for i := range 300 {
		all = append(all, pseudo(2000+i)) // words of no other tool
	}
	var giants []Tool // beside which others look short
	for i := range 80 {
		text := ""
		for j := range 200 {
			text += fmt.Sprintf("It has a %s, and so it is a %s. ", pseudo(3000+211*i+j), pseudo(4000+j))
		}
		giants = append(giants, Tool{Name: fmt.Sprint("giant", i), Description: text})
	}
	for _, n := range []int{30, 60, 100, 300, len(all)} {
		var words []string
		for i := range n {
			words = append(words, all[i*len(all)/n])
		}
		list, prose, schema := strings.Join(words, " "), "", `{"properties":{"`+strings.Join(words, `":{"type":"string"},"`)+`":{"type":"string"}}}`
		for i := 0; i < n; i += 2 {
			prose += fmt.Sprintf("It can %s a %s for you, and the one that is its own. ", words[i], words[i+1])
		}
		var parts []Tool
		for i := 0; i < n; i += 30 {
			parts = append(parts, Tool{Name: fmt.Sprint("bad", i), Description: strings.Join(words[i:min(i+30, n)], ", ")})
		}
		for form, bad := range map[string][]Tool{
			"list":       {{Name: "bad", Description: list}},
			"said":       {{Name: "bad", Description: "Tool bad from the MCP server bad. " + list}},
			"prose":      {{Name: "bad", Description: prose}},
			"twice":      {{Name: "bad", Description: list + " " + list}},
			"parameters": {{Name: "bad", Schema: []byte(schema)}},
			"title":      {{Name: "bad", Title: list, Description: list}},
			"everywhere": {{Name: "bad", Title: list, Description: list, Schema: []byte(schema)}},
			"tools":      parts,
			"giants":     append(slices.Clone(giants), Tool{Name: "bad", Description: prose}),
		} {
			if n < 60 && strings.Contains("prose parameters title everywhere giants", form) {
				continue // about as broad as the others are
			}
			c, catalog := NewCatalog(), append(slices.Clone(tools), bad...)
			for i := 0; i < n-1; i += n / 15 {
				query := words[i] + " " + words[i+1]
				found, shown, err := c.Find(t.Context(), len(catalog), func(i int) Tool { return catalog[i] }, query, 5, 15)
				require.NoError(t, err)
				for at, tool := range found {
					if tool >= len(tools) {
						require.GreaterOrEqual(t, at, shown, "%d words, %s: %q", n, form, query)
					}
				}
				if n < 300 { // of more words, not all are looked at
					require.NotEmpty(t, found, query)
				}
			}
		}
	}
}

// pseudo returns a word of its own for each number.
func pseudo(n int) string {
	var b []byte
	for range 3 {
		b = append(b, "bdfgklmnprstvz"[n%14], "aeiou"[n/14%5])
		n /= 9
	}
	return string(b)
}

func TestArtful(t *testing.T) {
	for text, want := range map[string]bool{
		"":                        false,
		strings.Repeat("so ", 50): false, // few words
		strings.Repeat("one two three four five six seven eight nine ten eleven twelve ", 2):                                                                                             true,
		strings.Repeat("one two three four five six seven eight nine ten eleven twelve ", 2) + "a b c":                                                                                   false,
		"Reads a file. The path of the file must be inside a folder that is allowed. If the file is large, read it in parts: set the offset and the limit of each part.":                 false,
		"Liest eine Datei. Der Pfad der Datei muss in einem Ordner sein, der erlaubt ist. Ist die Datei groß, so lies sie in Teilen: gib an, wo jeder Teil beginnt und wie lang er ist.": false,
		"读取文件的内容。文件的路径必须在允许的目录中。如果文件很大,请分段读取:指定每一段的起点和长度。":                                                                                                                               false,
	} {
		var x index
		number := x.add([fields]string{"", text})
		assert.Equal(t, want, x.documents[number].artful[1], text)
	}
}

// What is passed one by one is what sorting gives.
func TestSearchIsSorted(t *testing.T) {
	var x index
	var all []int32
	for i := range 500 {
		number := x.add([fields]string{fmt.Sprintf("tool_%d", i%7), strings.Repeat("thing ", i%5) + strings.Repeat("other ", i%11)})
		if all = append(all, number); i%3 == 0 {
			x.remove(number - number%2)
		}
	}
	at := func(number int32) int { return int(number * 7919 % 503) } // another order than that of the numbers
	for _, query := range []string{"thing", "tool_3 other", "5 thing other", "zzz"} {
		scores := slices.Clone(x.score(query))
		want := slices.DeleteFunc(slices.Clone(all), func(number int32) bool { return scores[number].most == 0 })
		sure := func(number int32) int {
			if scores[number].score < sureness*scores[number].most {
				return 1
			}
			return 0
		}
		slices.SortFunc(want, func(a, b int32) int {
			return cmp.Or(cmp.Compare(sure(a), sure(b)), cmp.Compare(scores[b].score, scores[a].score), cmp.Compare(at(a), at(b)))
		})
		got := []int32{}
		for hit := range x.search(query, at) {
			got = append(got, hit.document)
		}
		require.Equal(t, want, got, query)
		assert.Equal(t, query == "zzz", len(got) == 0)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("create issue", "createIssue \xff 使用", []byte(`{"a":"b"}`))
	f.Fuzz(func(t *testing.T, text, query string, schema []byte) {
		tools := []Tool{{Name: text, Description: query, Schema: schema}, {Name: query, Title: text}, {}}
		c := NewCatalog()
		for range 3 {
			found, _, err := c.Find(t.Context(), len(tools), func(i int) Tool { return tools[i] }, query, 1, 3)
			assert.NoError(t, err)
			assert.LessOrEqual(t, len(found), 3)
			tools[0], tools[1] = tools[1], tools[0]
		}
	})
}

func BenchmarkFind(b *testing.B) {
	tools := make([]Tool, 20_000)
	for i := range tools {
		tools[i] = Tool{Name: fmt.Sprintf("mcp__server%d__tool_%d", i%20, i), Description: fmt.Sprintf("Does a thing of kind %d with %d parameters and says so, in %d words or more.", i%977, i%7, i%31),
			Schema: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"where it is"}}}`)}
	}
	at := func(i int) Tool { return tools[i] }
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			NewCatalog().Find(b.Context(), len(tools), at, "thing of kind 42", 5, 15)
		}
	})
	b.Run("same", func(b *testing.B) {
		c := NewCatalog()
		c.Find(b.Context(), len(tools), at, "x", 5, 15)
		for b.Loop() {
			c.Find(b.Context(), len(tools), at, "kind 42", 5, 15)
		}
	})
	b.Run("one changed", func(b *testing.B) {
		c := NewCatalog()
		c.Find(b.Context(), len(tools), at, "x", 5, 15)
		for b.Loop() {
			tools[7].Description += "."
			c.Find(b.Context(), len(tools), at, "kind 42", 5, 15)
		}
	})
}
