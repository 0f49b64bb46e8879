package kind

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Lookup finds a value in a decoded JSON object by a path such as "spec.replicas".
func Lookup(object map[string]any, path string) (any, bool) {
	var value any = object
	for _, name := range strings.Split(strings.TrimPrefix(path, "."), ".") {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = fields[name]; !ok {
			return nil, false
		}
	}
	return value, true
}

// Text returns a decoded JSON value as people read it.
func Text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case nil:
		return ""
	case map[string]any, []any:
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(data)
	}
	return fmt.Sprint(value)
}
