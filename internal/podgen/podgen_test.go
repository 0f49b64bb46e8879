package podgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPodsDifferWhereTheSamplesDo: the samples are two siblings and a stranger.
func TestPodsDifferWhereTheSamplesDo(t *testing.T) {
	var want []any
	lines := json.NewDecoder(bytes.NewReader(samples))
	for range 3 {
		var pod any
		if err := lines.Decode(&pod); err != nil {
			t.Fatal(err)
		}
		want = append(want, pod)
	}
	got := []any{tree(t, 0), tree(t, 1), tree(t, 50)}
	for _, other := range []int{1, 2} {
		if diff := cmp.Diff(paths(want[0], want[other]), paths(got[0], got[other])); diff != "" {
			t.Errorf("pods that differ (-samples +made)\n%s", diff)
		}
	}
}

func TestTheSameNumberMakesTheSamePod(t *testing.T) {
	if diff := cmp.Diff(Pod(7, Options{Generation: 2}), Pod(7, Options{Generation: 2})); diff != "" {
		t.Error(diff)
	}
	a, b := Pod(7, Options{Generation: 2}), Pod(7, Options{Generation: 3})
	if a.Name != b.Name || a.UID != b.UID || a.ResourceVersion == b.ResourceVersion {
		t.Errorf("generations %s/%s@%s and %s/%s@%s", a.Name, a.UID, a.ResourceVersion, b.Name, b.UID, b.ResourceVersion)
	}
}

func TestNamesOfSiblingsDiffer(t *testing.T) {
	names := map[string]bool{}
	for i := range 5000 {
		names[Pod(i, Options{Siblings: 5000}).Name] = true
	}
	if len(names) != 5000 {
		t.Errorf("5000 pods have %d names", len(names))
	}
}

func tree(t *testing.T, i int) any {
	raw, err := json.Marshal(Pod(i, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// paths are those at which two trees differ, without managedFields.
func paths(a, b any) []string {
	found := map[string]bool{}
	var walk func(path string, a, b any)
	walk = func(path string, a, b any) {
		x, isMap := a.(map[string]any)
		p, isList := a.([]any)
		switch {
		case isMap:
			y := b.(map[string]any)
			for key := range x {
				if key != "managedFields" {
					walk(path+"/"+key, x[key], y[key])
				}
			}
		case isList:
			q := b.([]any)
			for i := range p {
				walk(fmt.Sprintf("%s/%d", path, i), p[i], q[i])
			}
		case a != b:
			found[path] = true
		}
	}
	walk("", a, b)
	return slices.Sorted(maps.Keys(found))
}
