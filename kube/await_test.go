package kube

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/watch"
)

// widgetDefinition defines widgetKind, and a version v2 as well.
func widgetDefinition(servesV1 bool) *unstructured.Unstructured {
	version := func(name string, served bool) any {
		return map[string]any{"name": name, "served": served, "storage": name == "v2",
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names":    map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{version("v1", servesV1), version("v2", true)},
		},
	}}
}

// await runs Await in the background.
func await(ctx context.Context, s *Source) <-chan error {
	done := make(chan error, 1)
	go func() { done <- s.Await(ctx) }()
	synctest.Wait()
	return done
}

func pending(done <-chan error) bool {
	synctest.Wait()
	return len(done) == 0
}

func TestAwaitEndsWhenTheVersionIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := harktest.StartWith(t, harktest.Options{InMemory: true})
		source := connect(t, server.Config(), Options{}).Source(widgetKind, SourceOptions{})
		done := await(t.Context(), source)
		other := widgetDefinition(true)
		other.SetName("gadgets.example.com")
		_ = unstructured.SetNestedField(other.Object, "gadgets", "spec", "names", "plural")
		_ = unstructured.SetNestedField(other.Object, "Gadget", "spec", "names", "kind")
		d := widgetDefinition(false)
		for _, object := range []*unstructured.Unstructured{other, d} {
			if err := server.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if !pending(done) {
				t.Fatalf("Await = %v at the definition of %s without v1", <-done, object.GetName())
			}
		}
		if err := server.Change(t.Context(), d, func() { d.Object["spec"] = widgetDefinition(true).Object["spec"] }); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("Await = %v once v1 is served", err)
		}
		if err := source.Await(t.Context()); err != nil {
			t.Errorf("Await = %v while v1 is served", err)
		}
		d.SetFinalizers([]string{"example.com/later"})
		if err := server.Update(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if err := server.Delete(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := source.Await(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Await = %v of a definition that is being deleted; want the cause of its context", err)
		}
	})
}

func TestAwaitSaysThatItCannotTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := harktest.StartWith(t, harktest.Options{InMemory: true})
		client := connect(t, server.Config(), Options{})
		if err := client.Source(podKind, SourceOptions{}).Await(t.Context()); err != errNotCustom {
			t.Errorf("Await = %v of a built-in kind", err)
		}
		for code, kind := range map[int]watch.ErrorKind{401: watch.KindUnauthorized, 403: watch.KindForbidden, 404: watch.KindNotFound} {
			lift := server.Inject(harktest.Fault{Resource: "customresourcedefinitions", Code: code})
			err := client.Source(widgetKind, SourceOptions{}).Await(t.Context())
			lift()
			if known, ok := errors.AsType[*watch.Error](err); !ok || known.Kind != kind {
				t.Errorf("Await = %v when definitions are answered by %d", err, code)
			}
		}
	})
}

func TestAwaitOutlastsAServerThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := harktest.StartWith(t, harktest.Options{InMemory: true, NoStreamingLists: true})
		lift := server.Inject(harktest.Fault{Refuse: true})
		done := await(t.Context(), connect(t, server.Config(), Options{}).Source(widgetKind, SourceOptions{}))
		time.Sleep(10 * time.Minute)
		if err := server.Create(t.Context(), widgetDefinition(true)); err != nil {
			t.Fatal(err)
		}
		if !pending(done) {
			t.Fatalf("Await = %v while the server is down", <-done)
		}
		lift()
		if err := <-done; err != nil {
			t.Errorf("Await = %v", err)
		}
	})
}
