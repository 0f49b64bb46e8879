package printer

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
)

var rewrite = flag.Bool("rewrite", false, "write what is printed now to testdata instead of comparing")

var (
	pod        = Kind{"", "v1", "Pod"}
	deployment = Kind{"apps", "v1", "Deployment"}
	secret     = Kind{"", "v1", "Secret"}
	widget     = Kind{"example.com", "v1beta1", "Widget"}
	note       = Kind{"", "v1", "Event"}
)

// story is told anew for each test: a Printer may change the objects.
func story(t *testing.T) []Event {
	t.Helper()
	second := 0
	event := func(typ watch.EventType, cause watch.Cause, kind Kind, name, rv, old, new string) Event {
		second++
		namespace, name, namespaced := strings.Cut(name, "/")
		k := key.Key{Namespace: namespace, Name: name}
		if !namespaced {
			k = key.Key{Name: namespace}
		}
		return Event{
			Time: time.Date(2026, 3, 1, 10, 12, second, 5000, time.UTC), Type: typ, Cause: cause,
			Kind: kind, Key: k, ResourceVersion: rv, Old: decode(t, old), Object: decode(t, new),
		}
	}
	pending := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"tmp","namespace":"default","resourceVersion":"11"},"status":{"phase":"Pending"}}`
	running := `{"metadata":{"name":"tmp","namespace":"default","resourceVersion":"12","labels":{"a/b":"<c>"}},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	events := []Event{
		event(watch.EventAdded, watch.CauseInitial, pod, "default/tmp", "10", "", `{"metadata":{"name":"tmp","namespace":"default"},"status":{}}`),
		event(watch.EventModified, watch.CauseWatch, pod, "default/tmp", "11", `{"metadata":{"name":"tmp","namespace":"default"},"status":{}}`, pending),
		event(watch.EventModified, watch.CauseWatch, pod, "default/tmp", "12", pending, running),
		event(watch.EventModified, watch.CauseRelist, deployment, "default/web", "20",
			`{"spec":{"replicas":1},"status":{"readyReplicas":1}}`, `{"spec":{"replicas":3},"status":{"readyReplicas":1}}`),
		event(watch.EventModified, watch.CauseWatch, secret, "default/s", "30",
			`{"data":{"password":"aHVudGVyMg==","user":"cm9vdA=="}}`, `{"data":{"password":"c2VjcmV0","user":"cm9vdA=="}}`),
		event(watch.EventModified, watch.CauseWatch, widget, "cluster-wide", "40",
			`{"status":{"phase":"\u001b[2Jevil\n"}}`, `{"status":{"phase":"\u001b[2Jevil\n","long":"`+strings.Repeat("长", 80)+`"}}`),
		event(watch.EventModified, watch.CauseWatch, pod, "default/odd", "50", "", ""),
		event(watch.EventType("RENAMED"), watch.CauseWatch, pod, "default/odd", "51", "", `{}`),
		event(watch.EventDeleted, watch.CauseWatch, pod, "default/tmp", "13", "", running),
		event(watch.EventAdded, watch.CauseWatch, pod, "default/new", "60", "", pending),
		event(watch.EventAdded, watch.CauseInitial, pod, "default/dying", "61", "", running),
		event(watch.EventModified, watch.CauseWatch, pod, "default/dying", "62", pending, running),
		event(watch.EventDeleted, watch.CauseWatch, pod, "default/dying", "63", "", running),
		event(watch.EventAdded, watch.CauseInitial, deployment, "default/old", "64", "", `{"spec":{"replicas":3},"status":{"readyReplicas":2}}`),
		event(watch.EventAdded, watch.CauseWatch, deployment, "default/new", "65", "", `{"spec":{"replicas":3}}`),
		event(watch.EventAdded, watch.CauseRelist, note, "default/tmp.1", "66", "", `{"reason":"Pulled","message":"Container image \"nginx\" already present"}`),
	}
	for i := 10; i < 13; i++ {
		events[i].Deleting = true
	}
	events[2].Merged = 3
	events[6].Err = errors.New("spec.containers: got a number, want a list")
	return events
}

func decode(t *testing.T, document string) map[string]any {
	t.Helper()
	if document == "" {
		return nil
	}
	var out map[string]any
	if err := utiljson.Unmarshal([]byte(document), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func printAll(t *testing.T, options Options, events []Event) string {
	t.Helper()
	p := New(options)
	var out []byte
	for _, event := range events {
		var err error
		if out, err = p.Append(out, event); err != nil {
			t.Fatal(err)
		}
	}
	return string(out)
}

func TestEventsArePrintedAsRecorded(t *testing.T) {
	several := []Kind{pod, deployment, secret, widget, note}
	for name, options := range map[string]Options{
		"text":            {},
		"text-kinds":      {ShowKind: true, Kinds: several},
		"text-color":      {Color: true},
		"text-diff":       {Diff: true, ShowKind: true, Kinds: several},
		"text-explain-en": {Explain: true},
		"text-explain-zh": {Explain: true, Lang: text.Chinese},
		"json":            {Format: JSON},
		"json-diff-zh":    {Format: JSON, Diff: true, Explain: true, Lang: text.Chinese},
		"yaml":            {Format: YAML},
		"yaml-diff-en":    {Format: YAML, Diff: true, Explain: true},
		"name":            {Format: Name, Lang: text.Chinese},
	} {
		t.Run(name, func(t *testing.T) {
			got := printAll(t, options, story(t))
			file := filepath.Join("testdata", name+".golden")
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestTextLinesAreThoseOfTheChapter(t *testing.T) {
	events := story(t)
	got := printAll(t, Options{}, []Event{events[0], events[1], events[2], events[8]})
	want := `[10:12:01] Added    default/tmp
[10:12:02] Modified default/tmp phase=Pending
[10:12:03] Modified default/tmp phase=Running
[10:12:09] Deleted  default/tmp
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestEachJSONDocumentIsOneLineWithTheSchemaFirst(t *testing.T) {
	events := story(t)
	lines := strings.Split(strings.TrimSuffix(printAll(t, Options{Format: JSON, Diff: true}, events), "\n"), "\n")
	if len(lines) != len(events) {
		t.Fatalf("got %d lines; want %d", len(lines), len(events))
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, `{"schema":"hark.event/v1",`) || !json.Valid([]byte(line)) {
			t.Errorf("bad line %s", line)
		}
	}
}

func TestNoFormatShowsASecret(t *testing.T) {
	for _, format := range Formats() {
		out := printAll(t, Options{Format: format, Diff: true}, story(t))
		for _, hidden := range []string{"aHVudGVyMg", "c2VjcmV0", "cm9vdA"} {
			if strings.Contains(out, hidden) {
				t.Errorf("%s shows %s", format, hidden)
			}
		}
	}
}

// What a Printer says that it does not need may be missing without any
// difference in what it prints.
func TestNeedsNamesAllThatIsRead(t *testing.T) {
	for _, format := range Formats() {
		for _, diff := range []bool{false, true} {
			options := Options{Format: format, Diff: diff}
			p := New(options)
			lean := story(t)
			for i := range lean {
				object, old := p.Needs(lean[i])
				if !object {
					lean[i].Object = nil
				}
				if !old {
					lean[i].Old = nil
				}
			}
			if d := cmp.Diff(printAll(t, options, story(t)), printAll(t, options, lean)); d != "" {
				t.Errorf("%s, diff %v: (-all +needed):\n%s", format, diff, d)
			}
		}
	}
}

func TestKindsOfOneNameAreToldApart(t *testing.T) {
	core, grouped := Kind{"", "v1", "Event"}, Kind{"events.k8s.io", "v1", "Event"}
	at := time.Date(2026, 3, 1, 1, 2, 3, 0, time.UTC)
	got := printAll(t, Options{ShowKind: true, Kinds: []Kind{core, grouped}}, []Event{
		{Time: at, Type: watch.EventAdded, Kind: core, Key: key.Key{Namespace: "a", Name: "b"}},
		{Time: at, Type: watch.EventAdded, Kind: grouped, Key: key.Key{Namespace: "a", Name: "b"}},
	})
	want := "[01:02:03] Added    Event               a/b\n[01:02:03] Added    Event.events.k8s.io a/b\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestParseFormatKnowsItsFormatsAlone(t *testing.T) {
	for _, format := range Formats() {
		if got, err := ParseFormat(string(format)); got != format || err != nil {
			t.Errorf("ParseFormat(%q) = %q, %v", format, got, err)
		}
	}
	if _, err := ParseFormat("wide"); err == nil || !strings.Contains(err.Error(), `"wide", allowed formats are: text,json,yaml,name`) {
		t.Errorf("ParseFormat(wide): %v", err)
	}
}
