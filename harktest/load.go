package harktest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// yamlBuffer is how much of a document is looked at to tell JSON from YAML, in bytes.
const yamlBuffer = 4096

// Load reads objects, as JSON documents or as YAML documents parted by "---", and
// preloads them; lists are taken apart, and items without apiVersion and kind have
// those of a typed list (ConfigMapList). A definition must come before its objects.
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
			return stored, fmt.Errorf("harktest: %w", err)
		}
	}
}

func (s *Server) loadOne(u *unstructured.Unstructured) (int, error) {
	if items, ok := u.Object["items"].([]any); ok && s.kinds.ByKind(u.GroupVersionKind()) == nil {
		return s.loadItems(u, items)
	}
	u.SetResourceVersion("")
	if err := s.preload(u); err != nil {
		return 0, err
	}
	return 1, nil
}

func (s *Server) loadItems(list *unstructured.Unstructured, items []any) (int, error) {
	stored := 0
	for i, item := range items {
		n, err := 0, error(nil)
		if fields, ok := item.(map[string]any); ok {
			n, err = s.loadOne(itemOf(list, fields))
		} else {
			err = fmt.Errorf("is no object but %T", item)
		}
		if stored += n; err != nil {
			return stored, fmt.Errorf("item %d of %s: %w", i+1, cmp.Or(list.GetKind(), "a list"), err)
		}
	}
	return stored, nil
}

// itemOf returns an item of a list. Those of a typed list, as servers send it, have
// no kind of their own.
func itemOf(list *unstructured.Unstructured, fields map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: fields}
	if of, typed := strings.CutSuffix(list.GetKind(), "List"); typed && of != "" && u.GetKind() == "" && u.GetAPIVersion() == "" {
		u.SetKind(of)
		u.SetAPIVersion(list.GetAPIVersion())
	}
	return u
}
