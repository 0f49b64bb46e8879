package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// apiOf starts a server and returns it with a client.
func apiOf(t testing.TB, o harktest.Options) (*harktest.Server, *Client) {
	t.Helper()
	server := harktest.StartWith(t, o)
	return server, connect(t, server.Config(), Options{})
}

func create(t testing.TB, server *harktest.Server, objects ...harktest.Object) {
	t.Helper()
	for _, o := range objects {
		if err := server.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}}},
	}
}

func mustResolve(t testing.TB, client *Client, arg string) Kind {
	t.Helper()
	kind, err := client.Resolve(t.Context(), arg)
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

func TestAServersKindsAreFoundByAggregatedDiscovery(t *testing.T) {
	server, client := apiOf(t, harktest.Options{})
	for arg, want := range map[string]Kind{"po": podKind, "nodes": nodeKind, "Deployment.v1.apps": deploymentKind} {
		if got := mustResolve(t, client, arg); got != want {
			t.Errorf("Resolve(%q) = %+v; want %+v", arg, got, want)
		}
	}
	server.ForgetRequests()
	mustResolve(t, client, "rs")
	if n := len(server.Requests()); n != 0 {
		t.Errorf("a known kind took %d requests; want none", n)
	}
}

func TestADefinitionMakesItsKindWatchable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := apiOf(t, harktest.Options{InMemory: true})
		if _, err := client.Resolve(t.Context(), "widgets"); err == nil {
			t.Fatal("widgets are there before their definition")
		}
		if err := server.Register(harktest.Kind{GroupVersionKind: widgetKind.GVK, ShortNames: []string{"wd"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(defaultRediscoverInterval)
		kind := mustResolve(t, client, "wd")
		if kind != widgetKind {
			t.Errorf("Resolve = %+v; want %+v", kind, widgetKind)
		}
		widget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(3)}}}
		widget.SetGroupVersionKind(kind.GVK)
		widget.SetNamespace("default")
		widget.SetName("w")
		create(t, server, widget)
		all, _ := items(t, client.Source(kind, SourceOptions{}), watch.ListOptions{})
		got := &unstructured.Unstructured{}
		if err := kind.Decode(all[0], got); err != nil {
			t.Fatal(err)
		}
		if size, _, _ := unstructured.NestedInt64(got.Object, "spec", "size"); size != 3 || got.GetKind() != "Widget" {
			t.Errorf("the widget is %v; want size 3", got.Object)
		}
	})
}

// script is what a stream delivers, in short.
func script(t testing.TB, stream watch.Stream, n int) []string {
	t.Helper()
	var got []string
	for range n {
		event, err := stream.Next()
		switch {
		case err != nil:
			got = append(got, err.Error())
		case event.Object != nil:
			got = append(got, fmt.Sprintf("%s %s", event.Type, event.Object.Key()))
		default:
			got = append(got, fmt.Sprintf("%s end=%v", event.Type, event.InitialEventsEnd))
		}
	}
	return got
}

func TestAStreamingListIsReadOverEveryProtocol(t *testing.T) {
	for name, o := range map[string]harktest.Options{"HTTP/1.1": {}, "TLS and HTTP/2": {TLS: true}} {
		for _, encoding := range []wire.Encoding{wire.Protobuf, wire.JSON} {
			t.Run(name+" "+encoding.String(), func(t *testing.T) {
				server, client := apiOf(t, o)
				a, b := newPod("a"), newPod("b")
				create(t, server, a, b)
				source := client.Source(podKind, SourceOptions{Namespace: "default", Encoding: encoding})
				stream, err := source.Watch(t.Context(), watch.WatchOptions{SendInitialEvents: true, Timeout: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				got := script(t, stream, 3)
				if err := server.ChangeStatus(t.Context(), a, func() { a.Status.Phase = corev1.PodRunning }); err != nil {
					t.Fatal(err)
				}
				now := int64(0)
				if err := server.Delete(t.Context(), b, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
					t.Fatal(err)
				}
				got = append(got, script(t, stream, 2)...)
				want := []string{"ADDED default/a", "ADDED default/b", "BOOKMARK end=true", "MODIFIED default/a", "DELETED default/b"}
				if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("the stream is (-got +want):\n%s", diff)
				}
			})
		}
	}
}

func TestSelectorsAreTheServers(t *testing.T) {
	server, client := apiOf(t, harktest.Options{})
	create(t, server, newPod("a"), newPod("b"), newPod("c"))
	for _, tc := range []struct {
		options SourceOptions
		want    int
	}{
		{SourceOptions{LabelSelector: "app in (a,b)"}, 2},
		{SourceOptions{FieldSelector: "metadata.name=c"}, 1},
		{SourceOptions{Namespace: "kube-system"}, 0},
	} {
		if got, _ := items(t, client.Source(podKind, tc.options), watch.ListOptions{}); len(got) != tc.want {
			t.Errorf("%+v: %d pods; want %d", tc.options, len(got), tc.want)
		}
	}
	err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{LabelSelector: "a in ("})))
	if err.Kind != watch.KindInvalid {
		t.Errorf("a selector that does not parse: %s (%v); want invalid", err.Kind, err)
	}
}

func TestPagesAreReadToTheEnd(t *testing.T) {
	server, client := apiOf(t, harktest.Options{})
	for i := range 7 {
		create(t, server, newPod(fmt.Sprintf("p%d", i)))
	}
	source := client.Source(podKind, SourceOptions{})
	var names []string
	o := watch.ListOptions{Limit: 3}
	for {
		page, meta := items(t, source, o)
		for _, object := range page {
			names = append(names, object.Key().Name)
		}
		if o.Continue = meta.Continue; o.Continue == "" {
			break
		}
	}
	if diff := cmp.Diff(names, []string{"p0", "p1", "p2", "p3", "p4", "p5", "p6"}); diff != "" {
		t.Errorf("the pages hold (-got +want):\n%s", diff)
	}
}

func TestALongListIsReadWithAndWithoutCompression(t *testing.T) {
	for _, plain := range []bool{false, true} {
		server, _ := apiOf(t, harktest.Options{})
		for i := range 300 { // more than the 128 KiB from which servers compress
			p := newPod(fmt.Sprintf("p%03d", i))
			p.Annotations = map[string]string{"note": strings.Repeat("x", 1000)}
			create(t, server, p)
		}
		config := server.Config()
		config.DisableCompression = plain
		client := connect(t, config, Options{})
		if got, _ := items(t, client.Source(podKind, SourceOptions{}), watch.ListOptions{}); len(got) != 300 {
			t.Errorf("DisableCompression %v: %d pods; want 300", plain, len(got))
		}
	}
}

func TestVersionsThatAServerCannotServeHaveTheirKinds(t *testing.T) {
	server, client := apiOf(t, harktest.Options{})
	create(t, server, newPod("a"), newPod("b"))
	source := client.Source(podKind, SourceOptions{})
	list, err := source.List(t.Context(), watch.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for err == nil {
		_, err = list.Next()
	}
	create(t, server, newPod("c"))
	server.Compact()
	checkRefused := func(name string, err error, want watch.ErrorKind) {
		t.Helper()
		if e := watchError(t, err); e.Kind != want {
			t.Errorf("%s: %s (%v); want %s", name, e.Kind, e, want)
		}
	}
	_, err = source.List(t.Context(), watch.ListOptions{Continue: list.Meta().Continue, Limit: 1})
	checkRefused("a token that is too old", err, watch.KindExpired)
	_, err = source.List(t.Context(), watch.ListOptions{ResourceVersion: "1000000"})
	checkRefused("a version that is too large", err, watch.KindTooLargeVersion)

	stream, err := source.Watch(t.Context(), watch.WatchOptions{ResourceVersion: "1"})
	if err == nil {
		defer stream.Close()
		event, nextErr := stream.Next()
		if nextErr != nil || event.Err == nil {
			t.Fatalf("the first event is %+v, %v; want an ERROR", event, nextErr)
		}
		err = event.Err
	}
	checkRefused("a watch from a version that is too old", err, watch.KindExpired)
}

func TestFaultsOfAServerHaveTheirKinds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault harktest.Fault
		want  watch.ErrorKind
	}{
		{"forbidden", harktest.Fault{Code: 403}, watch.KindForbidden},
		{"unauthorized", harktest.Fault{Code: 401}, watch.KindUnauthorized},
		{"too many requests", harktest.Fault{Code: 429, RetryAfter: 7 * time.Second}, watch.KindTooManyRequests},
		{"an internal error", harktest.Fault{Code: 500}, watch.KindUnavailable},
		{"no answer at all", harktest.Fault{Refuse: true}, watch.KindUnavailable},
		{"a cut within the body", harktest.Fault{CutAfterBytes: 40}, watch.KindUnavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, client := apiOf(t, harktest.Options{})
			create(t, server, newPod("a"))
			tc.fault.Verb, tc.fault.Resource = "list", "pods"
			defer server.Inject(tc.fault)()
			err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{})))
			if err.Kind != tc.want || err.RetryAfter != tc.fault.RetryAfter {
				t.Errorf("%s, wait %s (%v); want %s, %s", err.Kind, err.RetryAfter, err, tc.want, tc.fault.RetryAfter)
			}
		})
	}
}

func TestFaultsWithinAWatchHaveTheirKinds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault harktest.Fault
		want  watch.ErrorKind
	}{
		{"a cut within an event", harktest.Fault{AfterEvents: 1, CutEvent: true}, watch.KindUnavailable},
		{"an object that does not decode", harktest.Fault{AfterEvents: 1, MalformedEvent: true}, watch.KindObject},
		{"an expired version, as an event", harktest.Fault{AfterEvents: 1, EventError: true, Code: 410, Reason: metav1.StatusReasonExpired}, watch.KindExpired},
	} {
		for _, encoding := range []wire.Encoding{wire.Protobuf, wire.JSON} {
			t.Run(tc.name+" "+encoding.String(), func(t *testing.T) {
				server, client := apiOf(t, harktest.Options{TLS: true})
				create(t, server, newPod("a"), newPod("b"), newPod("c"))
				tc.fault.Verb = "watch"
				defer server.Inject(tc.fault)()
				stream, err := client.Source(podKind, SourceOptions{Encoding: encoding}).Watch(t.Context(), watch.WatchOptions{SendInitialEvents: true})
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				if event, err := stream.Next(); err != nil || event.Object.Key().Name != "a" {
					t.Fatalf("the first event is %+v, %v; want a", event, err)
				}
				event, err := stream.Next()
				if event.Err != nil {
					err = event.Err
				}
				if e := watchError(t, err); e.Kind != tc.want {
					t.Errorf("%s (%v); want %s", e.Kind, e, tc.want)
				}
				if tc.want == watch.KindObject {
					if event, err := stream.Next(); err != nil || event.Object.Key().Name != "c" {
						t.Errorf("the event after it is %+v, %v; want c", event, err)
					}
				}
			})
		}
	}
}

func TestARefusedConnectionIsUnavailable(t *testing.T) {
	server, client := apiOf(t, harktest.Options{})
	up := server.GoDown()
	err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{})))
	if err.Kind != watch.KindUnavailable || !strings.Contains(err.Message, "was refused") {
		t.Errorf("%s, %q; want unavailable, and that it was refused", err.Kind, err.Message)
	}
	if err := up(); err != nil {
		t.Fatal(err)
	}
	if err := listError(t.Context(), client.Source(podKind, SourceOptions{})); err != io.EOF {
		t.Errorf("when the server is back: %v; want a list", err)
	}
}

func TestASilentServerIsBoundedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := apiOf(t, harktest.Options{InMemory: true})
		defer server.Inject(harktest.Fault{Verb: "list", Silent: true})()
		start := time.Now()
		err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{})))
		if err.Kind != watch.KindUnavailable || time.Since(start) != defaultResponseTimeout {
			t.Errorf("%s after %s; want unavailable after %s", err.Kind, time.Since(start), defaultResponseTimeout)
		}
	})
}

// TestBothEncodingsDecodeToTheSame compares every way of reading an object with
// what client-go's dynamic client returns.
func TestBothEncodingsDecodeToTheSame(t *testing.T) {
	server, client := apiOf(t, harktest.Options{TrackManagedFields: true})
	one := int32(1)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: newPod("x").Spec},
		},
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Data: map[string][]byte{"k": {0, 255}}}
	create(t, server, newPod("a"), deployment, secret)
	others, err := dynamic.NewForConfigAndClient(client.Config(), client.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	for arg, name := range map[string]string{"pods": "a", "deployments": "web", "secrets": "s"} {
		kind := mustResolve(t, client, arg)
		want, err := others.Resource(kind.GVR).Namespace("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, encoding := range []wire.Encoding{wire.Protobuf, wire.JSON} {
			source := client.Source(kind, SourceOptions{Encoding: encoding, KeepManagedFields: true, FieldSelector: "metadata.name=" + name})
			all, _ := items(t, source, watch.ListOptions{})
			got := &unstructured.Unstructured{}
			if err := kind.Decode(all[0], got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.Object, want.Object); diff != "" {
				t.Errorf("%s in %s: Decode (-got +want):\n%s", kind, encoding, diff)
			}
			document, err := kind.JSON(all[0])
			if err != nil {
				t.Fatal(err)
			}
			var printed map[string]any
			var wanted map[string]any
			raw, err := json.Marshal(want.Object)
			if err = errors.Join(err, json.Unmarshal(document, &printed), json.Unmarshal(raw, &wanted)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(printed, wanted); diff != "" {
				t.Errorf("%s in %s: JSON (-got +want):\n%s", kind, encoding, diff)
			}
		}
	}
}

// requestsOf counts what the server was asked for, in short.
func requestsOf(server *harktest.Server, verb, resource string) int {
	n := 0
	for _, r := range server.Requests() {
		if r.Verb == verb && r.Resource == resource {
			n++
		}
	}
	return n
}

func TestTwoControllersShareOneWatchOfAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := apiOf(t, harktest.Options{InMemory: true})
		create(t, server, newPod("a"))
		set := NewInformers(client, InformersOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- set.Run(ctx) }()

		var told [2]chan key.Key
		for i := range told {
			told[i] = make(chan key.Key, 10)
			shared := acquire(t, set, podKind, SourceOptions{Namespace: "default"})
			registration, err := shared.Handle(func(e informer.Event) { told[i] <- e.Key }, informer.HandlerOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := registration.WaitSync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		create(t, server, newPod("b"))
		for i := range told {
			got := []string{(<-told[i]).Name, (<-told[i]).Name}
			if diff := cmp.Diff(got, []string{"a", "b"}); diff != "" {
				t.Errorf("controller %d was told (-got +want):\n%s", i, diff)
			}
		}
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("Run: %v", err)
		}
		synctest.Wait()
		if lists, watches := requestsOf(server, "list", "pods"), requestsOf(server, "watch", "pods"); lists != 0 || watches != 1 {
			t.Errorf("the server saw %d lists and %d watches; want one streaming list", lists, watches)
		}
	})
}

func TestAForbiddenKindHealsWithoutRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := apiOf(t, harktest.Options{InMemory: true})
		lift := server.Inject(harktest.Fault{Resource: "nodes", Code: http.StatusForbidden, Times: 20})
		defer lift()
		set := NewInformers(client, InformersOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- set.Run(ctx) }()
		defer func() { cancel(); <-done }()

		nodes, pods := acquire(t, set, nodeKind, SourceOptions{}), acquire(t, set, podKind, SourceOptions{})
		start := time.Now()
		if err := pods.WaitSync(t.Context()); err != nil || time.Since(start) > time.Second {
			t.Errorf("pods: %v after %s; want them at once", err, time.Since(start))
		}
		hasty, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		err := nodes.WaitSync(hasty)
		if forbidden, ok := errors.AsType[*watch.Error](err); !ok || forbidden.Kind != watch.KindForbidden || !strings.Contains(err.Error(), "nodes (v1)") {
			t.Errorf("nodes: %v; want forbidden, and the kind named", err)
		}
		if err := nodes.WaitSync(t.Context()); err != nil {
			t.Errorf("nodes, in the end: %v", err)
		}
		refused := 0
		for _, r := range server.Requests() {
			if r.Code == http.StatusForbidden {
				refused++
			}
		}
		if refused != 20 {
			t.Errorf("nodes were refused %d times; want 20", refused)
		}
	})
}
