package harktest_test

import (
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest"
)

// A dump is a typed list, as kubectl get --raw prints it: its items have no kind.
func TestLoadGivesItemsOfATypedListItsKind(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, configMap("default", "a", map[string]string{"x": "1"}), deployment("web", 1))
	into := harktest.Start(t)
	for _, path := range []string{"/api/v1/namespaces/default/configmaps", "/apis/apps/v1/deployments"} {
		_, dump := request(t, s, http.MethodGet, path, "")
		if n, err := into.Load(strings.NewReader(dump)); err != nil || n != 1 {
			t.Errorf("Load of %s = %d, %v; want 1", path, n, err)
		}
	}
	m := configMap("default", "a", nil)
	if err := into.Get(ctx, m); err != nil || m.Data["x"] != "1" {
		t.Errorf("Get = %v, %v; want the data of the dump", m.Data, err)
	}
}

// An object may have a field items without being a list.
func TestLoadTakesARegisteredKindWithItemsForAnObject(t *testing.T) {
	s := harktest.Start(t)
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "PriceList"}
	if err := s.Register(harktest.Kind{GroupVersionKind: gvk}); err != nil {
		t.Fatal(err)
	}
	n, err := s.Load(strings.NewReader(`{"apiVersion":"example.com/v1","kind":"PriceList","metadata":{"name":"a"},"items":[{"bread":3}]}`))
	if err != nil || n != 1 {
		t.Errorf("Load = %d, %v; want the one object", n, err)
	}
}

func TestLoadSaysWhichObjectIsWrongAndWhatIsWrongWithIt(t *testing.T) {
	const review = `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","metadata":{"name":"a"}}`
	for text, want := range map[string]string{
		review: "harktest: SubjectAccessReview a: can only be created by a client: the server does not keep it",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":5}}`:                                                   `harktest: ConfigMap default/a: json: cannot unmarshal number into Go struct field ConfigMap.data of type string`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","creationTimestamp":"now"}}`:                                              `harktest: Pod default/a: parsing time "now" as `,
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`: `harktest: item 2 of List: b: apiVersion and kind are required`,
		`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":[]}]}`:                                              `harktest: item 1 of PodList: Pod default/a: json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec`,
		`{"apiVersion":"v1","kind":"List","items":["a"]}`:                                                                                 `harktest: item 1 of List: is no object but string`,
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[` + review + `]}]}`:                          `harktest: item 1 of List: item 1 of List: SubjectAccessReview a: can only be created`,
		`{"kind":5}`: `harktest: object: apiVersion and kind are required`,
	} {
		_, err := harktest.Start(t).Load(strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Load(%s) = %v; want %s…", text, err, want)
		}
	}
}

func TestKindsThatAreNotKeptCannotBeReachedDirectly(t *testing.T) {
	s := harktest.Start(t)
	review := &authorizationv1.SubjectAccessReview{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	_, listed := harktest.List[*authorizationv1.SubjectAccessReview](s, "")
	for what, err := range map[string]error{
		"Create": s.Create(ctx, review), "Get": s.Get(ctx, review), "Preload": s.Preload(review), "Touch": s.Touch(review),
		"Delete": s.Delete(ctx, review), "List": listed,
	} {
		if err == nil || !strings.Contains(err.Error(), "does not keep it") {
			t.Errorf("%s of a review = %v; want an error that says why not", what, err)
		}
	}
}
