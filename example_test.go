package hark_test

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
)

// atLeastThree is a complete controller: it watches Deployments, enqueues their
// keys, reads the newest object of a key and calls the API, so that each
// Deployment of the namespace has at least three replicas.
func atLeastThree(ctx context.Context, cfg *rest.Config, namespace string) error {
	client, err := kube.New(cfg, kube.Options{})
	if err != nil {
		return err
	}
	api := kubernetes.NewForConfigOrDie(cfg).AppsV1()
	controller := hark.New(client, hark.Options[appsv1.Deployment]{
		Name:      "at-least-three",
		Namespace: namespace,
		Reconcile: func(ctx context.Context, k key.Key, d *appsv1.Deployment) (hark.Result, error) {
			if d == nil || *d.Spec.Replicas >= 3 { // d is nil when it is gone
				return hark.Result{}, nil
			}
			d.Spec.Replicas = ptr.To[int32](3)
			_, err := api.Deployments(k.Namespace).Update(ctx, d, metav1.UpdateOptions{})
			return hark.Result{}, err // an error is tried again
		},
	})
	return controller.Run(ctx)
}

// The controller brings a Deployment from one replica to three. Against a real
// cluster the configuration comes from kube.LoadConfig.
func Example() {
	server, err := harktest.New(harktest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error)
	go func() { done <- atLeastThree(ctx, server.Config(), "default") }()

	labels := map[string]string{"app": "web"}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.27"}}},
			},
		},
	}
	deployments := kubernetes.NewForConfigOrDie(server.Config()).AppsV1().Deployments("default")
	if _, err := deployments.Create(ctx, web, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
	}
	watching, err := deployments.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for event := range watching.ResultChan() {
		d := event.Object.(*appsv1.Deployment)
		if *d.Spec.Replicas == 3 {
			fmt.Println(d.Name, "has", *d.Spec.Replicas, "replicas")
			break
		}
	}
	watching.Stop()
	stop()
	fmt.Println("ended:", <-done)
	// Output:
	// web has 3 replicas
	// ended: <nil>
}
