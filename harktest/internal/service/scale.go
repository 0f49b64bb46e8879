package service

import (
	"encoding/json"
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
)

// ScaleOf returns the scale subresource of a version of an object.
func ScaleOf(k *kind.Kind, v *object.Version) (*autoscalingv1.Scale, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(v.Object())
	if err != nil {
		return nil, err
	}
	m := v.Meta()
	scale := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{
			Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
			ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp(),
		},
	}
	scale.Spec.Replicas = number(fields, k.Scale.Spec)
	scale.Status.Replicas = number(fields, k.Scale.Status)
	scale.Status.Selector, err = selectorText(fields, k.Scale.Selector)
	return scale, err
}

func number(fields map[string]any, path string) int32 {
	value, _ := kind.Lookup(fields, path)
	switch n := value.(type) {
	case int64:
		return int32(n)
	case float64:
		return int32(n)
	}
	return 0
}

// selectorText returns a selector as text: it is text already in the status of
// custom resources, labels in replication controllers, a LabelSelector in others.
func selectorText(fields map[string]any, path string) (string, error) {
	value, found := kind.Lookup(fields, path)
	if path == "" || !found {
		return "", nil
	}
	switch s := value.(type) {
	case string:
		return s, nil
	case map[string]any:
		if s["matchLabels"] == nil && s["matchExpressions"] == nil {
			set := labels.Set{}
			for name, label := range s {
				set[name] = kind.Text(label)
			}
			return labels.FormatLabels(set), nil
		}
		var selector metav1.LabelSelector
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s, &selector); err != nil {
			return "", err
		}
		parsed, err := metav1.LabelSelectorAsSelector(&selector)
		if err != nil {
			return "", err
		}
		return parsed.String(), nil
	}
	return "", nil
}

// UpdateScale changes the number of replicas by the scale subresource. change
// gets the current scale and returns the wanted one.
func (s *Service) UpdateScale(t Target, change func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error), o WriteOptions) (*autoscalingv1.Scale, error) {
	whole := t
	whole.Subresource = "scale"
	version, err := s.Update(whole, func(current runtime.Object) (runtime.Object, error) {
		scale, err := ScaleOf(t.Kind, object.New(t.Kind.Main(), current.DeepCopyObject()))
		if err != nil {
			return nil, err
		}
		wanted, err := change(scale)
		if err != nil {
			return nil, err
		}
		if wanted.Spec.Replicas < 0 {
			return nil, invalid(Target{Kind: &scaleKind}, t.Name, field.ErrorList{field.Invalid(field.NewPath("spec", "replicas"), wanted.Spec.Replicas, "must be greater than or equal to 0")})
		}
		return withReplicas(current, t.Kind.Scale.Spec, wanted)
	}, o)
	if err != nil {
		return nil, err
	}
	return ScaleOf(t.Kind, version)
}

// ApplyScale is a server-side apply to the scale subresource. Whose field the number
// of replicas is, is recorded for the object as an update's and not looked at.
func (s *Service) ApplyScale(t Target, body []byte, o WriteOptions) (*autoscalingv1.Scale, error) {
	of := Target{Kind: &scaleKind, Namespace: t.Namespace, Name: t.Name}
	wanted, err := appliedObject(of, body, o)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(wanted.Object, &autoscalingv1.Scale{}, true); err != nil {
		return nil, fmt.Errorf("failed to create typed patch object (/; %v): %w", scaleKind.GVK, err) // 500, as the API answers it
	}
	data, err := wanted.MarshalJSON()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return s.UpdateScale(t, func(current *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
		return current, json.Unmarshal(data, current) // over what is not applied
	}, o)
}

var scaleKind = kind.Kind{GVK: autoscalingv1.SchemeGroupVersion.WithKind("Scale"), Namespaced: true}

// withReplicas returns the object with the wanted number of replicas and the
// preconditions of the scale.
func withReplicas(current runtime.Object, path string, wanted *autoscalingv1.Scale) (runtime.Object, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(current)
	if err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(fields, int64(wanted.Spec.Replicas), strings.Split(path, ".")...); err != nil {
		return nil, BadRequest("%v", err)
	}
	next := current
	if u, ok := current.(*unstructured.Unstructured); ok {
		u.Object = fields
	} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, next); err != nil {
		return nil, err
	}
	m, err := meta.Accessor(next)
	if err != nil {
		return nil, err
	}
	if wanted.ResourceVersion != "" {
		m.SetResourceVersion(wanted.ResourceVersion)
	}
	if wanted.UID != "" {
		m.SetUID(wanted.UID)
	}
	return next, nil
}
