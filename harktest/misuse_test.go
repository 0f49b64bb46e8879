package harktest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gocampus/hark/harktest"
)

func TestMisuseOfDirectAccessIsAnErrorThatSaysSo(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, configMap("default", "a", nil))
	_, listed := harktest.List[harktest.Object](s, "")
	_, unknown := harktest.List[*unstructured.Unstructured](s, "")
	var none *corev1.Pod
	twice := s.Delete(ctx, configMap("default", "a", nil), metav1.DeleteOptions{}, metav1.DeleteOptions{})
	for what, tc := range map[string]struct {
		err  error
		want string
	}{
		"List of an interface":     {listed, "harktest.Object is not a pointer to an object"},
		"List of unstructured":     {unknown, "apiVersion and kind are required"},
		"Create of nothing":        {s.Create(ctx, nil), "the object is nil"},
		"Create of a nil pointer":  {s.Create(ctx, none), "the object is nil"},
		"Get into nothing":         {s.Get(ctx, nil), "the object is nil"},
		"Change of nothing":        {s.Change(ctx, nil, func() {}), "the object is nil"},
		"Preload of nothing":       {s.Preload(nil), "the object is nil"},
		"Touch of a nil pointer":   {s.Touch(none), "the object is nil"},
		"Create without a kind":    {s.Create(ctx, &unstructured.Unstructured{}), "apiVersion and kind are required"},
		"Get without a name":       {s.Get(ctx, &corev1.Pod{}), `pods "" not found`},
		"Patch of no known type":   {s.Patch(ctx, configMap("default", "a", nil), "text/plain", nil), "text/plain"},
		"Delete with two options":  {twice, "at most one"},
		"Preload of a path":        {s.Preload(configMap("default", "a/b", nil)), `metadata.name: "a/b" may not contain '/'`},
		"Preload of a parent":      {s.Preload(configMap("default", "..", nil)), `metadata.name: ".." may not be '..'`},
		"Preload of a percentage":  {s.Preload(configMap("default", "50%", nil)), `metadata.name: "50%" may not contain '%'`},
		"Register without a kind":  {s.Register(harktest.Kind{}), "harktest: "},
		"Register of a long name":  {s.Register(harktest.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod")}), "harktest: "},
		"Update of an absent name": {s.Update(ctx, &corev1.ConfigMap{}), ""},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: %v; want an error with %q", what, tc.err, tc.want)
		}
	}
	if err := s.Get(ctx, configMap("default", "a", nil)); err != nil {
		t.Errorf("after a refused Delete: %v; want the object", err)
	}
}

// A conflict that is the callback's own doing would be one for ever.
func TestChangeReturnsAConflictThatNobodyElseMade(t *testing.T) {
	s := harktest.Start(t)
	m := configMap("default", "a", nil)
	create(t, s, m)
	for what, spoil := range map[string]func(){
		"another UID":             func() { m.UID = "other" },
		"another resourceVersion": func() { m.ResourceVersion = "1" },
	} {
		calls := 0
		err := s.Change(ctx, m, func() { calls++; spoil() })
		if !apierrors.IsConflict(err) || calls != 1 {
			t.Errorf("%s: %v after %d calls; want a conflict after one", what, err, calls)
		}
	}
	calls := 0
	err := s.Change(ctx, m, func() {
		if calls++; calls == 1 {
			if err := s.Touch(configMap("default", "a", nil)); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || calls != 2 {
		t.Errorf("a change that somebody overtook: %v after %d calls; want two", err, calls)
	}
}

func TestServerMayBeClosedBeforeItListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := harktest.New(harktest.Options{InMemory: true, Story: &harktest.StoryOptions{}, Setup: func(s *harktest.Server) error {
			s.Close()
			s.Restart(harktest.RestartOptions{})
			return context.Canceled
		}})
		if err != context.Canceled {
			t.Errorf("New = %v; want the error of Setup", err)
		}
		_, err = harktest.New(harktest.Options{InMemory: true, Setup: func(s *harktest.Server) error { s.Close(); return nil }})
		if err == nil {
			t.Error("a server that was closed before it listened came up")
		}
	})
}
