// Package watchtest makes what tests of the listening half need: objects in the
// short notation "name@version" and a Source that plays a script.
package watchtest

import (
	"fmt"
	"strings"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

// Object makes an object from "name@version" or "name/UID@version"; it is in
// namespace "ns". Without a UID it has one made of its name. Labels may follow.
func Object(text string, labels ...string) *wire.Object {
	name, version, _ := strings.Cut(text, "@")
	name, uid, ok := strings.Cut(name, "/")
	if !ok {
		uid = "uid-" + name
	}
	var more strings.Builder
	for i := 0; i+1 < len(labels); i += 2 {
		fmt.Fprintf(&more, ",%q:%q", labels[i], labels[i+1])
	}
	object, err := wire.NewObject(wire.JSON, fmt.Appendf(nil,
		`{"metadata":{"namespace":"ns","name":%q,"uid":%q,"resourceVersion":%q,"labels":{"name":%q%s}}}`,
		name, uid, version, name, more.String()))
	if err != nil {
		panic(err)
	}
	return object
}

// Key is the key of the object of that name.
func Key(name string) key.Key { return key.Key{Namespace: "ns", Name: name} }

// Text is the notation of an object: "name/UID@version", the UID left out where
// it is the usual one; "-" for nil.
func Text(o *wire.Object) string {
	if o == nil {
		return "-"
	}
	name := o.Key().Name
	if o.UID() == "uid-"+name {
		return name + "@" + o.ResourceVersion()
	}
	return name + "/" + o.UID() + "@" + o.ResourceVersion()
}
