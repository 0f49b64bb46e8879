package table

import (
	"cmp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// customColumns returns the columns that a CustomResourceDefinition names, after the name.
func customColumns(k *kind.Kind) []metav1.TableColumnDefinition {
	definitions := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: descriptions["name"]}}
	for _, c := range k.Columns {
		definitions = append(definitions, metav1.TableColumnDefinition{
			Name: c.Name, Type: cmp.Or(c.Type, "string"), Format: c.Format, Priority: c.Priority,
			Description: cmp.Or(c.Description, "Custom resource definition column (in JSONPath format): "+c.JSONPath),
		})
	}
	return definitions
}

func customCells(k *kind.Kind, obj runtime.Object, m metav1.Object) []any {
	cells := []any{m.GetName()}
	u, ok := obj.(*unstructured.Unstructured)
	for _, c := range k.Columns {
		if !ok {
			cells = append(cells, nil)
			continue
		}
		cells = append(cells, customCell(c, u.Object))
	}
	return cells
}

// customCell evaluates a column's path; what is not there is an empty cell.
func customCell(c kind.Column, object map[string]any) any {
	path := jsonpath.New(c.Name).AllowMissingKeys(true)
	if err := path.Parse("{" + c.JSONPath + "}"); err != nil {
		return nil
	}
	results, err := path.FindResults(object)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return nil
	}
	if len(results[0]) == 1 {
		return cell(c, results[0][0].Interface())
	}
	var texts []string
	for _, result := range results[0] {
		texts = append(texts, kind.Text(result.Interface()))
	}
	return strings.Join(texts, ",")
}

func cell(c kind.Column, value any) any {
	switch c.Type {
	case "date":
		text, _ := value.(string)
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return "<invalid>"
		}
		return since(metav1.NewTime(at))
	case "integer", "number", "boolean":
		return value
	}
	return kind.Text(value)
}
