// Package look looks before a lesson listens.
package look

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// patience bounds the question.
const patience = 5 * time.Second

// Namespace returns what to tell of a namespace that does not exist, and "" for
// one that exists or that cannot be looked at: then listening says why. A list of
// a namespace that does not exist is no error to a server, but empty, for ever.
func Namespace(ctx context.Context, cfg *rest.Config, name string) string {
	transport, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return ""
	}
	defer transport.CloseIdleConnections()
	client, err := kubernetes.NewForConfigAndClient(cfg, transport)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return ""
	}
	return fmt.Sprintf("namespace %s 不存在，会一直等待它出现\ntry: kubectl create namespace %s", name, name)
}
