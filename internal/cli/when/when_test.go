package when

import (
	"strings"
	"testing"
)

// pod is an object as unstructured decoding makes it.
func pod(phase string, restarts int64) map[string]any {
	return map[string]any{
		"kind":     "Pod",
		"metadata": map[string]any{"name": "web", "labels": map[string]any{"app": "web", "tier.example.com/x": "1"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "nginx:1.27"}}},
		"status":   map[string]any{"phase": phase, "restarts": restarts, "load": 0.5},
	}
}

func TestExpressionsSeeTheObjectAndTheStateBefore(t *testing.T) {
	for text, want := range map[string]bool{
		`object.status.phase == "Running"`:                              true,
		`object.status.phase != old.status.phase`:                       true,
		`old.status.phase == "Running"`:                                 false,
		`object.status.restarts > old.status.restarts`:                  true,
		`object.status.load < 1`:                                        true,
		`object.spec.containers.all(c, c.image.endsWith(":1.27"))`:      true,
		`object.spec.containers.exists(c, c.image.endsWith(":latest"))`: false,
		`has(object.metadata.annotations)`:                              false,
		`"tier.example.com/x" in object.metadata.labels`:                true,
		`object.metadata.?annotations["a"].orValue("none") == "none"`:   true,
		`object != null && old != null`:                                 true,
		`object.metadata.name.split("e") == ["w", "b"]`:                 true,
		`object`:                 false,
		`object.metadata.labels`: false,
		`object.nothing == 1`:    false,
		`[1,2,3].map(i, [1,2,3].map(j, i*j)).size() == 3 && object.kind == "Pod"`: true,
	} {
		e, err := Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := e.Match(pod("Running", 2), pod("Pending", 1))
		if got != want {
			t.Errorf("%s = %t, %v; want %t", text, got, err, want)
		}
		wantErr := text == `object` || text == `object.metadata.labels` || text == `object.nothing == 1`
		if (err != nil) != wantErr {
			t.Errorf("%s: error %v; want one: %t", text, err, wantErr)
		}
	}
}

func TestWhatDoesNotExistIsNull(t *testing.T) {
	e, err := Compile(`object == null ? old.kind == "Pod" : old == null`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		object, old map[string]any
		want        bool
	}{{nil, pod("x", 1), true}, {pod("x", 1), nil, true}, {pod("x", 1), pod("x", 1), false}} {
		if got, err := e.Match(tc.object, tc.old); got != tc.want || err != nil {
			t.Errorf("%v, %v: %t, %v; want %t", tc.object, tc.old, got, err, tc.want)
		}
	}
}

func TestWrongExpressionsAreRefusedWithThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`object.status.phase = "Running"`: "1:21",
		`new.status.phase == "Running"`:   "undeclared reference to 'new'",
		`"Running"`:                       "want bool",
		``:                                "Syntax error",
		`object.x.`:                       "Syntax error",
	} {
		if _, err := Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}

func TestEndlessWorkIsCutShort(t *testing.T) {
	long := "[0,1,2,3,4,5,6,7,8,9]"
	text := "true"
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		text = long + ".all(" + name + ", " + text + ")"
	}
	e, err := Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Match(pod("x", 1), nil); err == nil || !strings.Contains(err.Error(), "cost limit") {
		t.Errorf("ten million steps: %v; want the cost limit", err)
	}
}

func FuzzCompileAndMatchNeverPanic(f *testing.F) {
	for _, text := range []string{`object.a == 1`, `old == null`, `object.?a.b[0] < 3.0`, `"x".split("")`, `object`, `[`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		if e, err := Compile(text); err == nil {
			_, _ = e.Match(pod("Running", 1), nil)
		}
	})
}
