package kube

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/wire"
)

// decoded keeps the compiler from putting a pod on the stack.
var decoded *corev1.Pod

// BenchmarkGet is the cost of reading one object out of a store: again, and for
// the first time, beside client-go's lister and the generated decoder.
func BenchmarkGet(b *testing.B) {
	raw, err := richPod().Marshal()
	if err != nil {
		b.Fatal(err)
	}
	object, err := wire.NewObject(wire.Protobuf, raw)
	if err != nil {
		b.Fatal(err)
	}
	s, w := store.New(store.Options{})
	w.Put(object, false)
	key := object.Key()
	b.Run("hot/hark", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			kept, _ := s.Get(key)
			if _, err := View[corev1.Pod](kept); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hot/clientgo", func(b *testing.B) {
		indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		if err := indexer.Add(richPod()); err != nil {
			b.Fatal(err)
		}
		pods := v1.NewPodLister(indexer)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := pods.Pods(key.Namespace).Get(key.Name); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cold/hark-view", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			again, err := wire.NewObject(wire.Protobuf, raw) // a part of the cost
			if err != nil {
				b.Fatal(err)
			}
			if _, err := View[corev1.Pod](again); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cold/hark-as", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := As[corev1.Pod](object); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cold/generated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			decoded = new(corev1.Pod)
			if err := decoded.Unmarshal(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// richPod is a pod with as much in it as real ones have: 5 KB.
func richPod() *corev1.Pod {
	p := pod("web-7d4b9c6f5d-x2v8q", "1234567")
	p.ManagedFields = nil
	for i := range 12 {
		p.Labels[fmt.Sprintf("example.com/label-%d", i)] = strings.Repeat("v", i)
	}
	for i := range 3 {
		c := corev1.Container{
			Name: fmt.Sprintf("container-%d", i), Image: "registry.example.com/team/app:v1.27.3",
			Args:           []string{"--listen=:8080", "--log-level=info", "--leader-elect"},
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 10, TimeoutSeconds: 1},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: quantity.MustParse("100m"), corev1.ResourceMemory: quantity.MustParse("64Mi")}},
		}
		for j := range 15 {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", j), Value: "http://collector.example.com:4317"})
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprintf("volume-%d", j), MountPath: "/etc/app"})
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ContainerID: "containerd://" + strings.Repeat("0f", 32), Ready: true})
	}
	return p
}
