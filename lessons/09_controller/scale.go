package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
)

// minReplicas is the label by which a Deployment says how many replicas it is
// to have at least. Only Deployments with it are looked at.
const minReplicas = "min-replicas"

// errLabel is wrapped by errors that no retry will cure: the label itself must
// be changed.
var errLabel = errors.New("bad label " + minReplicas)

// replicas returns what a Deployment has and what it asks for. It is the whole
// decision of this controller: a function of the object, of nothing else.
func replicas(d *appsv1.Deployment) (have, want int32, err error) {
	have = 1 // what the API means by an absent number
	if d.Spec.Replicas != nil {
		have = *d.Spec.Replicas
	}
	n, err := strconv.ParseUint(d.Labels[minReplicas], 10, 31)
	if err != nil {
		return have, 0, fmt.Errorf("%w: %w", errLabel, err)
	}
	return have, int32(n), nil
}

// scale brings a Deployment in line with its label, and says so in a line. d is
// only read.
//
// It states the version that it has read. If the object has changed since, the
// server answers 409 Conflict, which is an error like others: the next try reads
// the newer version. So an old cache costs a try, and never undoes somebody's
// change.
func scale(ctx context.Context, api appsclient.DeploymentsGetter, d *appsv1.Deployment, print func(line string)) error {
	have, want, err := replicas(d)
	if err != nil || have >= want {
		return err
	}
	_, err = api.Deployments(d.Namespace).UpdateScale(ctx, d.Name, &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name, ResourceVersion: d.ResourceVersion},
		Spec:       autoscalingv1.ScaleSpec{Replicas: want},
	}, metav1.UpdateOptions{})
	if err == nil {
		print(fmt.Sprintf("%s/%s 副本 %d → %d", d.Namespace, d.Name, have, want))
	}
	return err
}

// failure is the line for a run that failed.
func failure(key string, err error, again bool) string {
	if again {
		return fmt.Sprintf("%s 失败，退避后重试: %v", key, err)
	}
	return fmt.Sprintf("%s 搁置，等待变化: %v", key, err)
}
