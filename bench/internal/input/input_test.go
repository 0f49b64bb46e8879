package input

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/key"
)

func lines(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../testdata/pods.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// must returns a set that cannot fail to be made.
func must(t testing.TB, make func([]byte) (*Set, error)) *Set {
	t.Helper()
	s, err := make(lines(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sets(t testing.TB) map[string]*Set {
	return map[string]*Set{"pods": must(t, Pods), "lone": must(t, LonePods), "configmaps": ConfigMaps(), "widgets": Widgets()}
}

// numbers of objects that are first, in the middle and last of their groups.
var numbers = []int{0, 1, 49, 50, 61, 7919, 123_456, 999_999}

// TestWhatIsPatchedIsWhatIsEncoded compares the fast way with the generated encoders.
func TestWhatIsPatchedIsWhatIsEncoded(t *testing.T) {
	for name, set := range sets(t) {
		f := Feed{Set: set, Objects: 1_000_000, Changes: 100_000}
		for _, protobuf := range []bool{false, true} {
			if protobuf && !set.Protobuf {
				continue
			}
			for _, n := range numbers {
				first := state{n: n, version: firstVersion + n}
				equal(t, name, set, first, protobuf, f.AppendObject(nil, n, protobuf))
				if n < f.Changes {
					equal(t, name, set, f.changed(n), protobuf, f.AppendChange(nil, n, protobuf))
				}
			}
		}
	}
}

func equal(t *testing.T, name string, set *Set, s state, protobuf bool, got []byte) {
	t.Helper()
	want, err := set.encode(s, protobuf)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s %+v, protobuf %v:\ngot  %q\nwant %q", name, s, protobuf, got, want)
	}
}

func TestPodsDecodeAsTheAPIsTypeInBothEncodings(t *testing.T) {
	for _, set := range []*Set{must(t, Pods), must(t, LonePods)} {
		f := Feed{Set: set, Objects: 200, Changes: 10}
		for n := range f.Objects {
			var a, b corev1.Pod
			if err := a.Unmarshal(f.AppendObject(nil, n, true)); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(f.AppendObject(nil, n, false), &b); err != nil {
				t.Fatal(err)
			}
			a.TypeMeta = b.TypeMeta // protobuf has it in the envelope
			if d := cmp.Diff(&b, &a); d != "" {
				t.Fatalf("pod %d differs between encodings (-json +protobuf):\n%s", n, d)
			}
			if got := (key.Key{Namespace: a.Namespace, Name: a.Name}); got != set.Key(n) {
				t.Errorf("pod %d is %s; want %s", n, got, set.Key(n))
			}
			if want := strconv.Itoa(firstVersion + n); a.ResourceVersion != want {
				t.Errorf("pod %d has version %s; want %s", n, a.ResourceVersion, want)
			}
		}
	}
}

// TestThePodsAreThoseOfTheSample: the prototype made again is the sample's pod, but
// for the values that are random.
func TestThePodsAreThoseOfTheSample(t *testing.T) {
	samples := bytes.Split(bytes.TrimSpace(lines(t)), []byte("\n"))
	f := Feed{Set: must(t, Pods), Objects: 100}
	for i, n := range []int{7, 8, 61} {
		want, got := decoded(t, samples[i]), decoded(t, f.AppendObject(nil, n, false))
		if d := cmp.Diff(shape(want), shape(got)); d != "" {
			t.Errorf("pod %d is not like the sample's (-sample +made):\n%s", n, d)
		}
	}
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// shape replaces texts by what kind of value they are.
func shape(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range tree {
			if len(name) > 5 && name[:5] == `k:{"i` || len(name) > 5 && (name[:5] == `k:{"u` || name[:5] == `k:{"n`) {
				name = name[:5]
			}
			out[name] = shape(value)
		}
		return out
	case []any:
		for i := range tree {
			tree[i] = shape(tree[i])
		}
		return tree
	case string:
		return "text"
	}
	return tree
}

func TestWhatRealPodsHaveAloneNoTwoPodsShare(t *testing.T) {
	f := Feed{Set: must(t, Pods), Objects: 20_000}
	seen := map[string]int{}
	for n := range f.Objects {
		var p corev1.Pod
		if err := p.Unmarshal(f.AppendObject(nil, n, true)); err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{
			p.Namespace + "/" + p.Name, string(p.UID), p.ResourceVersion, p.Status.PodIP,
			p.Status.ContainerStatuses[0].ContainerID, p.Status.ContainerStatuses[1].ContainerID,
			p.CreationTimestamp.String(),
		} {
			if other, twice := seen[value]; twice {
				t.Fatalf("pods %d and %d share %q", other, n, value)
			}
			seen[value] = n
		}
	}
	if got, want := len(seen), 7*f.Objects; got != want {
		t.Errorf("%d values; want %d", got, want)
	}
}

func TestFiftyPodsAreOfOneReplicaSet(t *testing.T) {
	f := Feed{Set: must(t, Pods), Objects: 1000}
	owners := map[string]int{}
	for n := range f.Objects {
		var p corev1.Pod
		if err := p.Unmarshal(f.AppendObject(nil, n, true)); err != nil {
			t.Fatal(err)
		}
		owners[p.Namespace+"/"+string(p.OwnerReferences[0].UID)]++
	}
	if len(owners) != 20 {
		t.Errorf("%d ReplicaSets; want 20", len(owners))
	}
	for owner, pods := range owners {
		if pods != 50 {
			t.Errorf("%s has %d pods; want 50", owner, pods)
		}
	}
}

func TestLonePodsHaveHardlyATextInCommon(t *testing.T) {
	f := Feed{Set: must(t, LonePods), Objects: 2}
	texts := map[string]bool{}
	total, shared := 0, 0
	for n := range f.Objects {
		each(decoded(t, f.AppendObject(nil, n, false)), func(text string) {
			if total += len(text) * n; n == 0 {
				texts[text] = true
			} else if texts[text] {
				shared += len(text)
			}
		})
	}
	if shared*5 > total {
		t.Errorf("%d of %d bytes of text are shared; want less than a fifth, the words of the API", shared, total)
	}
}

// each calls f for each text of a tree that is no field name, but for managedFields.
func each(tree any, f func(string)) {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if name != "managedFields" {
				each(value, f)
			}
		}
	case []any:
		for _, value := range tree {
			each(value, f)
		}
	case string:
		f(tree)
	}
}

func TestWidgetsAreOfEightKilobytesAndDecode(t *testing.T) {
	f := Feed{Set: Widgets(), Objects: 100}
	for n := range f.Objects {
		raw := f.AppendObject(nil, n, false)
		if len(raw) < 7800 || len(raw) > 8500 {
			t.Errorf("widget %d has %d bytes; want about 8 KB", n, len(raw))
		}
		obj, err := runtime.Decode(unstructured.UnstructuredJSONScheme, raw)
		if err != nil {
			t.Fatal(err)
		}
		m := obj.(metav1.Object)
		if got := (key.Key{Namespace: m.GetNamespace(), Name: m.GetName()}); got != f.Key(n) {
			t.Errorf("widget %d is %s; want %s", n, got, f.Key(n))
		}
	}
}

func TestChangesGoRoundAndTheLastOfEachPartIsOfTheLastObject(t *testing.T) {
	for _, objects := range []int{1, 2, 20, stride + 1, 2*stride + 1} {
		f := Feed{Set: Widgets(), Objects: objects, Changes: 3 * objects, Warm: objects}
		touched := map[int]int{}
		for n := range f.Changes {
			touched[f.target(n)]++
		}
		if got := f.target(f.Changes - 1); got != objects-1 {
			t.Errorf("%d objects: the last change is of object %d; want the last one", objects, got)
		}
		if got := f.target(f.Warm - 1); got != objects-1 {
			t.Errorf("%d objects: the last change of the warming up is of object %d; want the last one", objects, got)
		}
		if objects > 1 && touched[objects-1] != 2 {
			t.Errorf("%d objects: the last one changes %d times; want twice", objects, touched[objects-1])
		}
		if len(touched) != objects {
			t.Errorf("%d objects: %d of them change; want all", objects, len(touched))
		}
	}
}

func BenchmarkAppendObject(b *testing.B) {
	for name, set := range sets(b) {
		f := Feed{Set: set, Objects: 1000}
		f.Prepare()
		b.Run(name, func(b *testing.B) {
			var space []byte
			for n := 0; b.Loop(); n++ {
				space = f.AppendObject(space[:0], n%f.Objects, set.Protobuf)
			}
			b.SetBytes(int64(len(space)))
		})
	}
}
