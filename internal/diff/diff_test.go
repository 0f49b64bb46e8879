package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func decode(t *testing.T, document string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := utiljson.Unmarshal([]byte(document), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func anything(t *testing.T, document []byte) (out any) {
	t.Helper()
	if err := json.Unmarshal(document, &out); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	return out
}

func TestCompareSaysWhatChanged(t *testing.T) {
	for _, tc := range []struct {
		name, old, new, want string
	}{
		{"nothing", `{"a":1,"b":{"c":[1,{"name":"x"}]}}`, `{"b":{"c":[1,{"name":"x"}]},"a":1}`, `[]`},
		{"a value", `{"spec":{"replicas":1}}`, `{"spec":{"replicas":3}}`,
			`[{"path":"spec.replicas","old":1,"new":3}]`},
		{"a field that comes is no null", `{"a":null}`, `{"a":null,"b":null}`, `[{"path":"b","new":null}]`},
		{"a field that becomes null", `{"a":1}`, `{"a":null}`, `[{"path":"a","old":1,"new":null}]`},
		{"a subtree that goes is one change", `{"spec":{"a":{"b":{"c":1}}}}`, `{"spec":{}}`,
			`[{"path":"spec.a","old":{"b":{"c":1}}}]`},
		{"another type", `{"a":{"b":1}}`, `{"a":[1]}`, `[{"path":"a","old":{"b":1},"new":[1]}]`},
		{"resourceVersion and managedFields are not said",
			`{"metadata":{"resourceVersion":"1","managedFields":[{"manager":"a"}],"generation":1}}`,
			`{"metadata":{"resourceVersion":"2","managedFields":[],"generation":2}}`,
			`[{"path":"metadata.generation","old":1,"new":2}]`},
		{"resourceVersion elsewhere is said", `{"spec":{"resourceVersion":"1"}}`, `{"spec":{"resourceVersion":"2"}}`,
			`[{"path":"spec.resourceVersion","old":"1","new":"2"}]`},
		{"odd names are quoted", `{"metadata":{"labels":{"app.kubernetes.io/name":"a","":1}}}`,
			`{"metadata":{"labels":{"app.kubernetes.io/name":"b","":2}}}`,
			`[{"path":"metadata.labels[\"\"]","old":1,"new":2},
			  {"path":"metadata.labels[\"app.kubernetes.io/name\"]","old":"a","new":"b"}]`},
		{"elements are matched by name", `{"c":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}`,
			`{"c":[{"name":"new"},{"name":"a","image":"1"},{"name":"b","image":"2"}]}`,
			`[{"path":"c[name=b].image","old":"1","new":"2"},{"path":"c[name=new]","new":{"name":"new"}}]`},
		{"conditions are matched by type", `{"c":[{"type":"Ready","status":"False"}]}`,
			`{"c":[{"type":"Scheduled"},{"type":"Ready","status":"True"}]}`,
			`[{"path":"c[type=Ready].status","old":"False","new":"True"},{"path":"c[type=Scheduled]","new":{"type":"Scheduled"}}]`},
		{"a list that comes to be", `{"c":[]}`, `{"c":[{"name":"a"}]}`, `[{"path":"c[name=a]","new":{"name":"a"}}]`},
		{"a name that comes twice does not identify; a port may",
			`{"p":[{"name":"x","port":1},{"name":"x","port":2}]}`, `{"p":[{"name":"x","port":2},{"name":"y","port":1}]}`,
			`[{"path":"p[port=1].name","old":"x","new":"y"},{"path":"p[*].port","old":[1,2],"new":[2,1]}]`},
		{"without an identifying field places count", `{"m":[{"v":1},{"v":2}]}`, `{"m":[{"v":1},{"v":3},{"v":4}]}`,
			`[{"path":"m[1].v","old":2,"new":3},{"path":"m[2]","new":{"v":4}}]`},
		{"another order is said", `{"i":[{"name":"a"},{"name":"b"}]}`, `{"i":[{"name":"b"},{"name":"a"}]}`,
			`[{"path":"i[*].name","old":["a","b"],"new":["b","a"]}]`},
		{"plain lists are one value", `{"args":["-v","1"]}`, `{"args":["-v","2"]}`,
			`[{"path":"args","old":["-v","1"],"new":["-v","2"]}]`},
		{"a selector's value is quoted where it must be", `{"v":[{"mountPath":"/a","x":1}]}`, `{"v":[{"mountPath":"/a","x":2}]}`,
			`[{"path":"v[mountPath=\"/a\"].x","old":1,"new":2}]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := json.Marshal(append([]Change{}, Compare(decode(t, tc.old), decode(t, tc.new))...))
			if err != nil {
				t.Fatal(err)
			}
			gotTree, wantTree := anything(t, got), anything(t, []byte(tc.want))
			if d := cmp.Diff(wantTree, gotTree); d != "" {
				t.Errorf("Compare (-want +got):\n%s", d)
			}
		})
	}
}

func TestChangesAreWrittenWithoutEscapingHTML(t *testing.T) {
	got, err := json.Marshal([]Change{{Path: "a", Op: Added, New: "x"}})
	if err != nil || string(got) != `[{"path":"a","new":"x"}]` {
		t.Errorf("Marshal = %s, %v", got, err)
	}
	if got, err := (Change{Path: "a", Old: "<&>", New: nil}).MarshalJSON(); err != nil || string(got) != `{"path":"a","old":"<&>","new":null}` {
		t.Errorf("MarshalJSON = %s, %v", got, err)
	}
}

// leaves flattens a tree in the simplest way: a leaf is what has nothing below.
func leaves(path string, v any, out map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			leaves(field(path, name), value, out)
		}
	case []any:
		if !ofObjects(v) || len(v) == 0 {
			out[path] = v
			return
		}
		for _, element := range v {
			leaves(path+selector("name", element.(map[string]any)["name"]), element, out)
		}
	default:
		out[path] = v
	}
}

// randomTree makes objects, lists of named objects and plain values.
func randomTree(r *rand.Rand, depth int) any {
	switch kind := r.IntN(6); {
	case depth > 0 && kind < 3:
		return randomObject(r, depth)
	case depth > 0 && kind == 3:
		list := []any{}
		for i := range 4 { // in a fixed order: order is not the model's subject
			if r.IntN(2) == 0 {
				element := randomObject(r, depth-1)
				element["name"] = fmt.Sprint("n", i)
				list = append(list, element)
			}
		}
		return list
	case kind == 4:
		return []any{int64(r.IntN(2)), "x"}
	}
	return int64(r.IntN(3))
}

func randomObject(r *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for i := range 4 {
		if r.IntN(3) > 0 {
			out[fmt.Sprint("f", i)] = randomTree(r, depth-1)
		}
	}
	return out
}

// The model: a leaf is old, new or changed. Compare may tell of whole subtrees;
// flattened, it must tell of exactly the leaves that differ.
func TestCompareAgreesWithASetOfLeaves(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 5000 {
		old, new := randomObject(r, 3), randomObject(r, 3)
		gotOld, gotNew := map[string]any{}, map[string]any{}
		for _, c := range Compare(old, new) {
			if c.Op != Added {
				leaves(c.Path, c.Old, gotOld)
			}
			if c.Op != Removed {
				leaves(c.Path, c.New, gotNew)
			}
		}
		wantOld, wantNew := map[string]any{}, map[string]any{}
		leaves("", old, wantOld)
		leaves("", new, wantNew)
		for path, value := range maps.Clone(wantOld) {
			if after, kept := wantNew[path]; kept && reflect.DeepEqual(value, after) {
				delete(wantOld, path)
				delete(wantNew, path)
			}
		}
		// An empty object or list has no leaf of its own to be told of, and a
		// list that ran empty is a leaf of the model alone.
		for _, m := range []map[string]any{gotOld, gotNew, wantOld, wantNew} {
			maps.DeleteFunc(m, func(_ string, v any) bool { list, ok := v.([]any); return ok && len(list) == 0 })
		}
		if d := cmp.Diff(wantOld, gotOld) + cmp.Diff(wantNew, gotNew); d != "" {
			t.Fatalf("old %v\nnew %v\n(-want +got):\n%s", old, new, d)
		}
	}
}
