package harktest_test

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/gocampus/hark/harktest"
)

//go:embed testdata/colours.yaml
var colours string

func fromYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func colour(name, hue string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Colour", "metadata": map[string]any{"name": name}, "spec": map[string]any{"hue": hue, "coats": int64(1)},
	}}
}

var (
	colourResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "colours"}
	crdResource    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

func dynamicClient(t *testing.T, s *harktest.Server) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfigAndClient(s.Config(), httpClient(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestDefinedKindIsServedAndGoesWithItsDefinition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		client := dynamicClient(t, s)
		things := client.Resource(colourResource).Namespace("default")
		if _, err := things.Create(ctx, colour("red", "r"), metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
			t.Fatalf("Create before the definition = %v; want NotFound", err)
		}
		crd, err := client.Resource(crdResource).Create(ctx, fromYAML(t, colours), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
		if len(conditions) != 2 || crd.GetGeneration() != 1 {
			t.Errorf("definition = %v; want it established", crd.Object)
		}
		if _, err := things.Create(ctx, colour("red", "r"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w, err := things.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, w, fmt.Sprintf("ADDED red@%d", s.Version()))
		if err := client.Resource(crdResource).Delete(ctx, crd.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		expect(t, w, fmt.Sprintf("DELETED red@%d", s.Version()-1), "end") // and then the definition
		if _, err := things.List(ctx, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("List after the definition went = %v; want NotFound", err)
		}
		if _, err := client.Resource(crdResource).Create(ctx, fromYAML(t, colours), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		list, err := things.List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 0 || list.GetKind() != "ColourList" {
			t.Errorf("List after it was defined again = %v, %v; want an empty ColourList", list, err)
		}
	})
}

func TestDefinedKindBehavesAsDefined(t *testing.T) {
	s := harktest.Start(t)
	client := dynamicClient(t, s)
	create(t, s, fromYAML(t, colours))
	things := client.Resource(colourResource).Namespace("default")
	red, err := things.Create(ctx, colour("red", "r"), metav1.CreateOptions{})
	if err != nil || red.GetGeneration() != 1 || red.GetNamespace() != "default" {
		t.Fatalf("Create = %v, %v", red, err)
	}
	if _, err := things.Create(ctx, colour("blue", "b"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	if err := unstructured.SetNestedField(red.Object, "dry", "status", "state"); err != nil {
		t.Fatal(err)
	}
	red.SetLabels(map[string]string{"a": "b"})
	withStatus, err := things.UpdateStatus(ctx, red, metav1.UpdateOptions{})
	state, _, _ := unstructured.NestedString(withStatus.Object, "status", "state")
	if err != nil || state != "dry" || withStatus.GetGeneration() != 1 || len(withStatus.GetLabels()) != 0 {
		t.Errorf("UpdateStatus = %v, %v; want the status alone changed", withStatus, err)
	}
	patched, err := things.Patch(ctx, "red", types.MergePatchType, []byte(`{"spec":{"coats":3},"status":{"state":"wet"}}`), metav1.PatchOptions{})
	state, _, _ = unstructured.NestedString(patched.Object, "status", "state")
	if err != nil || patched.GetGeneration() != 2 || state != "dry" {
		t.Errorf("Patch = %v, %v; want generation 2 and the status kept", patched, err)
	}
	if _, err := things.Patch(ctx, "red", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{}); !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("strategic merge patch = %v; want UnsupportedMediaType", err)
	}
	patched.SetResourceVersion("")
	if _, err := things.Update(ctx, patched, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.resourceVersion: Invalid value: 0: must be specified for an update") {
		t.Errorf("unconditional Update = %v; want Invalid", err)
	}

	scale, err := things.Get(ctx, "red", metav1.GetOptions{}, "scale")
	replicas, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas")
	if err != nil || replicas != 3 {
		t.Errorf("scale = %v, %v; want 3 replicas", scale, err)
	}
	selected, err := things.List(ctx, metav1.ListOptions{FieldSelector: "spec.hue=b"})
	if err != nil || len(selected.Items) != 1 || selected.Items[0].GetName() != "blue" {
		t.Errorf("List by a selectable field = %v, %v; want blue", selected, err)
	}
	older, err := client.Resource(colourResource.GroupResource().WithVersion("v1beta1")).Namespace("default").Get(ctx, "red", metav1.GetOptions{})
	if err != nil || older.GetAPIVersion() != "example.com/v1beta1" {
		t.Errorf("the object in v1beta1 = %v, %v", older, err)
	}
	code, body := request(t, s, http.MethodGet, "/apis/example.com/v1/colours", "", "Accept", "application/vnd.kubernetes.protobuf")
	if code != http.StatusNotAcceptable || !strings.HasPrefix(body, "k8s\x00") || !strings.Contains(body, "NotAcceptable") {
		t.Errorf("protobuf of a custom resource = %d %q; want 406, said in protobuf", code, body)
	}
	_, body = request(t, s, http.MethodGet, "/apis/example.com/v1/colours", "", "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	if !strings.Contains(body, `"cells":["red","r",3]`) || !strings.Contains(body, `"name":"Coats","type":"integer"`) {
		t.Errorf("table = %s; want the defined columns", body)
	}
}

func TestApplyOfACustomResourceMerges(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, fromYAML(t, colours))
	things := dynamicClient(t, s).Resource(colourResource).Namespace("default")
	if _, err := things.Apply(ctx, "red", colour("red", "r"), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		t.Fatal(err)
	}
	_, err := things.Apply(ctx, "red", colour("red", "x"), metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) {
		t.Errorf("apply of another's field = %v; want a conflict", err)
	}
	got, err := things.Apply(ctx, "red", colour("red", "x"), metav1.ApplyOptions{FieldManager: "two", Force: true})
	hue, _, _ := unstructured.NestedString(got.Object, "spec", "hue")
	if err != nil || hue != "x" || len(got.GetManagedFields()) != 2 {
		t.Errorf("forced apply = %v, %v", got, err)
	}
}

func TestBadDefinitionsAreRefused(t *testing.T) {
	s := harktest.Start(t)
	for _, change := range []struct{ old, new, want string }{
		{"name: colours.example.com", "name: colors.example.com", `metadata.name: Invalid value`},
		{"scope: Namespaced", "scope: World", "spec.scope: Unsupported value"},
		{"storage: true", "storage: false", "exactly one version"},
		{"kind: Colour,", "", "spec.names.kind: Required value"},
	} {
		err := s.Create(ctx, fromYAML(t, strings.Replace(colours, change.old, change.new, 1)))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), change.want) {
			t.Errorf("%q instead of %q = %v; want Invalid with %q", change.new, change.old, err, change.want)
		}
	}
}

// lamp is a kind of the test's own.
type lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Watts int `json:"watts"`
	} `json:"spec"`
	Status struct {
		On bool `json:"on"`
	} `json:"status"`
}

func (l *lamp) DeepCopyObject() runtime.Object {
	out := *l
	l.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func TestRegisteredKindsAreServed(t *testing.T) {
	s := harktest.Start(t)
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Lamp"}
	if err := s.Register(harktest.Kind{GroupVersionKind: gvk, Object: &lamp{}, ShortNames: []string{"lp"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Register(harktest.Kind{GroupVersionKind: gvk}); err == nil {
		t.Error("a kind was registered twice")
	}
	free := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Star"}
	if err := s.Register(harktest.Kind{GroupVersionKind: free, ClusterScoped: true, NoStatus: true}); err != nil {
		t.Fatal(err)
	}
	l := &lamp{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "desk"}}
	l.Spec.Watts, l.Status.On = 5, true
	create(t, s, l)
	if l.Status.On || l.UID == "" {
		t.Errorf("created lamp = %+v; want its status empty", l)
	}
	if err := s.ChangeStatus(ctx, l, func() { l.Status.On, l.Spec.Watts = true, 9 }); err != nil || !l.Status.On || l.Spec.Watts != 5 {
		t.Errorf("ChangeStatus = %+v, %v; want the status alone changed", l, err)
	}
	got, err := dynamicClient(t, s).Resource(gvk.GroupVersion().WithResource("lamps")).Namespace("default").Get(ctx, "desk", metav1.GetOptions{})
	if err != nil || got.GetKind() != "Lamp" || got.Object["spec"].(map[string]any)["watts"] != int64(5) {
		t.Errorf("Get = %v, %v", got, err)
	}
	star := &unstructured.Unstructured{}
	star.SetGroupVersionKind(free)
	star.SetName("sirius")
	create(t, s, star)
	if star.GetNamespace() != "" || star.GetUID() == "" {
		t.Errorf("star = %v; want it without a namespace", star)
	}
	if err := s.Create(ctx, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v9", "kind": "Nothing"}}); err == nil {
		t.Error("an object of an unknown kind was created")
	}
}

func TestDiscoveryNamesEveryKindInBothForms(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, fromYAML(t, colours))
	client, err := discovery.NewDiscoveryClientForConfigAndClient(s.Config(), httpClient(t, s))
	if err != nil {
		t.Fatal(err)
	}
	legacy := discovery.NewDiscoveryClient(client.RESTClient())
	legacy.UseLegacyDiscovery = true
	describe := func(c *discovery.DiscoveryClient) (lines []string) {
		_, lists, err := c.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range lists {
			for _, r := range list.APIResources {
				lines = append(lines, fmt.Sprintf("%s %s %s %v %v %v %v", list.GroupVersion, r.Name, r.Kind, r.Namespaced, r.ShortNames, r.Categories, r.Verbs))
			}
		}
		slices.Sort(lines)
		return lines
	}
	aggregated := describe(client)
	diff(t, "legacy discovery", describe(legacy), aggregated)
	for _, want := range []string{
		"v1 pods Pod true [po] [all] [create delete deletecollection get list patch update watch]",
		"v1 namespaces Namespace false [ns] [] [create delete get list patch update watch]",
		"apps/v1 deployments/scale Scale true [] [] [get patch update]",
		"example.com/v1 colours Colour true [col] [paint] [delete deletecollection get list patch create update watch]",
		"example.com/v1beta1 colours Colour true [col] [paint] [delete deletecollection get list patch create update watch]",
	} {
		if !slices.Contains(aggregated, want) {
			t.Errorf("discovery lacks %q", want)
		}
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Colour"})
	if err != nil || mapping.Resource != colourResource {
		t.Errorf("mapping of Colour = %+v, %v; want the stable version", mapping, err)
	}
}

// TestEveryBuiltInKindIsWrittenAndRead creates an object of each kind that client-go
// knows and the server names, in each encoding.
func TestEveryBuiltInKindIsWrittenAndRead(t *testing.T) {
	for name, contentType := range encodings {
		t.Run(name, func(t *testing.T) {
			s := harktest.Start(t)
			client, err := discovery.NewDiscoveryClientForConfigAndClient(s.Config(), httpClient(t, s))
			if err != nil {
				t.Fatal(err)
			}
			_, lists, err := client.ServerGroupsAndResources()
			if err != nil {
				t.Fatal(err)
			}
			count := 0
			for _, list := range lists {
				gv, err := schema.ParseGroupVersion(list.GroupVersion)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range list.APIResources {
					if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") || !scheme.Scheme.Recognizes(gv.WithKind(r.Kind)) {
						continue
					}
					writeAndRead(t, s, contentType, gv, r)
					count++
				}
			}
			if count < 60 {
				t.Errorf("%d kinds were tried; want all of the more than 60", count)
			}
		})
	}
}

func writeAndRead(t *testing.T, s *harktest.Server, contentType string, gv schema.GroupVersion, r metav1.APIResource) {
	t.Helper()
	obj, err := scheme.Scheme.New(gv.WithKind(r.Kind))
	if err != nil {
		t.Fatal(err)
	}
	sample := obj.(harktest.Object)
	sample.SetName("sample")
	if r.Namespaced {
		sample.SetNamespace("default")
	}
	if err := s.Preload(sample); err != nil {
		t.Fatalf("%s %s: Preload: %v", gv, r.Kind, err)
	}
	config := withEncoding(s, contentType)
	config.GroupVersion, config.APIPath, config.NegotiatedSerializer = &gv, "/apis", scheme.Codecs.WithoutConversion()
	if gv.Group == "" {
		config.APIPath = "/api"
	}
	client, err := rest.RESTClientForConfigAndClient(config, httpClient(t, s))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Get().NamespaceIfScoped("default", r.Namespaced).Resource(r.Name).Name("sample").Do(ctx).Get()
	if err != nil || got.(metav1.Object).GetName() != "sample" || got.(metav1.Object).GetUID() == "" {
		t.Errorf("%s %s: Get = %v, %v", gv, r.Kind, got, err)
	}
	list, err := client.Get().NamespaceIfScoped("default", r.Namespaced).Resource(r.Name).Do(ctx).Get()
	if err != nil {
		t.Errorf("%s %s: List = %v, %v", gv, r.Kind, list, err)
	}
	if err := client.Delete().NamespaceIfScoped("default", r.Namespaced).Resource(r.Name).Name("sample").Do(ctx).Error(); err != nil {
		t.Errorf("%s %s: Delete = %v", gv, r.Kind, err)
	}
}
