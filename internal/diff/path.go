package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// field appends the field name to path: ".name", or ["name"] where the name is
// not a plain one.
func field(path, name string) string {
	if !plain(name) {
		return path + "[" + strconv.Quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// selector is how a path chooses an element of a list: [name=web].
func selector(name string, id any) string {
	value := fmt.Sprint(id)
	if !plain(strings.ReplaceAll(value, ".", "_")) {
		if _, isText := id.(string); isText {
			value = strconv.Quote(value)
		}
	}
	return "[" + name + "=" + value + "]"
}

// plain tells whether a name can stand in a path without quotes.
func plain(name string) bool {
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (r < '0' || r > '9') && r != '_' && r != '-' && r != '$' {
			return false
		}
	}
	return name != ""
}
