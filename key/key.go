// Package key names one object of one kind: a namespace and a name.
//
// The text form is the field's own convention, "namespace/name", and "name"
// alone for an object without a namespace (a Node, a Namespace).
package key

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Key identifies an object within its kind. Namespace is empty for
// cluster-scoped objects. Keys are comparable and serve as map keys.
type Key struct {
	Namespace string
	Name      string
}

// ErrInvalid is wrapped by every error of Parse.
var ErrInvalid = errors.New("invalid key")

// Parse reads the text form of a key. It is strict: an empty text, an empty
// part and more than one slash are errors.
func Parse(text string) (Key, error) {
	namespace, name, namespaced := strings.Cut(text, "/")
	switch {
	case text == "":
		return Key{}, fmt.Errorf("%w: it is empty; want NAMESPACE/NAME or NAME", ErrInvalid)
	case !namespaced:
		return Key{Name: text}, nil
	case namespace == "":
		return Key{}, fmt.Errorf("%w %q: the namespace before the slash is empty; a cluster-scoped object has no slash", ErrInvalid, text)
	case name == "":
		return Key{}, fmt.Errorf("%w %q: the name after the slash is empty", ErrInvalid, text)
	case strings.Contains(name, "/"):
		return Key{}, fmt.Errorf("%w %q: it has more than one slash; want NAMESPACE/NAME or NAME", ErrInvalid, text)
	}
	return Key{Namespace: namespace, Name: name}, nil
}

// String returns the text form: "namespace/name", or "name" without a namespace.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// Clone returns an equal key that keeps nothing alive but itself. It costs one
// allocation. Keys outlive versions of objects, in queues and indexes: one that
// is part of an object's bytes would keep those.
func (k Key) Clone() Key {
	joined := k.Namespace + k.Name + " " // the blank forces a copy when one part is empty
	return Key{Namespace: joined[:len(k.Namespace)], Name: joined[len(k.Namespace) : len(joined)-1]}
}

// Compare orders keys by namespace, then by name.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		strings.Compare(k.Namespace, other.Namespace),
		strings.Compare(k.Name, other.Name),
	)
}

// MarshalText implements encoding.TextMarshaler, so that a Key is one string in JSON.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; it accepts what Parse accepts.
func (k *Key) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*k = parsed
	return nil
}
