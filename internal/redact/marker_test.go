package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decoded is a JSON object.
func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMarksTellThatAFieldChangedAndNothingElse(t *testing.T) {
	m := NewMarker()
	mark := func(uid, data string) map[string]any {
		secret := decoded(t, `{"metadata":{"uid":"`+uid+`"},"data":`+data+`}`)
		m.Secret(secret)
		values, _ := secret["data"].(map[string]any)
		return values
	}
	first, second := mark("u", `{"a":"c2VjcmV0LW9uZQ==","b":"c2VjcmV0LW9uZQ==","none":null}`), mark("u", `{"a":"c2VjcmV0LXR3bw==","b":"c2VjcmV0LW9uZQ=="}`)
	switch {
	case first["a"] == second["a"]:
		t.Error("a change is not seen")
	case first["b"] != second["b"]:
		t.Error("what stays looks changed")
	case first["a"] == first["b"], mark("v", `{"b":"c2VjcmV0LW9uZQ=="}`)["b"] == first["b"]:
		t.Error("equal values of two fields or objects look equal")
	case first["none"] != nil:
		t.Errorf("null became %v", first["none"])
	}
	if _, err := base64.StdEncoding.DecodeString(first["a"].(string)); err != nil || !isMask(first["a"].(string)) {
		t.Errorf("mark %q: %v", first["a"], err)
	}
	other := NewMarker()
	secret := decoded(t, `{"metadata":{"uid":"u"},"data":{"a":"c2VjcmV0LW9uZQ=="}}`)
	other.Secret(secret)
	if secret["data"].(map[string]any)["a"] == first["a"] {
		t.Error("two markers have one key")
	}
}

// A printer that redacts what a recording holds sees the same changes as one that
// redacts the values themselves.
func TestMarkedSecretsPrintAsTheValuesWould(t *testing.T) {
	m := NewMarker()
	versions := []string{
		`{"metadata":{"uid":"u","annotations":{"last-applied":"{}","x":"y"}},"data":{"a":"b25lMTIz","b":"c2FtZTEy"}}`,
		`{"metadata":{"uid":"u","annotations":{"last-applied":"{1}","x":"y"}},"data":{"a":"dHdvMTIz","b":"c2FtZTEy"}}`,
		`{"metadata":{"uid":"u","annotations":{"last-applied":"{1}","x":"y"}},"data":{"a":"dHdvMTIz","b":"c2FtZTEy","c":"bmV3MTIz"}}`,
	}
	for i := range versions[1:] {
		old, now := decoded(t, versions[i]), decoded(t, versions[i+1])
		markedOld, markedNow := decoded(t, versions[i]), decoded(t, versions[i+1])
		m.Secret(markedOld)
		m.Secret(markedNow)
		Pair(old, now)
		Pair(markedOld, markedNow)
		if d := cmp.Diff([]any{old, now}, []any{markedOld, markedNow}); d != "" {
			t.Errorf("version %d (-values +marks):\n%s", i+1, d)
		}
	}
}

func TestPathsNameFieldsBelowMapsAndLists(t *testing.T) {
	const object = `{"kind":"X","metadata":{"name":"n","uid":"u","annotations":{"a.b/c":"token-one","copy":"has password1 in it","last-applied":"z","other":"o"}},
		"spec":{"list":[{"v":"password1","n":5,"keep":"k"},{"v":"password2"}],"map":{"p":"x1","q":["x2",true]}}}`
	for path, want := range map[string]string{
		`spec.list.v`:                   "v,copy,last-applied",
		`.spec.list[*]["v"]`:            "v,copy,last-applied",
		`spec.map`:                      "p,q,last-applied",
		`spec.map.*`:                    "p,q,last-applied",
		`spec['map'].p`:                 "p,last-applied",
		`metadata.annotations["a.b/c"]`: "a.b/c,last-applied",
		`spec.nothing`:                  "",
		`spec.list.v.deeper`:            "",
	} {
		parsed, err := ParsePath(path)
		if err != nil || parsed.String() != path {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got := decoded(t, object)
		found := NewMarker().Paths(got, []Path{parsed})
		if found != (want != "") {
			t.Errorf("%s: found %v", path, found)
		}
		text, _ := json.Marshal(got)
		for name, value := range map[string]string{
			"v": "password1", "p": `"x1"`, "q": `"x2"`, "a.b/c": "token-one", "copy": "has password1", "last-applied": `"z"`, "other": `"o"`, "keep": `"k"`,
		} {
			hidden := !strings.Contains(string(text), value)
			if hidden != strings.Contains(","+want+",", ","+name+",") && !(name == "v" && !hidden && strings.Contains(want, "v")) {
				t.Errorf("%s: %s is hidden %v in %s", path, name, hidden, text)
			}
		}
	}
	numbers := decoded(t, object)
	parsed, _ := ParsePath("spec.list.n")
	if !NewMarker().Paths(numbers, []Path{parsed}) || numbers["spec"].(map[string]any)["list"].([]any)[0].(map[string]any)["n"] != nil {
		t.Errorf("a number became %v", numbers)
	}
}

// An object whose fields were hidden is still one of its kind.
func TestTimesBecomeNull(t *testing.T) {
	pod := decoded(t, `{"metadata":{"uid":"u","annotations":{"a":"at 2026-03-01T10:00:00Z"}},"status":{"startTime":"2026-03-01T10:00:00Z","observed":"2026-03-01T10:00:00.123456Z","phase":"Running"}}`)
	parsed, _ := ParsePath("status")
	NewMarker().Paths(pod, []Path{parsed})
	status := pod["status"].(map[string]any)
	if status["startTime"] != nil || status["observed"] != nil || !isMask(status["phase"].(string)) {
		t.Errorf("the status became %v", status)
	}
	if note := pod["metadata"].(map[string]any)["annotations"].(map[string]any)["a"]; !isMask(note.(string)) {
		t.Errorf("a copy of a time is left: %v", note)
	}
}

func TestPathsThatCannotBeAreRefused(t *testing.T) {
	for _, path := range []string{
		"", ".", "*", "[*]", "a..b", "a.", "a[", "a[0]", `a["b`, `a["b"]c`, "kind", "apiVersion", "metadata", "metadata.*",
		"metadata.name", "metadata.uid", `metadata["namespace"]`, "metadata.resourceVersion", "metadata.ownerReferences.uid",
	} {
		if got, err := ParsePath(path); err == nil {
			t.Errorf("%q is %v", path, got)
		}
	}
}

// FuzzParsePath: any text is a path or an error, and a path leaves what identifies an
// object alone.
func FuzzParsePath(f *testing.F) {
	for _, path := range []string{"spec.a", `metadata.annotations["x"]`, "a[*].b", ".data.*", "[", `["`} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParsePath(text)
		if err != nil {
			return
		}
		object := map[string]any{"kind": "K", "metadata": map[string]any{"name": "n", "namespace": "s", "uid": "u", "labels": map[string]any{"a": "b"}}, "spec": map[string]any{"a": []any{"x"}}}
		NewMarker().Paths(object, []Path{path})
		metadata := object["metadata"].(map[string]any)
		if object["kind"] != "K" || metadata["name"] != "n" || metadata["namespace"] != "s" || metadata["uid"] != "u" {
			t.Errorf("%q changes who the object is: %v", text, object)
		}
	})
}
