package text

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// placeholders are the names in braces, sorted, each once.
func placeholders(sentence string) []string {
	names := placeholder.FindAllString(sentence, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

func TestEveryMessageSaysTheSameInBothLanguages(t *testing.T) {
	if len(catalogue) < 50 {
		t.Fatalf("the catalogue has %d messages: it cannot be all", len(catalogue))
	}
	for _, m := range catalogue {
		if m.en == "" || m.zh == "" {
			t.Errorf("a language is missing: %q, %q", m.en, m.zh)
		}
		if en, zh := placeholders(m.en), placeholders(m.zh); !slices.Equal(en, zh) {
			t.Errorf("placeholders differ: %v in %q, %v in %q", en, m.en, zh, m.zh)
		}
		if strings.ContainsFunc(m.en, isHan) {
			t.Errorf("Chinese in the English text %q", m.en)
		}
		// What is the same in both languages is a command to type.
		if !strings.ContainsFunc(m.zh, isHan) && m.zh != m.en {
			t.Errorf("no Chinese in %q", m.zh)
		}
	}
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

func TestFlagsHaveNoPlaceholders(t *testing.T) {
	for name, m := range flags {
		if len(placeholders(m.en)) > 0 {
			t.Errorf("--%s has placeholders, which help does not fill", name)
		}
	}
}

func TestSayFillsPlaceholdersInBothLanguages(t *testing.T) {
	m := Message{en: "{a} before {b}", zh: "{b} 在 {a} 之后"}
	if got, want := English.Say(m, "a", "{b}", "b", "2"), "{b} before 2"; got != want {
		t.Errorf("Say = %q; want %q", got, want)
	}
	if got, want := Chinese.Say(m, "a", "1", "b", "2"), "2 在 1 之后"; got != want {
		t.Errorf("Say = %q; want %q", got, want)
	}
	if got, want := Lang("").Say(Message{en: "plain", zh: "白"}), "plain"; got != want {
		t.Errorf("Say = %q; want %q", got, want)
	}
}

func TestWordsAgreeWithTheirNumbers(t *testing.T) {
	m := Message{en: "{n} {n:run|runs} of {m} {m:key|keys}: {n:it was|they were} good", zh: "{m} 个键共 {n} 次"}
	for _, c := range []struct{ n, m, en, zh string }{
		{"1", "2", "1 run of 2 keys: it was good", "2 个键共 1 次"},
		{"0", "1", "0 runs of 1 key: they were good", "1 个键共 0 次"},
		{"11", "{n:a|b}", "11 runs of {n:a|b} keys: they were good", "{n:a|b} 个键共 11 次"},
	} {
		if en, zh := English.Say(m, "n", c.n, "m", c.m), Chinese.Say(m, "n", c.n, "m", c.m); en != c.en || zh != c.zh {
			t.Errorf("%q, %q; want %q, %q", en, zh, c.en, c.zh)
		}
	}
}

// begun is the beginning of a counted word.
var begun = regexp.MustCompile(`\{[a-z]+:`)

// A counted word of a number that is not told would always be in the plural.
func TestCountedWordsStandByANumberThatIsTold(t *testing.T) {
	for _, m := range catalogue {
		for _, word := range counted.FindAllStringSubmatch(m.en+m.zh, -1) {
			if name := "{" + word[1] + "}"; !slices.Contains(placeholders(m.en), name) {
				t.Errorf("%s is without %s in %q", word[0], name, m.en)
			}
		}
		if broken := begun.FindString(counted.ReplaceAllString(m.en+m.zh, "")); broken != "" {
			t.Errorf("%s...} has not two forms in %q", broken, m.en)
		}
	}
}

func TestListJoinsAsTheLanguageDoes(t *testing.T) {
	kinds := []string{"Pod", "Node"}
	if en, zh := English.List(kinds), Chinese.List(kinds); en != "Pod, Node" || zh != "Pod、Node" {
		t.Errorf("List = %q, %q", en, zh)
	}
}

func TestDetectFollowsTheFlagThenTheLocale(t *testing.T) {
	for _, tc := range []struct {
		name string
		flag string
		env  map[string]string
		want Lang
	}{
		{"nothing said", "", nil, English},
		{"LANG", "", map[string]string{"LANG": "zh_CN.UTF-8"}, Chinese},
		{"LC_MESSAGES beats LANG", "", map[string]string{"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN"}, Chinese},
		{"LC_ALL beats all", "", map[string]string{"LANG": "zh_CN", "LC_MESSAGES": "zh_CN", "LC_ALL": "C"}, English},
		{"an empty LC_ALL says nothing", "", map[string]string{"LC_ALL": "", "LANG": "zh_TW.Big5"}, Chinese},
		{"the flag beats the locale", "en", map[string]string{"LC_ALL": "zh_CN.UTF-8"}, English},
		{"another language", "", map[string]string{"LANG": "de_DE.UTF-8"}, English},
		{"C.UTF-8", "", map[string]string{"LANG": "C.UTF-8"}, English},
		{"a flag that is none leaves it to the locale", "fr", map[string]string{"LANG": "zh"}, Chinese},
		{"modifiers and case", "", map[string]string{"LANG": "ZH-Hans@pinyin"}, Chinese},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Detect(tc.flag, func(name string) string { return tc.env[name] })
			if got != tc.want {
				t.Errorf("Detect = %q; want %q", got, tc.want)
			}
		})
	}
}

func TestParseLangRefusesWhatItCannotSpeak(t *testing.T) {
	for _, value := range []string{"", "fr", "english", "z"} {
		if got, err := ParseLang(value); err == nil {
			t.Errorf("ParseLang(%q) = %q; want an error", value, got)
		}
	}
	for value, want := range map[string]Lang{"en": English, "zh": Chinese, "zh-CN": Chinese, "EN_gb": English} {
		if got, err := ParseLang(value); got != want || err != nil {
			t.Errorf("ParseLang(%q) = %q, %v; want %q", value, got, err, want)
		}
	}
}

func TestWidthCountsCells(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "pod": 3, "监听": 4, "新 Pod 加入": 11, "é": 1, "e\u0301": 1, "ｆｕｌｌ": 8, "｢ﾃｽﾄ｣": 5,
		"\u200b": 0, "，": 2, "→": 1,
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d; want %d", s, got, want)
		}
	}
}

func TestPadAndTruncateKeepColumns(t *testing.T) {
	for _, s := range []string{"", "pod", "监听", "a监b听c", "e\u0301e\u0301e\u0301e\u0301"} {
		for cells := 1; cells < 9; cells++ {
			cut := Truncate(s, cells)
			if Width(cut) > cells {
				t.Errorf("Truncate(%q, %d) = %q takes %d cells", s, cells, cut, Width(cut))
			}
			if Width(s) <= cells && cut != s {
				t.Errorf("Truncate(%q, %d) = %q cuts what fits", s, cells, cut)
			}
			if padded := Pad(cut, cells); Width(padded) != cells {
				t.Errorf("Pad(%q, %d) takes %d cells", cut, cells, Width(padded))
			}
		}
	}
}

func TestPrintableDisarmsTerminalSequences(t *testing.T) {
	for s, want := range map[string]string{
		"plain 中文 →":       "plain 中文 →",
		"\x1b[2J":          "\ufffd[2J",
		"a\nb\tc":          "a\ufffdb\ufffdc",
		"\u009b31m":        "\ufffd31m",
		"\u202egnp.sh":     "\ufffdgnp.sh",
		"\xff":             "\ufffd",
		"\u200d\U0001f600": "\u200d\U0001f600",
	} {
		if got := Printable(s); got != want {
			t.Errorf("Printable(%q) = %q; want %q", s, got, want)
		}
	}
}
