package kube

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/wire"
)

// keptPods returns pods as they are kept in memory after a list: whole, with their
// ends apart, or compacted.
func keptPods(t testing.TB, pods ...*corev1.Pod) (whole, split, compact []*wire.Object) {
	t.Helper()
	list := &corev1.PodList{}
	for _, p := range pods {
		whole = append(whole, object(t, wire.Protobuf, p))
		list.Items = append(list.Items, *p)
	}
	raw, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := (&apiruntime.Unknown{TypeMeta: apiruntime.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	r := wire.NewListReader(bytes.NewReader(append([]byte("k8s\x00"), envelope...)), wire.Protobuf, wire.Options{KeepManagedFields: true})
	var compactor wire.Compactor
	for range pods {
		o, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		split = append(split, o)
		smaller, _ := compactor.Compact(o, o.Key())
		compact = append(compact, smaller)
	}
	return whole, split, compact
}

// manyPods differ in size by less than the allocator's classes do, so that some of
// them have their ends apart.
func manyPods() []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range 60 {
		p := pod(fmt.Sprint("web-", i), fmt.Sprint(i))
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "u", Controller: new(true)}}
		p.Annotations = map[string]string{"padding": strings.Repeat("x", 2000+i*32)}
		p.Status.Message = strings.Repeat("y", i)
		pods = append(pods, p)
	}
	return pods
}

func TestObjectsAreDecodedInEachFormInWhichTheyAreKept(t *testing.T) {
	pods := manyPods()
	whole, split, compact := keptPods(t, pods...)
	seen := map[string]int{}
	for form, objects := range map[string][]*wire.Object{"whole": whole, "split": split, "compact": compact} {
		for i, o := range objects {
			switch n := len(o.Prefix()); {
			case n == 0:
				seen["compact"]++
			case n < o.Size():
				seen["split"]++
			default:
				seen["whole"]++
			}
			got, err := As[corev1.Pod](o)
			if err != nil {
				t.Fatal(err)
			}
			want := pods[i].DeepCopy()
			want.TypeMeta = wantPod().TypeMeta
			for range 3 { // buffers are used again
				if _, err := As[corev1.Pod](objects[(i+1)%len(objects)]); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Fatalf("%s, pod %d (-got +want):\n%s", form, i, diff)
			}
		}
	}
	if seen["whole"] == 0 || seen["split"] == 0 || seen["compact"] == 0 {
		t.Errorf("forms that were decoded: %v; want all three", seen)
	}
}

// splitPod returns an object whose end is kept with the Object, and the same one
// compacted.
func splitPod(t testing.TB) (split, compact *wire.Object) {
	t.Helper()
	_, splits, compacts := keptPods(t, manyPods()...)
	for i, o := range splits {
		if n := len(o.Prefix()); n > 0 && n < o.Size() {
			return o, compacts[i]
		}
	}
	t.Fatal("no object has its end apart")
	return nil, nil
}

func TestAResultDoesNotKeepTheObjectAlive(t *testing.T) {
	split, compact := splitPod(t)
	watched := []weak.Pointer[wire.Object]{weak.Make(split), weak.Make(compact)}
	var held []*corev1.Pod
	for _, o := range []*wire.Object{split, compact} {
		p, err := As[corev1.Pod](o)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, p)
	}
	split, compact = nil, nil
	collected(t, "the objects", func() bool { return watched[0].Value() == nil && watched[1].Value() == nil })
	if diff := cmp.Diff(held[0], held[1]); diff != "" {
		t.Errorf("split against compact, with the objects gone (-split +compact):\n%s", diff)
	}
}

func TestWhatIsUnusualIsLeftToTheGeneratedCode(t *testing.T) {
	usual := object(t, wire.Protobuf, pod("a", "7")).AppendBytes(nil)
	group := append(usual, 0xc3, 0x3e, 0xc4, 0x3e) // field 1000, an empty group
	got, err := As[corev1.Pod](keep(t, wire.Protobuf, group))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, wantPod()); diff != "" {
		t.Errorf("As (-got +want):\n%s", diff)
	}
}

// labelled is a type of a user's own that reads protobuf.
type labelled struct{ pod corev1.Pod }

func (l *labelled) Unmarshal(raw []byte) error {
	err := l.pod.Unmarshal(raw)
	clear(raw) // it is the decoder's
	return err
}

func TestTypesOfOnesOwnGetACopyOfTheBytes(t *testing.T) {
	kept := object(t, wire.Protobuf, pod("a", "7"))
	for range 2 {
		got, err := As[labelled](kept)
		if err != nil || got.pod.Name != "a" {
			t.Errorf("As = %v, %v; want the pod a", got, err)
		}
	}
}
