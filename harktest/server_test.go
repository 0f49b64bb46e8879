package harktest_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}},
	}
}

func TestClientsetReadsWhatItWrote(t *testing.T) {
	server := harktest.Start(t)
	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	created, err := client.CoreV1().Pods("default").Create(context.Background(), pod("", "a"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.CoreV1().Pods("default").Get(context.Background(), "a", metav1.GetOptions{})
	if err != nil || got.UID != created.UID {
		t.Fatalf("%v %v", got, err)
	}
	list, err := client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%v %v", list, err)
	}
}
