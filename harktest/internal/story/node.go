package story

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest/internal/service"
)

// createNodes creates the nodes that do not exist yet.
func (s *Story) createNodes() error {
	k := s.kindOf(corev1.SchemeGroupVersion, "nodes")
	for i, name := range s.options.Nodes {
		err := s.service.Load(service.Target{Kind: k, Name: name}, newNode(name, i))
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

func newNode(name string, index int) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				Message: "kubelet is posting ready status", LastTransitionTime: now(), LastHeartbeatTime: now(),
			}},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: hostIP(index)}, {Type: corev1.NodeHostName, Address: name},
			},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion: "v1.37.2", OperatingSystem: "linux", Architecture: "amd64", OSImage: "harktest",
				KernelVersion: "6.12.0", ContainerRuntimeVersion: "harktest://1.0",
			},
		},
	}
}

func hostIP(index int) string { return fmt.Sprintf("172.18.0.%d", index+2) }

// now is the time as the API writes it.
func now() metav1.Time { return metav1.Time{Time: time.Now().UTC().Truncate(time.Second)} }
