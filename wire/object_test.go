package wire

import (
	"fmt"
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
