package harktest_test

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

// A server with one config map, read by client-go. In a test, harktest.Start(t)
// saves the error and the Close.
func ExampleNew() {
	server, err := harktest.New(harktest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	ctx := context.Background()

	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "colours"}, Data: map[string]string{"sky": "blue"}}
	if err := server.Create(ctx, m); err != nil {
		fmt.Println(err)
		return
	}
	client := kubernetes.NewForConfigOrDie(server.Config())
	got, err := client.CoreV1().ConfigMaps("default").Get(ctx, "colours", metav1.GetOptions{})
	fmt.Println(got.Data["sky"], err)
	// Output: blue <nil>
}

// The first two lists of pods are refused; then they are answered.
func ExampleServer_Inject() {
	server, err := harktest.New(harktest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	server.Inject(harktest.Fault{Verb: "list", Resource: "pods", Times: 2, Code: http.StatusForbidden})

	client := kubernetes.NewForConfigOrDie(server.Config())
	for range 3 {
		_, err := client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
		fmt.Println(err)
	}
	for _, r := range server.Requests() {
		fmt.Println(r.Verb, r.Resource, r.Code)
	}
	// Output:
	// pods is forbidden: User "harktest-admin" cannot list resource "pods" in API group "" at the cluster scope
	// pods is forbidden: User "harktest-admin" cannot list resource "pods" in API group "" at the cluster scope
	// <nil>
	// list pods 403
	// list pods 403
	// list pods 200
}
