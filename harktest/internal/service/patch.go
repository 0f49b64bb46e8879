package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
)

// maxPatchOperations is the API's bound on the operations of one JSON patch.
const maxPatchOperations = 10_000

// maxPatchCopies is the API's bound on what the copies of one JSON patch may add up
// to, in bytes. Without it a patch of a few lines, each of which copies the whole,
// makes an object of gigabytes.
const maxPatchCopies = 3 << 20

// The library knows the bound as a variable only. Here nobody can be using it yet;
// who has set one of his own keeps it.
func init() {
	if jsonpatch.AccumulatedCopySizeLimit == 0 {
		jsonpatch.AccumulatedCopySizeLimit = maxPatchCopies
	}
}

// Patch is the body of a patch request.
type Patch struct {
	Type types.PatchType
	Data []byte
	// Strict makes fields that the kind does not have an error.
	Strict bool
	// Warn is told of such fields when they are none. Default nobody.
	Warn func(unknown error)
}

// Patch changes an object by a JSON, merge or strategic merge patch.
func (s *Service) Patch(t Target, p Patch, o WriteOptions) (*object.Version, error) {
	return s.Update(t, func(current runtime.Object) (runtime.Object, error) {
		next, err := s.PatchObject(t.Kind.GVK, current, p)
		if err != nil {
			return nil, err
		}
		return next, CheckName(next, t)
	}, o)
}

// PatchObject returns a patched object of a kind.
func (s *Service) PatchObject(gvk schema.GroupVersionKind, current runtime.Object, p Patch) (runtime.Object, error) {
	current.GetObjectKind().SetGroupVersionKind(gvk)
	before, err := json.Marshal(current)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	after, err := applyPatch(before, current, p)
	if err != nil {
		return nil, err
	}
	obj, unknown, err := s.decoder.DecodePatched(after, gvk)
	switch {
	case err != nil && p.Type == types.StrategicMergePatchType:
		return nil, strategicInvalid(after, current, p, err)
	case err != nil:
		return nil, invalidPatch(string(after), err)
	case unknown != nil && p.Strict:
		return nil, invalidPatch(string(after), unknown)
	case unknown != nil && p.Warn != nil:
		p.Warn(unknown)
	}
	if gvk.GroupKind() == definitionKind {
		if _, err := readDefinition(obj); err != nil {
			return nil, invalidPatch(string(after), err)
		}
	}
	return obj, nil
}

func invalidPatch(value string, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), value, err.Error())})
}

// strategicInvalid says why the result of a strategic merge patch is no object, as
// the API does, which does not go by way of JSON there.
func strategicInvalid(after []byte, current runtime.Object, p Patch, err error) error {
	var result, patch map[string]any
	if json.Unmarshal(after, &result) != nil || json.Unmarshal(p.Data, &patch) != nil {
		return invalidPatch(string(after), err)
	}
	empty := reflect.New(reflect.TypeOf(current).Elem()).Interface()
	if cause := runtime.DefaultUnstructuredConverter.FromUnstructured(result, empty); cause != nil {
		err = cause
	}
	return invalidPatch(fmt.Sprintf("%+v", patch), err)
}

func applyPatch(before []byte, prototype runtime.Object, p Patch) ([]byte, error) {
	switch p.Type {
	case types.JSONPatchType:
		return applyJSONPatch(before, p.Data)
	case types.MergePatchType:
		if !json.Valid(p.Data) {
			return nil, BadRequest("invalid JSON patch")
		}
		var fields map[string]any
		if err := json.Unmarshal(p.Data, &fields); err != nil {
			return nil, BadRequest("error decoding patch: %v", err)
		}
		after, err := jsonpatch.MergePatch(before, p.Data)
		if err != nil {
			return nil, BadRequest("error decoding patch: %v", err)
		}
		return after, nil
	case types.StrategicMergePatchType:
		after, err := strategicpatch.StrategicMergePatch(before, p.Data, prototype)
		return after, strategicError(err)
	}
	return nil, fmt.Errorf("service: unknown patch type %q", p.Type)
}

func applyJSONPatch(before, data []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, BadRequest("error decoding patch: %v", err)
	}
	if len(operations) > maxPatchOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(operations)))
	}
	after, err := operations.Apply(before)
	if err != nil {
		return nil, unprocessable(err.Error())
	}
	return after, nil
}

func strategicError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mergepatch.ErrNoListOfLists), errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return unprocessable(err.Error())
	}
	return BadRequest("error decoding patch: %v", err)
}

// PatchTypes returns the media types of patches that a kind accepts.
func PatchTypes(k *kind.Kind) []string {
	accepted := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if !k.Unstructured() {
		accepted = append(accepted, string(types.StrategicMergePatchType))
	}
	return append(accepted, string(types.ApplyYAMLPatchType))
}
