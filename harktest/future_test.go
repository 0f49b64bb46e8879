package harktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

// TestAWatchFromTheFutureIsSilent: no event and no bookmark until the server has
// got past that version, as kube-apiserver 1.37 does. A client whose server was
// restored from a backup sees just that.
func TestAWatchFromTheFutureIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true, StartVersion: 1000})
		client := kubernetes.NewForConfigOrDie(s.Config())
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		w, err := client.CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{ResourceVersion: "5000", AllowWatchBookmarks: true})
		if err != nil {
			t.Fatal(err)
		}
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
		if err := s.Create(ctx, m); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		select {
		case e := <-w.ResultChan():
			t.Errorf("%s %v; want silence", e.Type, e.Object)
		default:
		}
		w.Stop()
	})
}
