package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declared reads this package's own source: the placeholders of each Message
// variable, by its name.
func declared(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, file := range parseFolder(t, ".") {
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				for i, expression := range value.Values {
					if call, ok := expression.(*ast.CallExpr); ok && len(call.Args) == 2 {
						english := call.Args[0].(*ast.BasicLit).Value
						out[value.Names[i].Name] = placeholders(english)
					}
				}
			}
		}
	}
	return out
}

func parseFolder(t *testing.T, root string) []*ast.File {
	t.Helper()
	var files []*ast.File
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// messageName returns X of text.X, or "".
func messageName(expression ast.Expr) string {
	selector, ok := expression.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if of, ok := selector.X.(*ast.Ident); !ok || of.Name != "text" {
		return ""
	}
	return selector.Sel.Name
}

// given returns the names of the pairs that follow the message in a call, and
// whether they are written there.
func given(args []ast.Expr) (names []string, known bool) {
	for i := 0; i < len(args); i += 2 {
		literal, ok := args[i].(*ast.BasicLit)
		if !ok {
			return nil, false
		}
		name, err := strconv.Unquote(literal.Value)
		if err != nil {
			return nil, false
		}
		names = append(names, "{"+name+"}")
	}
	slices.Sort(names)
	return names, true
}

// A placeholder that a call forgets would be shown in braces, and one that it
// misspells as well: the compiler does not see it, so this test does.
func TestEveryCallFillsThePlaceholders(t *testing.T) {
	messages := declared(t)
	used := map[string]bool{}
	calls := 0
	for _, file := range parseFolder(t, "..") {
		ast.Inspect(file, func(node ast.Node) bool {
			if expression, ok := node.(ast.Expr); ok {
				used[messageName(expression)] = true
			}
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			want, isMessage := messages[messageName(call.Args[0])]
			if !isMessage {
				return true
			}
			calls++
			got, known := given(call.Args[1:])
			if known && !slices.Equal(got, want) {
				t.Errorf("a call of text.%s gives %v; the text has %v", messageName(call.Args[0]), got, want)
			}
			return true
		})
	}
	if calls < 30 {
		t.Fatalf("only %d calls were found: the test looks in the wrong place", calls)
	}
	for name := range messages {
		if !used[name] {
			t.Errorf("text.%s is not used", name)
		}
	}
}
