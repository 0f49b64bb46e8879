package diff

import (
	"bytes"
	"encoding/json"
)

// MarshalJSON writes {"path":…,"old":…,"new":…}; a side that does not exist is
// left out, so that it cannot be taken for a null.
func (c Change) MarshalJSON() ([]byte, error) {
	type sides struct {
		Path string `json:"path"`
		Old  *any   `json:"old,omitempty"`
		New  *any   `json:"new,omitempty"`
	}
	out := sides{Path: c.Path}
	if c.Op != Added {
		out.Old = &c.Old
	}
	if c.Op != Removed {
		out.New = &c.New
	}
	return compact(out)
}

// compact encodes without escaping HTML, which a field's value need not fear.
func compact(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
