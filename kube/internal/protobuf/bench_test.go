package protobuf

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// decoded keeps the compiler from putting a pod on the stack.
var decoded *corev1.Pod

// BenchmarkPod decodes a pod of 5 KB, beside the generated code.
func BenchmarkPod(b *testing.B) {
	raw := marshal(b, pod())
	data := string(raw)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			decoded = new(corev1.Pod)
			if !Decode(data, data, decoded) {
				b.Fatal("given up")
			}
		}
	})
	b.Run("generated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			decoded = new(corev1.Pod)
			if err := decoded.Unmarshal(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// pod is as those of a Deployment are.
func pod() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web-7d4b9c6f5d-x2v8q", UID: "5f0d2a34-9d3c-4c52-8d5c-1e8f8f6b7a10", ResourceVersion: "1234567",
		CreationTimestamp: metav1.Unix(1700000000, 0), Labels: map[string]string{}, Annotations: map[string]string{"example.com/checksum": strings.Repeat("0f", 32)},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d4b9c6f5d", Controller: new(true)}},
	}}
	for i := range 6 {
		p.Labels[fmt.Sprintf("example.com/label-%d", i)] = "value"
	}
	for i := range 2 {
		p.Spec.Containers = append(p.Spec.Containers, container(fmt.Sprintf("container-%d", i)))
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: "container", Image: "registry.example.com/team/app:v1.27.3", ContainerID: "containerd://" + strings.Repeat("0f", 32), Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Unix(1700000000, 0)}},
		})
	}
	for i := range 5 {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("volume-%d", i), VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}, DefaultMode: new(int32(420))}}})
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "Ready", Status: "True", LastTransitionTime: metav1.Unix(1700000000, 0)})
	}
	p.Status.Phase, p.Status.PodIP = corev1.PodRunning, "10.0.0.17"
	return p
}

func container(name string) corev1.Container {
	c := corev1.Container{
		Name: name, Image: "registry.example.com/team/app:v1.27.3",
		Args:           []string{"--listen=:8080", "--log-level=info", "--leader-elect"},
		Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 10, TimeoutSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready"}}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
		SecurityContext: &corev1.SecurityContext{RunAsNonRoot: new(true), ReadOnlyRootFilesystem: new(true), RunAsUser: new(int64(1000))},
	}
	for i := range 15 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: "http://collector.example.com:4317"})
	}
	for i := range 5 {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprintf("volume-%d", i), MountPath: "/etc/app", ReadOnly: true})
	}
	return c
}

// BenchmarkLike decodes a pod beside a model: the version before, and a pod of the
// same owner.
func BenchmarkLike(b *testing.B) {
	before, version, sibling := pod(), pod(), pod()
	version.ResourceVersion = "1234568"
	version.Status.Conditions[0].LastTransitionTime = metav1.Unix(1700000100, 0)
	sibling.Name, sibling.UID, sibling.ResourceVersion = "web-7d4b9c6f5d-9k7zm", "7b0d2a34-9d3c-4c52-8d5c-1e8f8f6b7a77", "1234570"
	sibling.Spec.NodeName, sibling.Status.PodIP = "node-7", "10.0.0.18"
	for i := range sibling.Status.ContainerStatuses {
		sibling.Status.ContainerStatuses[i].ContainerID = "containerd://" + strings.Repeat("1e", 32)
	}
	for i := range sibling.Spec.Containers {
		mounts := sibling.Spec.Containers[i].VolumeMounts
		mounts[len(mounts)-1].Name = "kube-api-access-x7k2p"
	}
	model := NewModel(string(marshal(b, before)), new(corev1.Pod), nil)
	for _, bc := range []struct {
		name string
		pod  *corev1.Pod
	}{{"version", version}, {"sibling", sibling}} {
		data := string(marshal(b, bc.pod))
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decoded = new(corev1.Pod)
				if _, _, ok := DecodeLike(data, data, decoded, model); !ok {
					b.Fatal("given up")
				}
			}
		})
	}
}

func marshal(b *testing.B, p *corev1.Pod) []byte {
	b.Helper()
	raw, err := p.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	return raw
}
