package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/wire"
)

// collections answers lists by path and leaves watches open.
type collections struct {
	mu      sync.Mutex
	objects map[string][]corev1.Pod // by path
	refused map[string]string       // messages by path
	lists   map[string]int          // requests by path and selector
	watches map[string]int          // open ones by path and selector
}

func newCollections() *collections {
	return &collections{
		objects: map[string][]corev1.Pod{}, refused: map[string]string{},
		lists: map[string]int{}, watches: map[string]int{},
	}
}

func (c *collections) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if message, ok := c.refused[r.URL.Path]; ok {
		return answer(http.StatusForbidden, wire.ContentTypeJSON, message), nil
	}
	name := strings.TrimSpace(r.URL.Path + " " + r.URL.Query().Get("labelSelector"))
	if r.URL.Query().Get("watch") == "" {
		c.lists[name]++
		list := corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: c.objects[r.URL.Path]}
		raw, err := list.Marshal()
		envelope := append([]byte("k8s\x00\x0a\x0d\x0a\x02v1\x12\x07PodList"), 0x12)
		envelope = append(appendVarint(envelope, len(raw)), raw...)
		return answer(http.StatusOK, wire.ContentTypeProtobuf, string(envelope)), err
	}
	c.watches[name]++
	a := answer(http.StatusOK, wire.ContentTypeJSON, "")
	a.Body = &openWatch{silentBody{r}, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.watches[name]--
	}}
	return a, nil
}

func appendVarint(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func (c *collections) CloseIdleConnections() {}

type openWatch struct {
	io.Reader
	closed func()
}

func (w *openWatch) Close() error { w.closed(); return nil }

// counts returns what was asked and what is open, as "lists path" and "watches path".
func (c *collections) counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	for name, n := range c.lists {
		all["lists "+name] = n
	}
	for name, n := range c.watches {
		if n != 0 {
			all["watches "+name] = n
		}
	}
	return all
}

// runSet runs a set over c for the time of the test.
func runSet(t *testing.T, c *collections) *Informers {
	client := connect(t, &rest.Config{Host: "server.test", Transport: c}, Options{})
	set := NewInformers(client, InformersOptions{Configure: plainLists})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- set.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("Run: %v; want the cause of its context", err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for name, n := range c.watches {
			if n != 0 {
				t.Errorf("%d watches of %s are open after Run", n, name)
			}
		}
	})
	return set
}

func plainLists(Kind, SourceOptions) informer.Options {
	return informer.Options{Reflector: reflector.Options{NoStreaming: true}}
}

func acquire(t *testing.T, set *Informers, kind Kind, o SourceOptions) *Shared {
	t.Helper()
	shared, err := set.Acquire(kind, o)
	if err != nil {
		t.Fatal(err)
	}
	return shared
}

func TestEqualWishesShareOneListAndOneWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollections()
		c.objects["/api/v1/pods"] = []corev1.Pod{*pod("a", "1")}
		set := runSet(t, c)
		all := []*Shared{
			acquire(t, set, podKind, SourceOptions{}),
			acquire(t, set, podKind, SourceOptions{MaxObject: wire.DefaultMaxObject}),
			acquire(t, set, podKind, SourceOptions{LabelSelector: "a=b,c"}),
			acquire(t, set, podKind, SourceOptions{LabelSelector: "c, a=b"}),
			acquire(t, set, podKind, SourceOptions{Namespace: "x"}),
			acquire(t, set, nodeKind, SourceOptions{Namespace: "x"}),
			acquire(t, set, nodeKind, SourceOptions{}),
		}
		if err := set.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want := map[string]int{
			"lists /api/v1/pods": 1, "watches /api/v1/pods": 1,
			"lists /api/v1/pods a=b,c": 1, "watches /api/v1/pods a=b,c": 1,
			"lists /api/v1/namespaces/x/pods": 1, "watches /api/v1/namespaces/x/pods": 1,
			"lists /api/v1/nodes": 1, "watches /api/v1/nodes": 1,
		}
		if diff := cmp.Diff(c.counts(), want); diff != "" {
			t.Errorf("the requests are (-got +want):\n%s", diff)
		}
		if all[0].Store() != all[1].Store() || all[0].Store() == all[2].Store() {
			t.Error("the stores are not shared as the wishes are")
		}
		if _, ok := all[1].Store().Get(key.Key{Namespace: "default", Name: "a"}); !ok {
			t.Error("the pod is not in the store")
		}
	})
}

func TestAnInformerEndsWithItsLastUserAndComesBackAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollections()
		set := runSet(t, c)
		first, second := acquire(t, set, podKind, SourceOptions{}), acquire(t, set, podKind, SourceOptions{})
		if err := first.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		open := func(lists, watches int) {
			t.Helper()
			synctest.Wait()
			want := map[string]int{"lists /api/v1/pods": lists}
			if watches > 0 {
				want["watches /api/v1/pods"] = watches
			}
			if diff := cmp.Diff(c.counts(), want); diff != "" {
				t.Errorf("the requests are (-got +want):\n%s", diff)
			}
		}
		first.Release()
		first.Release() // counts once
		open(1, 1)
		second.Release()
		open(1, 0)

		c.mu.Lock()
		c.objects["/api/v1/pods"] = []corev1.Pod{*pod("new", "11")}
		c.mu.Unlock()
		third := acquire(t, set, podKind, SourceOptions{})
		defer third.Release()
		if err := third.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		open(2, 1)
		if _, ok := third.Store().Get(key.Key{Namespace: "default", Name: "new"}); !ok {
			t.Error("the informer that was asked for again does not have what is new")
		}
		if err := first.WaitSync(t.Context()); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("WaitSync of the one that ended: %v; want ErrStopped", err)
		}
	})
}

func TestAnInformerThatCannotListLeavesItsSiblingsAloneAndSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollections()
		const words = `nodes is forbidden: User \"eve\" cannot list resource \"nodes\" in API group \"\" at the cluster scope`
		c.refused["/api/v1/nodes"] = `{"kind":"Status","apiVersion":"v1","code":403,"reason":"Forbidden","message":"` + words + `"}`
		set := runSet(t, c)
		nodes, pods := acquire(t, set, nodeKind, SourceOptions{}), acquire(t, set, podKind, SourceOptions{})
		if err := pods.WaitSync(t.Context()); err != nil {
			t.Errorf("pods: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for name, wait := range map[string]func(context.Context) error{"the set": set.WaitSync, "the user": nodes.WaitSync} {
			err := wait(ctx)
			if err == nil || !strings.Contains(err.Error(), "nodes (v1): ") || !strings.Contains(err.Error(), "is forbidden") ||
				strings.Contains(err.Error(), "pods") || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v; want nodes, v1 and that it is forbidden", name, err)
			}
		}
		c.mu.Lock()
		delete(c.refused, "/api/v1/nodes")
		c.mu.Unlock()
		if err := nodes.WaitSync(t.Context()); err != nil {
			t.Errorf("nodes, when they are allowed: %v", err)
		}
	})
}

func TestReleaseClosesTheHandlersOfThatUserAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollections()
		c.objects["/api/v1/pods"] = []corev1.Pod{*pod("a", "1")}
		set := runSet(t, c)
		mine, yours := acquire(t, set, podKind, SourceOptions{}), acquire(t, set, podKind, SourceOptions{})
		defer yours.Release()
		told := make(chan string, 2)
		inside := make(chan struct{})
		_, err := mine.Handle(func(informer.Event) {
			told <- "mine"
			mine.Release() // from within a handler: must not wait for itself
			close(inside)
		}, informer.HandlerOptions{Name: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := yours.Handle(func(informer.Event) { told <- "yours" }, informer.HandlerOptions{Name: "yours"}); err != nil {
			t.Fatal(err)
		}
		<-inside
		synctest.Wait()
		if len(told) != 2 {
			t.Errorf("%d handlers were told; want both", len(told))
		}
		status := set.Status()
		if len(status) != 1 || status[0].Users != 1 || len(status[0].Handlers) != 1 || status[0].Handlers[0].Name != "yours" {
			t.Errorf("the status is %+v; want one informer with one user and the handler yours", status)
		}
		if _, err := mine.Handle(func(informer.Event) {}, informer.HandlerOptions{}); err != informer.ErrStopped {
			t.Errorf("Handle after Release: %v; want ErrStopped", err)
		}
	})
}

func TestASetThatHasStoppedSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, &rest.Config{Host: "server.test", Transport: newCollections()}, Options{})
		set := NewInformers(client, InformersOptions{})
		early := acquire(t, set, podKind, SourceOptions{})
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		if err := set.Run(ctx); err != stop {
			t.Errorf("Run: %v; want the cause of its context", err)
		}
		if err := set.Run(t.Context()); err != ErrSetStopped {
			t.Errorf("a second Run: %v; want ErrSetStopped", err)
		}
		if _, err := set.Acquire(podKind, SourceOptions{}); err != ErrSetStopped {
			t.Errorf("Acquire: %v; want ErrSetStopped", err)
		}
		if err := early.WaitSync(t.Context()); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("WaitSync: %v; want ErrStopped", err)
		}
		early.Release()
	})
}

func TestAnInformerThatIsReleasedBeforeRunNeverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollections()
		client := connect(t, &rest.Config{Host: "server.test", Transport: c}, Options{})
		set := NewInformers(client, InformersOptions{})
		acquire(t, set, podKind, SourceOptions{}).Release()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		set.Run(ctx)
		if diff := cmp.Diff(c.counts(), map[string]int{}); diff != "" {
			t.Errorf("there were requests (-got +want):\n%s", diff)
		}
	})
}

func TestManyUsersComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollections()
		c.objects["/api/v1/pods"] = []corev1.Pod{*pod("a", "1")}
		set := runSet(t, c)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 50 {
					shared, err := set.Acquire(podKind, SourceOptions{Namespace: fmt.Sprint(i % 2)})
					if err != nil {
						t.Error(err)
						return
					}
					if err := shared.WaitSync(t.Context()); err != nil {
						t.Error(err)
					}
					shared.Release()
				}
			})
		}
		all.Wait()
		if status := set.Status(); len(status) != 0 {
			t.Errorf("%d informers are left; want none", len(status))
		}
	})
}
