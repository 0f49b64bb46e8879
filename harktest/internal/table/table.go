package table

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// column is one column of a kind's table. Wide ones are shown by -o wide only.
type column struct {
	name, kind string
	wide       bool
}

// printer prints objects of one Go type.
type printer struct {
	columns []column
	cells   func(obj runtime.Object, m metav1.Object) []any
}

// of makes a printer from a function for one Go type. The column texts begin
// with "+" when they are wide, and with "#" when they are numbers, "@" dates, "?" truths.
func of[T runtime.Object](cells func(obj T, m metav1.Object) []any, names ...string) (reflect.Type, printer) {
	p := printer{cells: func(obj runtime.Object, m metav1.Object) []any { return cells(obj.(T), m) }}
	for _, name := range names {
		c := column{name: name, kind: "string"}
		if c.name[0] == '+' {
			c.name, c.wide = c.name[1:], true
		}
		if c.name[0] == '#' {
			c.name, c.kind = c.name[1:], "integer"
		}
		if c.name[0] == '@' {
			c.name, c.kind = c.name[1:], "date"
		}
		if c.name[0] == '?' {
			c.name, c.kind = c.name[1:], "boolean"
		}
		p.columns = append(p.columns, c)
	}
	return reflect.TypeFor[T](), p
}

var printers = func() map[reflect.Type]printer {
	all := map[reflect.Type]printer{}
	add := func(t reflect.Type, p printer) { all[t] = p }
	addCore(add)
	addWorkloads(add)
	addOthers(add)
	addPolicies(add)
	return all
}()

// nameAndAge is what is shown of kinds without a table of their own.
var nameAndAge = []column{{name: "Name", kind: "string"}, {name: "Age", kind: "string"}}

// descriptions are those of the fields of metadata.
var descriptions = metav1.ObjectMeta{}.SwaggerDoc()

// Columns returns the columns of a kind.
func Columns(k *kind.Kind) []metav1.TableColumnDefinition {
	if len(k.Columns) > 0 {
		return customColumns(k)
	}
	columns := nameAndAge
	if p, found := printers[reflect.TypeOf(k.New())]; found {
		columns = p.columns
	}
	definitions := make([]metav1.TableColumnDefinition, len(columns))
	for i, c := range columns {
		definitions[i] = metav1.TableColumnDefinition{Name: c.name, Type: c.kind}
		if c.name == "Name" {
			definitions[i].Format = "name"
			definitions[i].Description = descriptions["name"]
		}
		if c.name == "Age" || c.kind == "date" {
			definitions[i].Description = descriptions["creationTimestamp"]
		}
		if c.wide {
			definitions[i].Priority = 1
		}
	}
	return definitions
}

// Cells returns the cells of an object of a kind, one for each of its columns.
func Cells(k *kind.Kind, obj runtime.Object, m metav1.Object) []any {
	if len(k.Columns) > 0 {
		return customCells(k, obj, m)
	}
	if p, found := printers[reflect.TypeOf(obj)]; found {
		return p.cells(obj, m)
	}
	return []any{m.GetName(), age(m)}
}

// age is the time since an object's creation, as kubectl shows it.
func age(m metav1.Object) string { return since(m.GetCreationTimestamp()) }

func since(t metav1.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t.Time))
}
