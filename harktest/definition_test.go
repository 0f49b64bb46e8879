package harktest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gocampus/hark/harktest"
)

const (
	crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	anyType = `"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
)

// definition returns a definition in the group x.example, of version v1 unless versions
// says otherwise.
func definition(plural, kind, versions string) string {
	if versions == "" {
		versions = `[{"name":"v1","served":true,"storage":true,` + anyType + `}]`
	}
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"group":"x.example","names":{"plural":%q,"kind":%q},"scope":"Namespaced","versions":%s}}`,
		plural+".x.example", plural, kind, versions)
}

func thing(version, name, metadata string) string {
	return fmt.Sprintf(`{"apiVersion":"x.example/%s","kind":"Thing","metadata":{"name":%q%s}}`, version, name, metadata)
}

const things = "/apis/x.example/v1/namespaces/default/things"

// mustCode sends a request that must be answered with a code.
func mustCode(t *testing.T, s *harktest.Server, want int, method, path, body string, headers ...string) string {
	t.Helper()
	code, answer := request(t, s, method, path, body, headers...)
	if code != want {
		t.Fatalf("%s %s %s = %d %s; want %d", method, path, body, code, answer, want)
	}
	return answer
}

// conditions returns a definition's conditions as "Type=Status Reason".
func conditions(t *testing.T, s *harktest.Server, name string) []string {
	t.Helper()
	var d struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason string }
		}
	}
	if err := json.Unmarshal([]byte(mustCode(t, s, 200, http.MethodGet, crdPath+"/"+name, "")), &d); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range d.Status.Conditions {
		all = append(all, c.Type+"="+c.Status+" "+c.Reason)
	}
	return all
}

func TestDefinitionStaysUntilItsObjectsAreGone(t *testing.T) {
	s := harktest.Start(t)
	mustCode(t, s, 201, http.MethodPost, crdPath, definition("things", "Thing", ""))
	mustCode(t, s, 201, http.MethodPost, things, thing("v1", "held", `,"finalizers":["x.example/f"]`))
	mustCode(t, s, 201, http.MethodPost, things, thing("v1", "free", ""))
	mustCode(t, s, 200, http.MethodDelete, crdPath+"/things.x.example", "")
	if got := conditions(t, s, "things.x.example"); !slices.Contains(got, "Terminating=True InstanceDeletionInProgress") {
		t.Errorf("conditions = %q; want that it is terminating", got)
	}
	mustCode(t, s, 404, http.MethodGet, things+"/free", "")
	if held := mustCode(t, s, 200, http.MethodGet, things+"/held", ""); !strings.Contains(held, "deletionTimestamp") {
		t.Errorf("the held object = %s; want it marked as being deleted", held)
	}
	mustCode(t, s, 403, http.MethodPost, things, thing("v1", "late", ""))
	mustCode(t, s, 403, http.MethodPatch, things+"/late?fieldManager=m", thing("v1", "late", ""), "Content-Type", "application/apply-patch+yaml")
	mustCode(t, s, 200, http.MethodPatch, things+"/held", `{"metadata":{"finalizers":null}}`, "Content-Type", mergePatch)
	mustCode(t, s, 404, http.MethodGet, crdPath+"/things.x.example", "")
	mustCode(t, s, 404, http.MethodGet, things, "")
}

func TestNoObjectOutlivesItsDefinition(t *testing.T) {
	s := harktest.Start(t)
	for round := range 30 {
		mustCode(t, s, 201, http.MethodPost, crdPath, definition("things", "Thing", ""))
		if list := mustCode(t, s, 200, http.MethodGet, things, ""); strings.Contains(list, `"uid"`) {
			t.Fatalf("round %d: a new definition has objects: %s", round, list)
		}
		var writers sync.WaitGroup
		started := make(chan struct{}, 4)
		for w := range 4 {
			writers.Go(func() {
				for i := 0; ; i++ {
					code, body := request(t, s, http.MethodPost, things, thing("v1", fmt.Sprintf("w%d-%d", w, i), ""))
					if i == 0 {
						started <- struct{}{}
					}
					if code == 404 || code == 403 {
						return
					}
					if code != 201 {
						t.Errorf("POST = %d %s", code, body)
						return
					}
				}
			})
		}
		<-started
		mustCode(t, s, 200, http.MethodDelete, crdPath+"/things.x.example", "")
		writers.Wait()
		mustCode(t, s, 404, http.MethodGet, crdPath+"/things.x.example", "")
	}
}

func TestDefinitionsThatAreWrongAreRefused(t *testing.T) {
	s := harktest.Start(t)
	for _, c := range []struct{ body, want string }{
		{definition("things", "Thing", `[{"name":"","served":true,"storage":true,`+anyType+`}]`), "spec.versions[0].name: Invalid value"},
		{definition("things", "Thing", `[{"name":"v1/x","served":true,"storage":true,`+anyType+`}]`), "spec.versions[0].name: Invalid value"},
		{definition("things", "Thing", `[{"name":"v1","served":true,"storage":true,`+anyType+`},{"name":"v1","served":true,"storage":false,`+anyType+`}]`), "must contain unique version names"},
		{definition("things", "Thing", `[{"name":"v1","served":true,"storage":true}]`), "spec.versions[0].schema.openAPIV3Schema: Required value"},
		{definition("things", "W Thing/..", ""), "spec.names.kind: Invalid value"},
		{definition("Things", "Thing", ""), "spec.names.plural: Invalid value"},
		{`{"metadata":{"name":"a.b"},"spec":{"group":"b","names":{"plural":"a","kind":"A"}}}`, "should be a domain with at least one dot"},
		{`{"metadata":{"name":"a"},"spec":{}}`, "status.storedVersions: Invalid value"},
	} {
		body := mustCode(t, s, 422, http.MethodPost, crdPath, c.body)
		if got := status(t, body).Message; !strings.Contains(got, c.want) {
			t.Errorf("POST %s = %s; want %q", c.body, got, c.want)
		}
	}
	mustCode(t, s, 400, http.MethodPost, crdPath, `{"metadata":{"name":"a"},"spec":5}`)
	mustCode(t, s, 201, http.MethodPost, crdPath, definition("things", "Thing", ""))
	for body, want := range map[string]string{
		`{"spec":5}`:                          "patch: Invalid value",
		`{"spec":null}`:                       "spec.names.plural: Required value",
		`{"spec":{"versions":[]}}`:            "missing from spec.versions",
		`{"spec":{"group":"y.example"}}`:      "spec.group: Invalid value: \"y.example\": field is immutable",
		`{"spec":{"scope":"Cluster"}}`:        "spec.scope: Invalid value",
		`{"spec":{"names":{"kind":"Other"}}}`: "spec.names.kind: Invalid value",
		`{"spec":{"names":{"plural":"o"}}}`:   "spec.names.plural: Invalid value",
	} {
		answer := mustCode(t, s, 422, http.MethodPatch, crdPath+"/things.x.example", body, "Content-Type", mergePatch)
		if got := status(t, answer).Message; !strings.Contains(got, want) {
			t.Errorf("PATCH %s = %s; want %q", body, got, want)
		}
	}
	mustCode(t, s, 200, http.MethodGet, things, "")
}

func TestNameIsAcceptedWhenItIsFree(t *testing.T) {
	s := harktest.Start(t)
	mustCode(t, s, 201, http.MethodPost, crdPath, definition("things", "Thing", ""))
	mustCode(t, s, 201, http.MethodPost, crdPath, definition("others", "Thing", ""))
	diff(t, "conditions", conditions(t, s, "others.x.example"), []string{"NamesAccepted=False ListKindConflict", "Established=False NotAccepted"})
	const others = "/apis/x.example/v1/namespaces/default/others"
	mustCode(t, s, 404, http.MethodGet, others, "")
	mustCode(t, s, 200, http.MethodDelete, crdPath+"/things.x.example", "")
	diff(t, "conditions", conditions(t, s, "others.x.example"), []string{"NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"})
	mustCode(t, s, 201, http.MethodPost, others, thing("v1", "a", ""))

	// A short name that somebody has is not given; the kind is served all the same.
	mustCode(t, s, 201, http.MethodPost, crdPath, definition("things", "Thang", ""))
	mustCode(t, s, 200, http.MethodPatch, crdPath+"/things.x.example", `{"spec":{"names":{"shortNames":["others"]}}}`, "Content-Type", mergePatch)
	diff(t, "conditions", conditions(t, s, "things.x.example"), []string{"NamesAccepted=False ShortNamesConflict", "Established=True InitialNamesAccepted"})
	mustCode(t, s, 200, http.MethodGet, things, "")
	mustCode(t, s, 200, http.MethodDelete, crdPath+"/others.x.example", "")
	if got := conditions(t, s, "things.x.example"); got[0] != "NamesAccepted=True NoConflicts" {
		t.Errorf("conditions = %q; want that the short name was accepted", got)
	}
}

func TestObjectsAreServedInEachVersionWhateverTheyWereStoredAs(t *testing.T) {
	s := harktest.Start(t)
	mustCode(t, s, 201, http.MethodPost, crdPath, definition("things", "Thing", ""))
	mustCode(t, s, 201, http.MethodPost, things, thing("v1", "old", ""))
	moved := mustCode(t, s, 200, http.MethodPatch, crdPath+"/things.x.example", `{"spec":{"versions":[
		{"name":"v1","served":true,"storage":false,`+anyType+`},{"name":"v2","served":true,"storage":true,`+anyType+`}]}}`, "Content-Type", mergePatch)
	if !strings.Contains(moved, `"storedVersions":["v1","v2"]`) {
		t.Errorf("definition = %s; want both versions stored", moved)
	}
	mustCode(t, s, 201, http.MethodPost, things, thing("v1", "new", ""))
	for _, version := range []string{"v1", "v2"} {
		path := strings.Replace(things, "v1", version, 1)
		list := mustCode(t, s, 200, http.MethodGet, path, "")
		if got := strings.Count(list, `"apiVersion":"x.example/`+version+`"`); got != 3 { // and the list
			t.Errorf("list in %s = %s; want it in that version", version, list)
		}
		for _, name := range []string{"old", "new"} {
			patched := mustCode(t, s, 200, http.MethodPatch, path+"/"+name, `{"spec":{"by":"`+version+`"}}`, "Content-Type", mergePatch)
			if !strings.Contains(patched, `"apiVersion":"x.example/`+version+`"`) {
				t.Errorf("PATCH of %s in %s = %s; want it in that version", name, version, patched)
			}
		}
	}
}

func TestObjectsAreFoundWhileTheirDefinitionChanges(t *testing.T) {
	s := harktest.Start(t)
	mustCode(t, s, 201, http.MethodPost, crdPath, definition("things", "Thing", ""))
	mustCode(t, s, 201, http.MethodPost, things, thing("v1", "a", ""))
	var readers sync.WaitGroup
	done := make(chan struct{})
	readers.Go(func() {
		for {
			if code, body := request(t, s, http.MethodGet, things+"/a", ""); code != 200 {
				t.Errorf("GET = %d %s", code, body)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for i := range 300 {
		mustCode(t, s, 200, http.MethodPatch, crdPath+"/things.x.example", fmt.Sprintf(`{"spec":{"names":{"shortNames":["s%d"]}}}`, i), "Content-Type", mergePatch)
	}
	close(done)
	readers.Wait()
}
