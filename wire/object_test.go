package wire

import (
	"fmt"
	"strings"
	"testing"
)

// TestFormattingAnObjectDoesNotShowItsContent: objects end up in logs.
func TestFormattingAnObjectDoesNotShowItsContent(t *testing.T) {
	o, err := NewObject(JSON, []byte(`{"metadata":{"namespace":"default","name":"s","resourceVersion":"7"},"data":{"password":"aHVudGVyMg=="}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%s"} {
		if got := fmt.Sprintf(verb, o); got != "default/s@7" {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

func TestPrefixIsTheBeginningThatIsKeptInOnePiece(t *testing.T) {
	seen := map[form]bool{}
	var compactor Compactor
	for n := range 300 {
		raw := []byte(`{"metadata":{"name":"a","padding":"` + strings.Repeat("x", 2000+8*n) + `"}}`)
		reader := newKeeper(JSON, Options{KeepManagedFields: true})
		o, err := reader.keep(&frame{object: raw})
		if err != nil {
			t.Fatal(err)
		}
		smaller, _ := compactor.Compact(o, o.Key())
		for _, o := range []*Object{o, smaller} {
			seen[o.body.form] = true
			prefix := o.Prefix()
			if !strings.HasPrefix(string(raw), prefix) || (prefix == "") != (o.body.form == patched) || (prefix == string(raw)) != (o.body.form == whole) {
				t.Fatalf("%d bytes in form %d: the prefix has %d, %q…", len(raw), o.body.form, len(prefix), prefix[:min(len(prefix), 50)])
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("forms %v; want all three", seen)
	}
}
