package harktest

import (
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// yamlBuffer is how much of a document is looked at to tell JSON from YAML, in bytes.
const yamlBuffer = 4096

// Load reads objects, as JSON documents or as YAML documents parted by "---", and
// preloads them; lists are taken apart. A definition must come before its objects.
// It returns how many objects were stored, and stops at the first that cannot be.
func (s *Server) Load(in io.Reader) (int, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(in, yamlBuffer)
	stored := 0
	for {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			return stored, nil
		} else if err != nil {
			return stored, fmt.Errorf("harktest: load: object %d: %w", stored+1, err)
		}
		if len(u.Object) == 0 {
			continue // an empty document
		}
		n, err := s.loadOne(u)
		if stored += n; err != nil {
			return stored, err
		}
	}
}

func (s *Server) loadOne(u *unstructured.Unstructured) (int, error) {
	if !u.IsList() {
		u.SetResourceVersion("")
		if err := s.Preload(u); err != nil {
			return 0, err
		}
		return 1, nil
	}
	list, err := u.ToList()
	if err != nil {
		return 0, fmt.Errorf("harktest: load: %w", err)
	}
	for i := range list.Items {
		if _, err := s.loadOne(&list.Items[i]); err != nil {
			return i, err
		}
	}
	return len(list.Items), nil
}
