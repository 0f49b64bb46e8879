package kube

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/gocampus/hark/wire"
)

// mustView is View that cannot fail.
func mustView[T any](t testing.TB, view func(*wire.Object) (*T, error), object *wire.Object) *T {
	t.Helper()
	result, err := view(object)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// viewOfPod is ViewOf with the kind of pods.
func viewOfPod[T any](object *wire.Object) (*T, error) { return ViewOf[T](podKind, object) }

// viewedAs counts the results that are remembered for an object.
func viewedAs(object *wire.Object) int {
	n := 0
	for v := loadViews(uintptr(unsafe.Pointer(object))); v != nil; v = v.next {
		if v.object.Value() == object {
			n++
		}
	}
	return n
}

// collected runs the garbage collector until done, which cleanups lead to.
func collected(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after a minute of collecting garbage", what)
		}
		runtime.GC()
		runtime.Gosched()
	}
}

func TestAViewIsWhatAsDecodesAndOneForAll(t *testing.T) {
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		first := mustView(t, View[corev1.Pod], kept)
		if diff := cmp.Diff(first, wantPod()); diff != "" {
			t.Errorf("View (-got +want):\n%s", diff)
		}
		if second := mustView(t, View[corev1.Pod], kept); second != first {
			t.Error("a second View decoded again while the first result was held")
		}
		owned, err := As[corev1.Pod](kept)
		if err != nil || owned == first {
			t.Errorf("As = the shared result, %v; want one of its own", err)
		}
		runtime.KeepAlive(first)
	})
}

// TestAViewOfItsKindIsTheViewOfItsType: a controller that only reads names the kind, a handler
// beside it mostly does not.
func TestAViewOfItsKindIsTheViewOfItsType(t *testing.T) {
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		named := mustView(t, viewOfPod[corev1.Pod], kept)
		unnamed := mustView(t, View[corev1.Pod], kept)
		if named != unnamed {
			t.Error("who does not name the kind gets a result of its own")
		}
		if n := viewedAs(kept); n != 1 {
			t.Errorf("%d results are remembered; want 1", n)
		}
		runtime.KeepAlive(named)
	})
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		unnamed := mustView(t, View[corev1.Pod], kept)
		named := mustView(t, viewOfPod[corev1.Pod], kept)
		if named != unnamed {
			t.Error("who names the kind gets a result of its own")
		}
		runtime.KeepAlive(unnamed)
	})
}

// TestAViewOfATypeOfSeveralKindsIsOfTheKindThatWasNamed: what the scheme knows under several
// kinds says in its result which one was meant.
func TestAViewOfATypeOfSeveralKindsIsOfTheKindThatWasNamed(t *testing.T) {
	kinds, _, err := scheme.Scheme.ObjectKinds(&metav1.GetOptions{})
	if err != nil || len(kinds) < 2 {
		t.Fatalf("kinds %v, %v; want several", kinds, err)
	}
	other := kinds[1]
	kept := keep(t, wire.JSON, []byte(`{"metadata":{"name":"w"}}`))
	named, err := ViewOf[metav1.GetOptions](Kind{GVK: other}, kept)
	if err != nil {
		t.Fatal(err)
	}
	unnamed := mustView(t, View[metav1.GetOptions], kept)
	if got := named.GroupVersionKind(); got != other {
		t.Errorf("named: %v; want %v", got, other)
	}
	if got := unnamed.GroupVersionKind(); got == other {
		t.Errorf("unnamed: %v, which is what another one named", got)
	}
	runtime.KeepAlive(named)
}

func TestEachTypeHasItsOwnViewOfOneObject(t *testing.T) {
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		for range 2 { // the second time what is shared is found
			pod := mustView(t, viewOfPod[corev1.Pod], kept)
			tree := mustView(t, viewOfPod[unstructured.Unstructured], kept)
			meta := mustView(t, viewOfPod[metav1.PartialObjectMetadata], kept)
			if diff := cmp.Diff(pod, wantPod()); diff != "" {
				t.Errorf("Pod (-got +want):\n%s", diff)
			}
			node, _, _ := unstructured.NestedString(tree.Object, "spec", "nodeName")
			if tree.GetKind() != "Pod" || tree.GetName() != "a" || node != "node-1" {
				t.Errorf("Unstructured = %v", tree.Object)
			}
			want := &metav1.PartialObjectMetadata{TypeMeta: wantPod().TypeMeta, ObjectMeta: wantPod().ObjectMeta}
			if diff := cmp.Diff(meta, want); diff != "" {
				t.Errorf("PartialObjectMetadata (-got +want):\n%s", diff)
			}
			if again := mustView(t, viewOfPod[corev1.Pod], kept); again != pod {
				t.Error("other types took the place of the Pod")
			}
			if n := viewedAs(kept); n != 3 {
				t.Errorf("%d results are remembered; want 3", n)
			}
			runtime.KeepAlive(tree)
			runtime.KeepAlive(meta)
		}
	})
}

func TestAViewIsOfItsOwnVersionAndKind(t *testing.T) {
	seven, eight := object(t, wire.Protobuf, pod("a", "7")), object(t, wire.Protobuf, pod("a", "8"))
	first, second := mustView(t, View[corev1.Pod], seven), mustView(t, View[corev1.Pod], eight)
	if first.ResourceVersion != "7" || second.ResourceVersion != "8" {
		t.Errorf("versions %s and %s; want 7 and 8", first.ResourceVersion, second.ResourceVersion)
	}
	unnamed := keep(t, wire.JSON, []byte(`{"metadata":{"name":"w"}}`))
	widget, err := ViewOf[unstructured.Unstructured](widgetKind, unnamed)
	if err != nil || widget.GetKind() != "Widget" {
		t.Fatalf("ViewOf = %v, %v; want a Widget", widget, err)
	}
	if tree, err := View[unstructured.Unstructured](unnamed); err == nil {
		t.Errorf("who names no kind gets a %s, as another one named it", tree.GetKind())
	}
	asPod := mustView(t, viewOfPod[unstructured.Unstructured], unnamed)
	if asPod.GetKind() != "Pod" || widget.GetKind() != "Widget" {
		t.Errorf("kinds %s and %s; want Pod and Widget", asPod.GetKind(), widget.GetKind())
	}
}

func TestAnErrorOfAViewIsNotRemembered(t *testing.T) {
	kept := object(t, wire.Protobuf, pod("a", "7"))
	for range 2 {
		if got, err := ViewOf[corev1.Pod](deploymentKind, kept); err == nil || got != nil {
			t.Errorf("ViewOf = %v, %v; want an error", got, err)
		}
		if _, err := View[unstructured.Unstructured](kept); err == nil {
			t.Error("a view of no kind was made of protobuf")
		}
	}
	if n := viewedAs(kept); n != 0 {
		t.Errorf("%d results are remembered after errors; want none", n)
	}
	if got := mustView(t, viewOfPod[corev1.Pod], kept); got.Name != "a" {
		t.Errorf("View after errors = %v", got)
	}
	if _, err := View[corev1.Pod](nil); err == nil {
		t.Error("no object at all was decoded")
	}
}

func TestAViewThatNobodyHoldsIsCollectedAndForgotten(t *testing.T) {
	kept := object(t, wire.Protobuf, pod("a", "7"))
	pods := weak.Make(mustView(t, viewOfPod[corev1.Pod], kept))
	meta := mustView(t, viewOfPod[metav1.PartialObjectMetadata], kept)
	collected(t, "the Pod", func() bool { return pods.Value() == nil && viewedAs(kept) == 1 })
	if again := mustView(t, viewOfPod[metav1.PartialObjectMetadata], kept); again != meta {
		t.Error("what is held was decoded again because something else was collected")
	}
	runtime.KeepAlive(meta)
	collected(t, "all", func() bool { return viewedAs(kept) == 0 })
	if _, there := views.Load(uintptr(unsafe.Pointer(kept))); there {
		t.Error("an object without results still has a place")
	}
	if again := mustView(t, viewOfPod[corev1.Pod], kept); again.Name != "a" {
		t.Errorf("View after that = %v", again)
	}
}

func TestAViewDoesNotKeepItsObjectAlive(t *testing.T) {
	kept := object(t, wire.Protobuf, pod("a", "7"))
	watched := weak.Make(kept)
	held := mustView(t, View[corev1.Pod], kept)
	collected(t, "the object", func() bool { return watched.Value() == nil })
	if diff := cmp.Diff(held, wantPod()); diff != "" {
		t.Errorf("the result outlives the object (-got +want):\n%s", diff)
	}
}

// TestAnObjectAtTheAddressOfAnotherHasViewsOfItsOwn: results are held while their
// objects go, so that others get their addresses.
func TestAnObjectAtTheAddressOfAnotherHasViewsOfItsOwn(t *testing.T) {
	var held []*corev1.Pod
	addresses, again := map[uintptr]bool{}, 0
	for i := 0; again < 20 && i < 20_000; i++ {
		kept := object(t, wire.Protobuf, pod("a", fmt.Sprint(i)))
		address := uintptr(unsafe.Pointer(kept))
		if addresses[address] {
			again++
		}
		addresses[address] = true
		got := mustView(t, View[corev1.Pod], kept)
		if got.ResourceVersion != fmt.Sprint(i) || mustView(t, View[corev1.Pod], kept) != got {
			t.Fatalf("version %s for %d, which is at a used address: %v", got.ResourceVersion, i, again > 0)
		}
		held = append(held, got)
		if i%200 == 0 {
			runtime.GC()
		}
	}
	if again == 0 {
		t.Error("no address was used again")
	}
	runtime.KeepAlive(held)
}

// TestAViewOfNothingIsNotRemembered: the runtime does not tell when a value without
// size is gone.
func TestAViewOfNothingIsNotRemembered(t *testing.T) {
	kept := keep(t, wire.JSON, []byte(`{"metadata":{"name":"w"}}`))
	if got := mustView(t, View[struct{}], kept); got == nil || viewedAs(kept) != 0 {
		t.Errorf("View = %v, and %d results are remembered; want none", got, viewedAs(kept))
	}
}

// TestAViewOfATypeWithoutPointers: the allocator puts small ones together.
func TestAViewOfATypeWithoutPointers(t *testing.T) {
	kept := keep(t, wire.JSON, []byte(`{"metadata":{"name":"w"},"Size":3}`))
	for range 100 {
		small := mustView(t, View[struct{ Size int8 }], kept)
		none := mustView(t, View[struct{}], kept)
		if small.Size != 3 || none == nil {
			t.Fatalf("View = %v; want size 3", small)
		}
		runtime.GC()
	}
}

func TestAllWhoAskAtOnceGetTheSameView(t *testing.T) {
	for round := range 50 {
		kept := object(t, wire.Protobuf, pod("a", fmt.Sprint(round)))
		var asking sync.WaitGroup
		pods := make([]*corev1.Pod, 8)
		metas := make([]*metav1.PartialObjectMetadata, len(pods))
		for i := range pods {
			asking.Go(func() {
				pods[i], _ = viewOfPod[corev1.Pod](kept)
				metas[i], _ = viewOfPod[metav1.PartialObjectMetadata](kept)
				if i == 0 && round%10 == 0 {
					runtime.GC()
				}
			})
		}
		asking.Wait()
		for i := range pods {
			if pods[i] == nil || pods[i] != pods[0] || metas[i] == nil || metas[i] != metas[0] {
				t.Fatalf("round %d: %v and %v; want one Pod and one metadata for all", round, pods, metas)
			}
		}
		if got := pods[0].ResourceVersion; got != fmt.Sprint(round) {
			t.Fatalf("round %d: version %s", round, got)
		}
	}
}

func TestAViewThatIsThereCostsNoAllocation(t *testing.T) {
	kept := object(t, wire.Protobuf, pod("a", "7"))
	held, tree := mustView(t, viewOfPod[corev1.Pod], kept), mustView(t, viewOfPod[unstructured.Unstructured], kept)
	if got := testing.AllocsPerRun(100, func() {
		if again, err := ViewOf[corev1.Pod](podKind, kept); err != nil || again != held {
			t.Fatalf("ViewOf = %p, %v; want %p", again, err, held)
		}
	}); got != 0 {
		t.Errorf("%v allocations; want none", got)
	}
	runtime.KeepAlive(tree)
}
