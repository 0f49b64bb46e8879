package kube

import (
	"encoding/json"
	"fmt"

	"github.com/gocampus/hark/wire"
)

// Encode is the way back from Decode: it returns the wire form, in JSON, of a
// decoded object, such as the answer that a typed client returns for a write and
// that Shared.Observe takes. object is a pointer to a generated API type or to
// an unstructured.Unstructured, with a name.
func Encode(object any) (*wire.Object, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", object, err)
	}
	encoded, err := wire.NewObject(wire.JSON, raw)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", object, err)
	}
	return encoded, nil
}
