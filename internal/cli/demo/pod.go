package demo

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
)

// showPods prints what happens to pods, from now to the end.
func (p *play) showPods(ctx context.Context, h *helpers) error {
	kind, err := kube.KindOf[corev1.Pod](ctx, p.client)
	if err != nil {
		return err
	}
	return p.show(ctx, h, kind, printer.Options{})
}

// podLife is the chapter's section 4: a pod is created, becomes Pending and
// Running, and is deleted.
func (p *play) podLife(ctx context.Context, _ *helpers) error {
	const image = "nginx:1.27"
	tmp := key.Key{Namespace: namespace, Name: "tmp"}
	p.screen.title(text.DemoPodTitle)
	p.screen.say(text.WatchingNamespace, "kinds", "Pod", "namespace", namespace)
	p.pause(ctx)

	running := p.audience.expect(func(e informer.Event) bool {
		return e.Key == tmp && e.Type == watch.EventModified && phaseOf(e) == corev1.PodRunning
	})
	p.screen.typed("kubectl run tmp --image=" + image)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: tmp.Name, Labels: map[string]string{"run": tmp.Name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: tmp.Name, Image: image}}},
	}
	if _, err := p.api.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := p.await(ctx, running); err != nil {
		return err
	}
	p.pause(ctx)

	gone := p.audience.expect(func(e informer.Event) bool { return e.Key == tmp && e.Type == watch.EventDeleted })
	p.screen.typed("kubectl delete pod tmp")
	if err := p.api.CoreV1().Pods(namespace).Delete(ctx, tmp.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := p.await(ctx, gone); err != nil {
		return err
	}
	p.screen.say(text.DemoPodDone)
	return nil
}

// phaseOf decodes the newest state of a pod's event; "" when there is none.
func phaseOf(e informer.Event) corev1.PodPhase {
	if e.New == nil {
		return ""
	}
	pod, err := kube.As[corev1.Pod](e.New)
	if err != nil {
		return ""
	}
	return pod.Status.Phase
}
