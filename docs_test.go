package hark_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`([a-z]+\\.(?:Test|Fuzz)[A-Za-z0-9_]+)`")
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
)

// TestEveryGuaranteeNamesTestsThatExist keeps docs/guarantees.md true.
func TestEveryGuaranteeNamesTestsThatExist(t *testing.T) {
	if rows := namedTests(t, "docs/guarantees.md", "| G"); len(rows) == 0 {
		t.Error("there are no guarantees")
	}
}

// cases are the numbers of the cases from the field.
var cases = []string{
	"C1", "C3", "C4", "C5", "C7", "C8", "C9", "C11", "C12", "C13", "C14", "C15", "C17", "C18", "C19", "C21", "C23",
	"C24", "C25", "C26", "C28", "C29", "C31", "C32", "C33", "C34", "C35", "C36", "C38", "C39", "C41", "C42", "C45",
}

var caseTest = regexp.MustCompile(`\.TestCase0?(\d+)_`)

// TestEveryCaseHasARowAndTests keeps docs/cases.md true: a row for each case, in
// which all tests that carry its number are named, and no others.
func TestEveryCaseHasARowAndTests(t *testing.T) {
	rows := namedTests(t, "docs/cases.md", "| C")
	for _, number := range cases {
		if len(rows[number]) == 0 {
			t.Errorf("%s has no row", number)
		}
	}
	if len(rows) != len(cases) {
		t.Errorf("%d rows; want %d", len(rows), len(cases))
	}
	for number, tests := range rows {
		for _, name := range tests {
			if m := caseTest.FindStringSubmatch(name); m == nil || "C"+m[1] != number {
				t.Errorf("%s names %s", number, name)
			}
		}
	}
	for _, name := range allTests(t) {
		if m := caseTest.FindStringSubmatch(name); m != nil && !slices.Contains(rows["C"+m[1]], name) {
			t.Errorf("C%s does not name %s", m[1], name)
		}
	}
}

// namedTests returns the tests that each row of a table names, by its first
// column. Rows begin with prefix, name tests, and the tests exist.
func namedTests(t *testing.T, file, prefix string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, rows := allTests(t), map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		row := strings.Fields(line)[1]
		for _, m := range namedTest.FindAllStringSubmatch(line, -1) {
			rows[row] = append(rows[row], m[1])
			if !slices.Contains(all, m[1]) {
				t.Errorf("%s does not exist", m[1])
			}
		}
		if len(rows[row]) == 0 {
			t.Errorf("names no test: %s", line)
		}
	}
	return rows
}

// allTests returns the tests of the module as "package.TestName", the package
// being its directory's name.
func allTests(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		pkg := path.Base(path.Dir(file))
		if pkg == "." {
			pkg = "hark"
		}
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			all = append(all, pkg+"."+string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
