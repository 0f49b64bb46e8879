package harktest_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

// busyPod is a pod of about 4.5 kB in protobuf, as they are in clusters.
func busyPod(i int) *corev1.Pod {
	p := pod("default", fmt.Sprintf("web-7d4b9c6f5d-%06d", i))
	p.Labels = map[string]string{"app": "web", "pod-template-hash": "7d4b9c6f5d", "tier": fmt.Sprint(i % 10)}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d4b9c6f5d", UID: "0b7f2f6e-5d0a-4d58-9a43-5b8b0a2b4d11", Controller: new(true)}}
	p.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kubelet", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", Subresource: "status",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{` + strings.TrimSuffix(strings.Repeat(`"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:status":{}}},`, 40), ",") + `}}`)},
	}}
	p.Spec.NodeName = fmt.Sprintf("node-%d", i%100)
	c := &p.Spec.Containers[0]
	c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")}
	for e := range 30 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", e), Value: "the value of the variable"})
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Ready: true, Image: "nginx:1.27"}}}
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.PodScheduled, corev1.ContainersReady, corev1.PodInitialized} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue})
	}
	return p
}

func BenchmarkPreload(b *testing.B) {
	s := harktest.StartWith(b, harktest.Options{History: 1000})
	for i := 0; b.Loop(); i++ {
		if err := s.Preload(busyPod(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	s := harktest.Start(b)
	p := busyPod(1)
	if err := s.Preload(p.DeepCopy()); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if err := s.Change(ctx, p, func() { p.Labels["i"] = fmt.Sprint(i) }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWatch is one event a round: written by Touch and read by a client that
// does nothing with it.
func BenchmarkWatch(b *testing.B) {
	for name, accept := range map[string]string{"json": jsonType, "protobuf": "application/vnd.kubernetes.protobuf;stream=watch"} {
		b.Run(name, func(b *testing.B) {
			s := harktest.StartWith(b, harktest.Options{History: 50_000})
			const pods = 1000
			names := make([]harktest.Object, pods)
			for i := range names {
				p := busyPod(i)
				names[i] = pod(p.Namespace, p.Name)
				if err := s.Preload(p); err != nil {
					b.Fatal(err)
				}
			}
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL()+fmt.Sprintf("/api/v1/pods?watch=1&resourceVersion=%d", s.Version()), nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Accept", accept)
			response, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				b.Fatal(err)
			}
			defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			defer response.Body.Close()
			in := bufio.NewReaderSize(response.Body, 1<<20)
			b.ResetTimer()
			// Touch is faster than a client reads JSON: it stays within the history,
			// beyond which the server ends a watch.
			ahead, done := make(chan struct{}, 10_000), make(chan error, 1)
			go func() { done <- readFrames(in, b.N, name == "json", ahead) }()
			for i := range b.N {
				select {
				case ahead <- struct{}{}:
				case err := <-done:
					b.Fatal("the stream ended early: ", err)
				}
				if err := s.Touch(names[i%pods]); err != nil {
					b.Fatal(err)
				}
			}
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// readFrames reads n frames of a watch, and takes one from ahead for each.
func readFrames(in *bufio.Reader, n int, lines bool, ahead <-chan struct{}) error {
	skip := skipFrame
	if lines {
		skip = skipLine
	}
	for range n {
		if err := skip(in); err != nil {
			return err
		}
		<-ahead
	}
	return nil
}

func skipLine(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); err != bufio.ErrBufferFull {
			return err
		}
	}
}

func skipFrame(in *bufio.Reader) error {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return err
	}
	_, err := in.Discard(int(binary.BigEndian.Uint32(head[:])))
	return err
}
