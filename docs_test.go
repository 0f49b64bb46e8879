package hark_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z]+)\\.((?:Test|Fuzz)[A-Za-z0-9_]+)`")

// TestEveryGuaranteeNamesTestsThatExist keeps docs/guarantees.md true.
func TestEveryGuaranteeNamesTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| G") {
			continue
		}
		named := namedTest.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("names no test: %s", line)
		}
		for _, m := range named {
			if !testExists(t, m[1], m[2]) {
				t.Errorf("%s.%s does not exist", m[1], m[2])
			}
		}
	}
}

func testExists(t *testing.T, pkg, name string) bool {
	dir := pkg
	if pkg == "hark" {
		dir = "."
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func "+name+"(") {
			return true
		}
	}
	return false
}
