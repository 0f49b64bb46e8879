package demo

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/cli/follow"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
)

const (
	wantedReplicas = 3
	firstReplicas  = 1
)

// controller creates a Deployment with a single replica and, when that is ready,
// starts a controller that wants three of each. The controller stays at work.
func (p *play) controller(ctx context.Context, h *helpers) error {
	web := key.Key{Namespace: namespace, Name: "web"}
	p.screen.title(text.DemoControllerTitle, "wanted", strconv.Itoa(wantedReplicas), "namespace", namespace,
		"key", web.String(), "replicas", strconv.Itoa(firstReplicas))
	kind, err := kube.KindOf[appsv1.Deployment](ctx, p.client)
	if err != nil {
		return err
	}
	if err := p.show(ctx, h, kind, printer.Options{ShowKind: true, Kinds: []printer.Kind{follow.PrintedKind(kind)}}); err != nil {
		return err
	}
	haveReady := func(replicas int32) <-chan struct{} {
		return p.audience.expect(func(e informer.Event) bool { return e.Key == web && readyReplicas(e) == replicas })
	}
	ready := haveReady(firstReplicas)
	p.screen.typed("kubectl create deployment web --image=nginx:1.27")
	if _, err := p.api.AppsV1().Deployments(namespace).Create(ctx, deployment(web.Name), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := p.await(ctx, ready); err != nil {
		return err
	}
	p.pause(ctx)

	ready = haveReady(wantedReplicas)
	p.screen.stamped(text.DemoControllerStarts)
	s := &scaler{play: p, kind: kind, scaled: map[key.Key]bool{}}
	scaling := hark.New(p.client, hark.Options[appsv1.Deployment]{
		Name: "three-replicas", Namespace: namespace, Reconcile: s.reconcile,
		Logger: slog.New(slog.DiscardHandler), // the screen tells
	})
	h.start(ctx, scaling.Run)
	return p.await(ctx, ready)
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(firstReplicas)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1.27"}}},
			},
		},
	}
}

// readyReplicas decodes the newest state of a Deployment's event; -1 when there
// is none.
func readyReplicas(e informer.Event) int32 {
	if e.New == nil {
		return -1
	}
	d, err := kube.As[appsv1.Deployment](e.New)
	if err != nil {
		return -1
	}
	return d.Status.ReadyReplicas
}

// scaler is the controller's work: it makes the API have what is wanted.
type scaler struct {
	play *play
	kind kube.Kind

	mu     sync.Mutex
	scaled map[key.Key]bool // and not yet seen to be in order
}

func (s *scaler) reconcile(ctx context.Context, k key.Key, d *appsv1.Deployment) (hark.Result, error) {
	if d == nil {
		s.note(k, false)
		return hark.Result{}, nil // deleted: nothing to bring in order
	}
	// Its informer and the one that prints are two: the state that it acts upon
	// shall be on the screen before what it says of it.
	if version, err := strconv.ParseUint(d.ResourceVersion, 10, 64); err == nil {
		s.play.stage.shown.wait(ctx, s.kind.GVR, version)
	}
	replicas := ptr.Deref(d.Spec.Replicas, 1) // an absent number means 1
	if replicas >= wantedReplicas {
		if s.note(k, false) {
			s.play.screen.stamped(text.DemoInOrder, "key", k.String(), "replicas", fmt.Sprint(replicas))
		}
		return hark.Result{}, nil
	}
	s.play.screen.stamped(text.DemoScaling, "key", k.String(), "replicas", fmt.Sprint(replicas), "wanted", strconv.Itoa(wantedReplicas))
	d.Spec.Replicas = new(int32(wantedReplicas)) // decoded for this run alone
	if _, err := s.play.api.AppsV1().Deployments(k.Namespace).Update(ctx, d, metav1.UpdateOptions{}); err != nil {
		// Most likely somebody wrote the status meanwhile; the queue has the key again.
		s.play.screen.stamped(text.DemoRejected, "key", k.String(), "error", err.Error())
		return hark.Result{}, err
	}
	s.note(k, true)
	return hark.Result{}, nil
}

// note remembers whether a key was scaled, and returns whether it was before.
func (s *scaler) note(k key.Key, scaled bool) (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.scaled[k]
	if scaled {
		s.scaled[k] = true
	} else {
		delete(s.scaled, k)
	}
	return before
}
