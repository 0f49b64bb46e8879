package harktest_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/gocampus/hark/harktest"
)

func TestUnmodifiedInformersSyncAndFollow(t *testing.T) {
	for _, streaming := range []bool{true, false} {
		clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streaming)
		t.Run(fmt.Sprintf("streaming=%v", streaming), func(t *testing.T) {
			bubbled(t, func(t *testing.T, contentType string) {
				s := harktest.StartWith(t, harktest.Options{InMemory: true})
				for i := range 20 {
					create(t, s, pod("default", fmt.Sprintf("p-%d", i)))
				}
				followWithInformer(t, s, clientset(t, s, contentType))
				checkStreamed(t, s, streaming)
			})
		})
	}
}

func followWithInformer(t *testing.T, s *harktest.Server, client kubernetes.Interface) {
	t.Helper()
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Core().V1().Pods().Lister()
	stop := make(chan struct{})
	defer factory.Shutdown()
	defer close(stop)
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	check := func(what string, want int) {
		t.Helper()
		synctest.Wait()
		pods, err := lister.List(labels.Everything())
		if err != nil || len(pods) != want {
			t.Errorf("%s: informer has %d pods, %v; want %d", what, len(pods), err, want)
		}
	}
	check("after the sync", 20)
	create(t, s, pod("kube-system", "more"))
	check("after a creation", 21)
	if err := s.Delete(ctx, pod("default", "p-3")); err != nil {
		t.Fatal(err)
	}
	check("after a deletion", 20)
	p := pod("default", "p-4")
	if err := s.Change(ctx, p, func() { p.Labels = map[string]string{"x": "y"} }); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	got, err := lister.Pods("default").Get("p-4")
	if err != nil || got.Labels["x"] != "y" || got.ResourceVersion != p.ResourceVersion {
		t.Errorf("informer's p-4 = %+v, %v; want version %s", got, err, p.ResourceVersion)
	}
}

// checkStreamed verifies that the informer has synced in the way that it should have.
func checkStreamed(t *testing.T, s *harktest.Server, streaming bool) {
	t.Helper()
	lists, streams := 0, 0
	for _, r := range s.Requests() {
		switch {
		case r.Verb == "list":
			lists++
		case r.Verb == "watch" && r.Query.Get("sendInitialEvents") == "true":
			streams++
		}
	}
	if (lists == 0) != streaming || (streams > 0) != streaming {
		t.Errorf("%d lists and %d streaming lists with streaming %v", lists, streams, streaming)
	}
}

func TestDynamicAndMetadataInformersSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		create(t, s, pod("default", "a"), configMap("default", "b", nil))
		pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
		stop := make(chan struct{})

		objects, err := dynamic.NewForConfigAndClient(s.Config(), httpClient(t, s))
		if err != nil {
			t.Fatal(err)
		}
		dynamicFactory := dynamicinformer.NewDynamicSharedInformerFactory(objects, 0)
		whole := dynamicFactory.ForResource(pods)
		whole.Informer()
		dynamicFactory.Start(stop)
		dynamicFactory.WaitForCacheSync(stop)

		config := metadata.ConfigFor(s.Config())
		partial, err := metadata.NewForConfigAndClient(config, httpClient(t, s))
		if err != nil {
			t.Fatal(err)
		}
		metadataFactory := metadatainformer.NewSharedInformerFactory(partial, 0)
		names := metadataFactory.ForResource(pods)
		names.Informer()
		metadataFactory.Start(stop)
		metadataFactory.WaitForCacheSync(stop)

		for what, lister := range map[string]cache.GenericLister{"dynamic": whole.Lister(), "metadata": names.Lister()} {
			if _, err := lister.ByNamespace("default").Get("a"); err != nil {
				t.Errorf("%s informer: %v", what, err)
			}
		}
		close(stop)
		dynamicFactory.Shutdown()
		metadataFactory.Shutdown()
	})
}
