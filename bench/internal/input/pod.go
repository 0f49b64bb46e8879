package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/key"
)

const (
	// replicas is how many pods a ReplicaSet has.
	replicas = 50
	// services is how many ReplicaSets a namespace has.
	services = 20
)

// podMaker makes pods out of one real one.
type podMaker struct {
	prototype corev1.Pod
	group     int  // pods a ReplicaSet
	lone      bool // nothing is equal between ReplicaSets
}

// Pods returns pods like the first one of lines, JSON documents: 50 a ReplicaSet.
func Pods(lines []byte) (*Set, error) { return pods(lines, podMaker{group: replicas}) }

// LonePods returns pods that share nothing: each is of a ReplicaSet of its own, and
// whatever text of more than a word it has is its own.
func LonePods(lines []byte) (*Set, error) { return pods(lines, podMaker{group: 1, lone: true}) }

func pods(lines []byte, m podMaker) (*Set, error) {
	line, _, _ := bytes.Cut(lines, []byte("\n"))
	if err := json.Unmarshal(line, &m.prototype); err != nil {
		return nil, fmt.Errorf("input: pods: %w", err)
	}
	return &Set{
		Kind: corev1.SchemeGroupVersion.WithKind("Pod"), Resource: "pods", Protobuf: true,
		group: m.group, fields: m.fields(), key: m.key,
		encode: func(s state, protobuf bool) ([]byte, error) {
			p := m.pod(s)
			if protobuf {
				return p.Marshal()
			}
			return json.Marshal(p)
		},
	}, nil
}

func (m *podMaker) key(n int) key.Key {
	return key.Key{Namespace: m.namespace(n / m.group), Name: string(m.name(nil, state{n: n}))}
}

func (*podMaker) namespace(set int) string { return "team-" + strconv.Itoa(set/services) }

// name appends a pod's name: service, template hash, suffix.
func (m *podMaker) name(dst []byte, s state) []byte {
	set := s.n / m.group
	dst = append(dst, "service-"...)
	dst = strconv.AppendInt(dst, int64(set), 10)
	dst = append(dst, '-')
	dst = appendHex(dst, 10, set, forReplicaSet)
	dst = append(dst, '-')
	// The last digits of the number make the name unique within its ReplicaSet.
	dst = appendHex(dst, 3, s.n, forName)
	dst = append(dst, "0123456789abcdef"[s.n/16%16])
	return append(dst, "0123456789abcdef"[s.n%16])
}

func token(dst []byte, s state) []byte {
	return appendHex(append(dst, "kube-api-access-"...), 5, s.n, forToken)
}

// fields are what no two pods have in common, in the order of unique.
func (m *podMaker) fields() []field {
	return append(m.unique(),
		seconds(created),
		seconds(func(s state) int { return s.n + 1 }),
		seconds(func(s state) int { return s.n + 2 }),
		seconds(func(s state) int { return s.n + 3 }),
		seconds(ready))
}

// ready is when a pod became ready, which each change says anew.
func ready(s state) int { return s.n + readyAfter + s.changes }

const readyAfter = 9

// unique are the fields that are texts.
func (m *podMaker) unique() []field {
	return []field{
		text(m.name),
		text(func(dst []byte, s state) []byte { return uid(dst, s.n, forUID) }),
		text(version),
		text(func(dst []byte, s state) []byte { return node(append(dst, "ip-10-0-"...), s.n, '-') }),
		text(func(dst []byte, s state) []byte { return node(append(dst, "10.0."...), s.n, '.') }),
		text(podIP),
		text(token),
		text(func(dst []byte, s state) []byte { return appendHex(dst, 64, s.n, forFirstContainer) }),
		text(func(dst []byte, s state) []byte { return appendHex(dst, 64, s.n, forSecondContainer) }),
	}
}

// pod returns a state of a pod, decoded.
func (m *podMaker) pod(s state) *corev1.Pod {
	p := m.prototype.DeepCopy()
	birth := p.CreationTimestamp.Time
	replaced := m.replacer(p, s)
	own := m.own(s.n / m.group)
	walk(reflect.ValueOf(p).Elem(), func(old string) string {
		if text := replaced.Replace(old); text != old {
			return text
		}
		return own(old)
	}, func(t *metav1.Time) {
		after := int(t.Sub(birth) / time.Second)
		unix := s.n + after
		if after == readyAfter {
			unix = ready(s)
		}
		*t = metav1.Unix(epoch+int64(unix), 0)
	})
	m.settings(p, s.n/m.group)
	return p
}

// replacer exchanges the texts of the prototype that are others in another pod.
func (m *podMaker) replacer(p *corev1.Pod, s state) *strings.Replacer {
	set := s.n / m.group
	service, hash := p.Labels["app"], p.Labels["pod-template-hash"]
	status := p.Status.ContainerStatuses
	_, digest, _ := strings.Cut(status[0].ImageID, "sha256:")
	former := []string{
		p.Name, string(p.UID), p.ResourceVersion, strings.TrimSuffix(p.Spec.NodeName, ".ec2.internal"), p.Status.HostIP, p.Status.PodIP,
		p.Spec.Volumes[len(p.Spec.Volumes)-1].Name,
		strings.TrimPrefix(status[0].ContainerID, "containerd://"), strings.TrimPrefix(status[1].ContainerID, "containerd://"),
	}
	var pairs []string
	for i, f := range m.unique() {
		pairs = append(pairs, former[i], string(f(nil, s, false)))
	}
	return strings.NewReplacer(append(pairs,
		digest, hexText(64, set, forImage),
		p.Annotations["checksum/config"], hexText(32, set, forConfig),
		string(p.OwnerReferences[0].UID), string(uid(nil, set, forReplicaSetUID)),
		hash, hexText(10, set, forReplicaSet),
		service, "service-"+strconv.Itoa(set),
		p.Namespace, m.namespace(set),
	)...)
}

// own makes the other texts of lone pods unique: their last digits become
// random. Short ones are words of the API.
func (m *podMaker) own(set int) func(string) string {
	const short, random = 12, 8
	count := 0
	return func(old string) string {
		if !m.lone || len(old) < short {
			return old
		}
		count++
		return old[:len(old)-random] + hexText(random, set, forText+count)
	}
}

// settings gives a ReplicaSet's main container its environment.
func (m *podMaker) settings(p *corev1.Pod, set int) {
	env := p.Spec.Containers[0].Env
	for i := range env {
		number, is := strings.CutPrefix(env[i].Name, "SETTING_")
		if !is {
			continue
		}
		number, _, _ = strings.Cut(number, "_")
		env[i].Name = "SETTING_" + number + "_" + hexText(2, set, forSetting+2*i)
		env[i].Value = "value-" + hexText(16, set, forSetting+2*i+1) + "-of-service-" + strconv.Itoa(set)
	}
}
