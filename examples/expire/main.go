// Command expire deletes ConfigMaps when their time is up: the annotation
// "expires" holds it, as 2026-01-02T15:04:05Z.
//
//	hark run configmaps -A --on add,update -- expire
//
// It shows a program that asks to be run again, by the last line that it prints.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// permanent is the exit code that parks the object.
const permanent = 100

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if _, wrong := errors.AsType[*time.ParseError](err); wrong {
			os.Exit(permanent) // trying again does not mend it
		}
		os.Exit(1)
	}
}

// run does what one request asks for.
func run(ctx context.Context, in io.Reader, out io.Writer) error {
	var request struct{ Object *corev1.ConfigMap }
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		return err
	}
	if request.Object == nil || request.Object.Annotations["expires"] == "" {
		return nil
	}
	expires, err := time.Parse(time.RFC3339, request.Object.Annotations["expires"])
	if err != nil {
		return err
	}
	if left := time.Until(expires); left > 0 {
		_, err := fmt.Fprintf(out, "{\"requeueAfter\":%q}\n", left.Round(time.Millisecond)+time.Millisecond)
		return err
	}
	return remove(ctx, request.Object)
}

// remove deletes this very object, not another one of the same name.
func remove(ctx context.Context, object *corev1.ConfigMap) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	err = clients.CoreV1().ConfigMaps(object.Namespace).Delete(ctx, object.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &object.UID},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		fmt.Fprintln(os.Stderr, "deleted")
	}
	return err
}
