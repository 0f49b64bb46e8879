// Package podgen makes realistic pods in any number, for tests and benchmarks
// that measure: each is like the samples in pods.ndjson, and unique where real
// pods are.
//
// The pods of one ReplicaSet differ in name, UID, version, node, addresses,
// container IDs, times and the name of their token's volume. Those of different
// ReplicaSets differ in labels, environment, images and owner too.
package podgen

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

//go:embed pods.ndjson
var samples []byte

// sample returns the first of the samples, decoded once.
var sample = sync.OnceValue(func() *corev1.Pod {
	pod := new(corev1.Pod)
	if err := json.NewDecoder(bytes.NewReader(samples)).Decode(pod); err != nil {
		panic(err) // it is part of the program
	}
	return pod
})

// Options of Pod. The zero value makes 50 pods a ReplicaSet.
type Options struct {
	// Siblings is how many pods a ReplicaSet has; 0 means 50, 1 makes every
	// pod a stranger to all others.
	Siblings int
	// Generation of the pod: another one has another version and status, the
	// same name and UID.
	Generation int
}

// Pod makes the pod number i. The same number and options make the same pod.
func Pod(i int, o Options) *corev1.Pod {
	if o.Siblings == 0 {
		o.Siblings = 50
	}
	set := i / o.Siblings
	pod := sample().DeepCopy()
	m := &maker{set: random(1, set), own: random(2, i)}
	m.begin(pod, set)
	m.identity(pod, i, (set*0x2545f+i%o.Siblings*0x9e375)&0xfffff, o.Generation)
	m.spec(pod, i)
	m.status(pod, i, random(3, i*1009+o.Generation))
	return pod
}

func random(of, n int) *rand.Rand { return rand.New(rand.NewPCG(uint64(of), uint64(n))) }

// maker has what is equal in a ReplicaSet and what is a pod's own.
type maker struct {
	set, own      *rand.Rand
	service, hash string
	team          string
	created       time.Time
}

func hex(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%016x", r.Uint64())
	}
	return b.String()[:n]
}

func uid(r *rand.Rand) string {
	h := hex(r, 32)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// begin makes what the pods of one ReplicaSet have in common.
func (m *maker) begin(pod *corev1.Pod, set int) {
	m.service = fmt.Sprintf("service-%d", set)
	m.team = fmt.Sprintf("team-%d", set%97)
	m.hash = hex(m.set, 10)
	version := fmt.Sprintf("v1.%d.%d", set%7, set%11)
	pod.Namespace = m.team
	pod.GenerateName = m.service + "-" + m.hash + "-"
	for name, value := range map[string]string{
		"app": m.service, "app.kubernetes.io/instance": m.service + "-prod", "app.kubernetes.io/name": m.service,
		"app.kubernetes.io/version": version, "pod-template-hash": m.hash, "team": m.team,
	} {
		pod.Labels[name] = value
	}
	pod.Annotations["checksum/config"] = hex(m.set, 32)
	pod.Annotations["kubectl.kubernetes.io/default-container"] = m.service
	owner := &pod.OwnerReferences[0]
	owner.Name, owner.UID = m.service+"-"+m.hash, types.UID(uid(m.set))
	m.container(pod, "registry.example.com/"+m.team+"/"+m.service+":"+version)
}

// container makes the main container and what the rest of the template says of it.
func (m *maker) container(pod *corev1.Pod, image string) {
	c := &pod.Spec.Containers[0]
	c.Name, c.Image = m.service, image
	for i := range c.Env {
		e := &c.Env[i]
		switch {
		case strings.HasPrefix(e.Name, "SETTING_"):
			e.Name = fmt.Sprintf("SETTING_%d_%s", i, hex(m.set, 2))
			e.Value = "value-" + hex(m.set, 16) + "-of-" + m.service
		case e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil:
			e.ValueFrom.SecretKeyRef.Name = m.service + "-db"
		}
	}
	for i := range pod.Spec.Containers[1].Env {
		if e := &pod.Spec.Containers[1].Env[i]; e.Name == "ISTIO_META_WORKLOAD_NAME" {
			e.Value = m.service
		}
	}
	pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount = m.service, m.service
	pod.Spec.Volumes[0].ConfigMap.Name = m.service + "-config"
	status := &pod.Status.ContainerStatuses[0]
	status.Name, status.Image = m.service, image
	status.ImageID = image[:strings.LastIndexByte(image, ':')] + "@sha256:" + hex(m.set, 64)
}

// identity makes what no other pod has. Names differ, as the server sees to it: the
// suffixes of a ReplicaSet are an odd number's multiples in 20 bits.
func (m *maker) identity(pod *corev1.Pod, i, suffix, generation int) {
	pod.Name = fmt.Sprintf("%s%05x", pod.GenerateName, suffix)
	pod.UID = types.UID(uid(m.own))
	pod.ResourceVersion = fmt.Sprint(100_000 + i + generation*10_000_000)
	m.created = time.Date(2026, 5, 28, 20, 26, 47, 0, time.UTC).Add(time.Duration(i) * time.Second)
	pod.CreationTimestamp = metav1.NewTime(m.created)
}

func (m *maker) spec(pod *corev1.Pod, i int) {
	token := "kube-api-access-" + hex(m.own, 5)
	old := pod.Spec.Volumes[len(pod.Spec.Volumes)-1].Name
	pod.Spec.Volumes[len(pod.Spec.Volumes)-1].Name = token
	for c := range pod.Spec.Containers {
		for v := range pod.Spec.Containers[c].VolumeMounts {
			if mount := &pod.Spec.Containers[c].VolumeMounts[v]; mount.Name == old {
				mount.Name = token
			}
		}
	}
	node := i % 5003
	pod.Spec.NodeName = fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", node/250, node%250)
	pod.Status.HostIP = fmt.Sprintf("10.0.%d.%d", node/250, node%250)
}

// status makes the times, addresses and container IDs. now is new with each
// version.
func (m *maker) status(pod *corev1.Pod, i int, now *rand.Rand) {
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(m.created.Add(time.Duration(seconds) * time.Second))
	}
	changed := 10 + now.IntN(1_000_000)
	for c, seconds := range []int{2, 1, changed, changed, 0} {
		pod.Status.Conditions[c].LastTransitionTime = at(seconds)
	}
	start := at(0)
	pod.Status.StartTime = &start
	pod.Status.HostIPs = []corev1.HostIP{{IP: pod.Status.HostIP}}
	pod.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", 32+m.own.IntN(96), m.own.IntN(256), 1+m.own.IntN(254))
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	for c := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[c]
		status.ContainerID = "containerd://" + hex(m.own, 64)
		status.State.Running.StartedAt = at(3)
	}
}

// List returns the body of a list of pods, in protobuf or JSON.
func List(protobuf bool, pods ...*corev1.Pod) ([]byte, error) {
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	list.ResourceVersion = "1"
	for _, pod := range pods {
		list.Items = append(list.Items, *pod)
	}
	if !protobuf {
		return json.Marshal(list)
	}
	raw, err := list.Marshal()
	if err != nil {
		return nil, err
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: list.APIVersion, Kind: list.Kind}, Raw: raw}
	body, err := unknown.Marshal()
	return append([]byte("k8s\x00"), body...), err
}
