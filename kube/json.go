package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/wire"
)

// JSON returns an object of this kind as one JSON document on one line, with
// apiVersion and kind first. The other fields are in the order of the server or,
// from protobuf, of the Go type. Errors name the object and its version.
func (k Kind) JSON(obj *wire.Object) ([]byte, error) {
	var document []byte
	var err error
	if obj.Encoding() == wire.JSON {
		document, err = reorder(obj.AppendBytes(nil), k.GVK)
	} else {
		document, err = transcode(obj, k.GVK)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s at version %s as JSON: %w", k.Singular, obj.Key(), obj.ResourceVersion(), err)
	}
	return document, nil
}

// transcode makes JSON of protobuf by way of the generated type.
func transcode(obj *wire.Object, gvk schema.GroupVersionKind) ([]byte, error) {
	object, err := decodeBuiltIn(obj, gvk)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // head writes it
	fields, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	document := head(gvk.GroupVersion().String(), gvk.Kind, len(fields))
	if len(fields) > len("{}") {
		document = append(document, ',')
	}
	return append(document, fields[1:]...), nil
}

// head begins a document: {"apiVersion":"v1","kind":"Pod".
func head(apiVersion, kind string, room int) []byte {
	document := make([]byte, 0, room+len(apiVersion)+len(kind)+32)
	document = append(document, `{"apiVersion":`...)
	document = appendString(document, apiVersion)
	document = append(document, `,"kind":`...)
	return appendString(document, kind)
}

func appendString(document []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("kube: a string does not marshal: " + err.Error()) // json.Marshal has no such case
	}
	return append(document, quoted...)
}

// reorder copies a document with apiVersion and kind at its beginning, in the
// document's own values where it has them.
func reorder(raw []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	apiVersion, kind := gvk.GroupVersion().String(), gvk.Kind
	var rest bytes.Buffer
	err := eachField(raw, func(name string, value json.RawMessage) error {
		switch name {
		case "apiVersion":
			return json.Unmarshal(value, &apiVersion)
		case "kind":
			return json.Unmarshal(value, &kind)
		}
		rest.WriteByte(',')
		rest.Write(appendString(nil, name))
		rest.WriteByte(':')
		return json.Compact(&rest, value)
	})
	if err != nil {
		return nil, err
	}
	document := append(head(apiVersion, kind, rest.Len()), rest.Bytes()...)
	return append(document, '}'), nil
}

// eachField calls f for the fields of a JSON object in their order.
func eachField(raw []byte, f func(name string, value json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	start, err := decoder.Token()
	switch {
	case err != nil:
		return err
	case start != json.Delim('{'):
		return errors.New("not a JSON object")
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		if err := f(name.(string), value); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}
