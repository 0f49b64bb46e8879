package kube

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gocampus/hark/kube/internal/protobuf"
	"github.com/gocampus/hark/wire"
)

// forgetModels makes a test begin without those of others.
func forgetModels(t *testing.T) {
	t.Helper()
	viewModels.mu.Lock()
	defer viewModels.mu.Unlock()
	for i := range viewModels.places {
		for j := range viewModels.places[i] {
			viewModels.drop(&viewModels.places[i][j])
		}
	}
	clear(viewModels.seen[:])
}

// ownedPod is one of the pods of an owner.
func ownedPod(name, owner string, version int) *corev1.Pod {
	p := richPod()
	p.Name, p.ResourceVersion = name, fmt.Sprint(version)
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: owner, UID: types.UID("uid-of-" + owner), Controller: new(true)}}
	p.Status.Message = strings.Repeat("m", version%7)
	return p
}

// sameContainers tells whether two pods share their containers.
func sameContainers(a, b *corev1.Pod) bool {
	return unsafe.SliceData(a.Spec.Containers) == unsafe.SliceData(b.Spec.Containers)
}

func TestVersionsOfAnObjectShareWhatIsTheSame(t *testing.T) {
	forgetModels(t)
	var views []*corev1.Pod
	for version := range 5 {
		want := ownedPod("a", "web", version)
		got := mustView(t, View[corev1.Pod], object(t, wire.Protobuf, want))
		want.TypeMeta = got.TypeMeta
		if diff := cmp.Diff(got, want); diff != "" {
			t.Fatalf("version %d (-got +want):\n%s", version, diff)
		}
		views = append(views, got)
	}
	if sameContainers(views[0], views[1]) {
		t.Error("the first one is a model already: what is viewed once should leave nothing behind")
	}
	for i, v := range views[2:] {
		if !sameContainers(v, views[1]) {
			t.Errorf("version %d shares nothing with version 1", i+2)
		}
	}
	owned, err := As[corev1.Pod](object(t, wire.Protobuf, ownedPod("a", "web", 6)))
	if err != nil || sameContainers(owned, views[4]) {
		t.Errorf("As shares with views, or %v", err)
	}
}

func TestObjectsOfAFamilyShareWhatIsTheSame(t *testing.T) {
	pods := manyPods()
	for i := range pods {
		pods[i].Spec = richPod().Spec
	}
	whole, split, compact := keptPods(t, pods...)
	for form, objects := range map[string][]*wire.Object{"whole": whole, "split": split, "compact": compact} {
		forgetModels(t)
		var views []*corev1.Pod
		for i, o := range objects {
			got, want := mustView(t, View[corev1.Pod], o), pods[i].DeepCopy()
			want.TypeMeta = got.TypeMeta
			if diff := cmp.Diff(got, want); diff != "" {
				t.Fatalf("%s %d (-got +want):\n%s", form, i, diff)
			}
			views = append(views, got)
		}
		for i, v := range views[2:] {
			if !sameContainers(v, views[1]) {
				t.Fatalf("%s %d shares nothing", form, i+2)
			}
		}
	}
}

// TestAModelThatIsNotLikeItsFamilyAnyMoreIsReplaced: everything about an object has changed, once.
func TestAModelThatIsNotLikeItsFamilyAnyMoreIsReplaced(t *testing.T) {
	forgetModels(t)
	var views []*corev1.Pod
	for version := range 6 {
		p := ownedPod("a", "web", version)
		if version >= 2 {
			for i := range p.Spec.Containers {
				p.Spec.Containers[i].Env, p.Spec.Containers[i].VolumeMounts = nil, nil
				p.Spec.Containers[i].Args = []string{strings.Repeat("new", 1000)}
			}
			p.Labels = nil
		}
		got := mustView(t, View[corev1.Pod], object(t, wire.Protobuf, p))
		p.TypeMeta = got.TypeMeta
		if diff := cmp.Diff(got, p); diff != "" {
			t.Fatalf("version %d (-got +want):\n%s", version, diff)
		}
		views = append(views, got)
	}
	if !sameContainers(views[4], views[5]) {
		t.Error("the model was not replaced by a newer version")
	}
}

// TestModelsThatAreNotUsedGo with the garbage collections that follow.
func TestModelsThatAreNotUsedGo(t *testing.T) {
	forgetModels(t)
	for version := range 3 {
		mustView(t, View[corev1.Pod], object(t, wire.Protobuf, ownedPod("a", "web", version)))
	}
	if viewModels.count() == 0 {
		t.Fatal("there are no models")
	}
	collected(t, "all models", func() bool {
		viewModels.mu.Lock()
		defer viewModels.mu.Unlock()
		return viewModels.size == 0 && !viewModels.ageing
	})
	if n := viewModels.count(); n != 0 {
		t.Errorf("%d models are left", n)
	}
	for version := range 3 { // and again
		mustView(t, View[corev1.Pod], object(t, wire.Protobuf, ownedPod("a", "web", version)))
	}
	collected(t, "models that came later", func() bool { return viewModels.count() == 0 })
}

// TestModelsAreFew: when they have their size nothing is added, and what is used stays.
func TestModelsAreFew(t *testing.T) {
	raw, err := richPod().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	m := &models{maxSize: 10 * len(raw), ageing: true} // it does not age here
	made := 0
	for round := range 3 {
		for i := range uint64(100) {
			a := m.asked(i<<8|1, (1000+i)<<8|1, len(raw))
			if a.serve {
				m.serve(a.name, protobuf.NewModel(string(raw), new(corev1.Pod), a.like))
				made++
			}
			if round == 2 && i < 10 && a.like == nil {
				t.Errorf("the model of %d was dropped", i)
			}
		}
	}
	if made != 10 || m.size != 10*len(raw) {
		t.Errorf("%d models of %d bytes; want 10 of %d", made, m.size, 10*len(raw))
	}
	for i := range uint64(100_000) { // names push out names, and no models
		m.asked(i<<20|3, i<<30|5, len(raw))
	}
	if n := m.count(); n != 10 {
		t.Errorf("%d models; want 10", n)
	}
	for range maxAge + 1 {
		m.ageing = true
		m.age()
	}
	if n := m.count(); n != 0 || m.size != 0 {
		t.Errorf("%d models of %d bytes are left", n, m.size)
	}
}

// TestModelsOfFullSetsMakeRoomWhenTheyAge: a set has few places.
func TestModelsOfFullSetsMakeRoomWhenTheyAge(t *testing.T) {
	raw, err := richPod().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	m := &models{maxSize: maxModels, ageing: true}
	add := func(name uint64) {
		for range 3 { // a family gets its model first, in another set
			if a := m.asked(name, name^0x5500, len(raw)); a.serve {
				m.serve(a.name, protobuf.NewModel(string(raw), new(corev1.Pod), a.like))
			}
		}
	}
	name := func(i int) uint64 { return uint64(i+1)<<16 | 1 } // all of one set
	for i := range 2 * placeWays {
		add(name(i))
	}
	for i := range 2 * placeWays {
		if has := m.find(name(i), len(raw)) != nil; has != (i < placeWays) {
			t.Errorf("a model of %d: %v", i, has)
		}
	}
	m.age()
	m.find(name(3), len(raw))
	for i := placeWays; i < 2*placeWays; i++ {
		add(name(i))
	}
	for i := range 2*placeWays - 1 {
		if has := m.find(name(i), len(raw)) != nil; has != (i == 3 || i >= placeWays) {
			t.Errorf("after a collection a model of %d: %v", i, has)
		}
	}
}

func TestSeveralWhoViewVersionsOfTheSameObjects(t *testing.T) {
	forgetModels(t)
	const objects, versions = 5, 40
	var viewing sync.WaitGroup
	for g := range 4 {
		viewing.Go(func() {
			for version := range versions {
				for i := range objects {
					want := ownedPod(fmt.Sprint("web-", i), "web", version*4+g)
					got, err := View[corev1.Pod](object(t, wire.Protobuf, want))
					if err != nil {
						t.Error(err)
						return
					}
					want.TypeMeta = got.TypeMeta
					if !reflect.DeepEqual(got, want) {
						t.Errorf("version %d of %d is another", version, i)
						return
					}
				}
				if version%10 == g {
					runtime.GC()
				}
			}
		})
	}
	viewing.Wait()
}

// TestAMessageThatIsNoModelIsViewedAllTheSame: its fields are in no order.
func TestAMessageThatIsNoModelIsViewedAllTheSame(t *testing.T) {
	forgetModels(t)
	for version := range 4 {
		p := ownedPod("a", "web", version)
		status, err := (&corev1.Pod{Status: p.Status}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		rest := p.DeepCopy()
		rest.Status = corev1.PodStatus{}
		raw, err := rest.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		raw = append(status, raw...)
		want := new(corev1.Pod)
		if err := want.Unmarshal(raw); err != nil {
			t.Fatal(err)
		}
		kept := keep(t, wire.Protobuf, raw)
		got := mustView(t, View[corev1.Pod], kept)
		want.TypeMeta = got.TypeMeta
		if diff := cmp.Diff(got, want); diff != "" {
			t.Fatalf("version %d (-got +want):\n%s", version, diff)
		}
		if a := adviceFor(kept, got); version == 3 && a.serve {
			t.Error("whether it can be a model is tried again and again")
		}
	}
}

// fill puts models of raw into the first n places, whose names are of one set if n is small.
func (m *models) fill(n int, raw []byte) {
	for i := range uint64(n) {
		m.serve(i<<20|1, protobuf.NewModel(string(raw), new(corev1.Pod), nil))
	}
}

// counted is the size of all models, added up.
func (m *models) counted() (n, size int) {
	for i := range m.places {
		for j := range m.places[i] {
			if model := m.places[i][j].model; model != nil {
				n++
				size += model.Size()
			}
		}
	}
	return n, size
}

// TestModelsAreNoMoreThanTheyMayBe although several ask before any serves.
func TestModelsAreNoMoreThanTheyMayBe(t *testing.T) {
	raw, err := richPod().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	m := &models{maxSize: 2 * len(raw), ageing: true}
	m.fill(5, raw)
	if n, size := m.counted(); n != 2 || m.size != size {
		t.Errorf("%d models of %d bytes, counted as %d; want 2", n, size, m.size)
	}
}

// TestADismissedModelThatIsGonePushesOutNoOther: nothing is to be put in its place.
func TestADismissedModelThatIsGonePushesOutNoOther(t *testing.T) {
	raw, err := richPod().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	m := &models{maxSize: maxModels, ageing: true}
	m.fill(placeWays, raw)
	m.dismiss(1<<30|1, protobuf.NewModel(string(raw), new(corev1.Pod), nil))
	if n, _ := m.counted(); n != placeWays {
		t.Errorf("%d models are left of %d", n, placeWays)
	}
	m.dismiss(1, m.places[0][0].model)
	if n, size := m.counted(); n != placeWays-1 || m.size != size {
		t.Errorf("%d models of %d bytes, counted as %d; want %d", n, size, m.size, placeWays-1)
	}
}

// TestAMuchLargerObjectIsNoModel: a small result that is held would keep all of its bytes.
func TestAMuchLargerObjectIsNoModel(t *testing.T) {
	forgetModels(t)
	view := func(i, size int) *corev1.ConfigMap {
		c := &corev1.ConfigMap{Data: map[string]string{"data": strings.Repeat("x", size)}, BinaryData: map[string][]byte{"same": {1, 2, 3}}}
		c.Name, c.Namespace, c.Labels = fmt.Sprint("c-", i), "default", map[string]string{"app": strings.Repeat("y", 200)}
		return mustView(t, View[corev1.ConfigMap], object(t, wire.Protobuf, c))
	}
	view(0, 1<<20)
	large := view(1, 1<<20) // the model
	small := view(2, 10)
	if unsafe.StringData(small.Labels["app"]) == unsafe.StringData(large.Labels["app"]) {
		t.Error("a small result shares with a large one")
	}
	view(3, 10)
	next := view(4, 10)
	if unsafe.StringData(next.Labels["app"]) != unsafe.StringData(small.Labels["app"]) {
		t.Error("small ones do not share with each other after a large one")
	}
}

// TestMetadataAloneIsLikeItsModel although most of the message is something else.
func TestMetadataAloneIsLikeItsModel(t *testing.T) {
	forgetModels(t)
	for version := range 6 {
		p := ownedPod("a", "web", version)
		p.Status.Reason = strings.Repeat(fmt.Sprint(version), 10_000)
		mustView(t, View[metav1.PartialObjectMetadata], object(t, wire.Protobuf, p))
		if n, _ := viewModels.counted(); n != min(version, 2) { // the family's, then its own
			t.Errorf("%d models after version %d", n, version)
		}
	}
}

// TestAModelInOnePieceIsNotCopied: its bytes are those that the object keeps.
func TestAModelInOnePieceIsNotCopied(t *testing.T) {
	forgetModels(t)
	mustView(t, View[corev1.Pod], object(t, wire.Protobuf, ownedPod("a", "web", 0)))
	kept := object(t, wire.Protobuf, ownedPod("a", "web", 1))
	model, prefix := mustView(t, View[corev1.Pod], kept), kept.Prefix()
	begin, at := uintptr(unsafe.Pointer(unsafe.StringData(prefix))), uintptr(unsafe.Pointer(unsafe.StringData(model.Name)))
	if at < begin || at >= begin+uintptr(len(prefix)) {
		t.Error("the name is not a part of the object's bytes")
	}
	runtime.KeepAlive(kept)
}

// TestTheKindOfOneViewIsNotThatOfAnother: an Unknown has it in its message.
func TestTheKindOfOneViewIsNotThatOfAnother(t *testing.T) {
	forgetModels(t)
	raw, err := (&apiruntime.Unknown{TypeMeta: apiruntime.TypeMeta{APIVersion: "v1", Kind: "Node"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		mustView(t, viewOfPod[apiruntime.Unknown], keep(t, wire.Protobuf, raw))
	}
	if got := mustView(t, View[apiruntime.Unknown], keep(t, wire.Protobuf, raw)); got.Kind != "Node" {
		t.Errorf("the kind is %s; want Node", got.Kind)
	}
}

// count is the number of models.
func (m *models) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _ := m.counted()
	return n
}

// asked is advise for an object that may have a model.
func (m *models) asked(own, family uint64, size int) advice {
	if like := m.own(own, size); like != nil {
		return advice{like: like, name: own}
	}
	return m.advise(own, family, size)
}
