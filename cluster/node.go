package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// createNodes creates the nodes and waits until pods can be scheduled to them: kwok
// makes them ready, and the controllers take away the taint of a new node.
func (c *Cluster) createNodes(ctx context.Context) error {
	if c.options.Nodes == 0 {
		return nil
	}
	config := c.Config()
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	defer transport.CloseIdleConnections()
	client, err := kubernetes.NewForConfigAndClient(config, transport)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	for i := range c.options.Nodes {
		if _, err := client.CoreV1().Nodes().Create(ctx, newNode(i), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("cluster: node: %w", err)
		}
	}
	return c.await(ctx, kwokBinary.name, func(ctx context.Context) error {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range nodes.Items {
			if err := usable(&nodes.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// newNode is the i-th node as kwok wants it.
func newNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("32"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			},
		},
		Status: corev1.NodeStatus{Allocatable: room, Capacity: room},
	}
}

// usable says why a node takes no pods.
func usable(node *corev1.Node) error {
	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("node %s has the taint %s", node.Name, node.Spec.Taints[0].Key)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %s is not ready", node.Name)
}
