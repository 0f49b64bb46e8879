package lessons

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	links    = regexp.MustCompile(`\]\(([^)#]+)`)
	tests    = regexp.MustCompile("`(Test[A-Za-z]+)`")
	commands = regexp.MustCompile(`(?m)^    (?:go|cd|kubectl|export) [^#\n]*`)
	outputs  = regexp.MustCompile("(?s)```text\n.*?```")
)

// TestBothTextsSayTheSame compares what does not depend on the language, in
// order: headings by number, commands, output, links and the tests named.
func TestBothTextsSayTheSame(t *testing.T) {
	english, chinese := read(t, "README.md"), read(t, "README.zh.md")
	for what, of := range map[string]func(string) []string{
		"commands": func(s string) []string { return trimmed(commands.FindAllString(s, -1)) },
		"output":   func(s string) []string { return outputs.FindAllString(s, -1) },
		"links":    func(s string) []string { return otherLinks(s) },
		"tests":    func(s string) []string { return tests.FindAllString(s, -1) },
		"headings": func(s string) []string { return make([]string, strings.Count(s, "\n## ")) },
		"rows":     func(s string) []string { return make([]string, strings.Count(s, "\n| ")) },
		"bold":     func(s string) []string { return make([]string, strings.Count(s, "\n**")) },
	} {
		if len(of(english)) == 0 {
			t.Errorf("no %s in the English text", what)
		}
		if diff := cmp.Diff(of(english), of(chinese)); diff != "" {
			t.Errorf("%s (-English +Chinese):\n%s", what, diff)
		}
	}
}

func TestEverythingNamedExists(t *testing.T) {
	text := read(t, "README.md") + read(t, "README.zh.md")
	for _, link := range links.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(link[1]); err != nil {
			t.Errorf("link: %v", err)
		}
	}
	files, err := filepath.Glob("*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		code.WriteString(read(t, file))
	}
	for _, name := range tests.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(code.String(), "func "+name[1]+"(") {
			t.Errorf("no lesson has the test %s", name[1])
		}
	}
}

// otherLinks are the links, less the one to the other language.
func otherLinks(text string) []string {
	var out []string
	for _, m := range links.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "README") {
			out = append(out, m[1])
		}
	}
	return out
}

func trimmed(lines []string) []string {
	for n := range lines {
		lines[n] = strings.TrimSpace(lines[n])
	}
	return lines
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
