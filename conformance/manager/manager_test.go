package manager

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/gocampus/hark/harktest"
)

// ownedMap is a controller as controller-runtime's users write them: for each
// Deployment it keeps a ConfigMap that the Deployment owns, with a finalizer on
// the Deployment and the replicas written to the map.
type ownedMap struct{ client.Client }

func (r *ownedMap) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	d := &appsv1.Deployment{}
	if err := r.Get(ctx, request.NamespacedName, d); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	const finalizer = "example.com/map"
	if !d.DeletionTimestamp.IsZero() {
		controllerutil.RemoveFinalizer(d, finalizer)
		return ctrl.Result{}, r.Update(ctx, d)
	}
	if controllerutil.AddFinalizer(d, finalizer) {
		return ctrl.Result{}, r.Update(ctx, d)
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, m, func() error {
		m.Data = map[string]string{"generation": d.ResourceVersion}
		return controllerutil.SetControllerReference(d, m, r.Scheme())
	})
	return ctrl.Result{}, err
}

// TestAControllerRuntimeManagerRunsOnHarktest, unmodified: its cache, client,
// controller and finalizer, through a restart of the server.
func TestAControllerRuntimeManagerRunsOnHarktest(t *testing.T) {
	log.SetLogger(logr.Discard())
	server := harktest.Start(t)
	again := true // a second play in this process has a controller of the same name
	manager, err := ctrl.NewManager(server.Config(), ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &again},
	})
	if err != nil {
		t.Fatal(err)
	}
	reconciler := &ownedMap{manager.GetClient()}
	if err := ctrl.NewControllerManagedBy(manager).For(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Complete(reconciler); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()

	labels := map[string]string{"app": "web"}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.27"}}},
			},
		},
	}
	must(t, server.Create(ctx, web))
	await(ctx, t, server, "web", func(m *corev1.ConfigMap) bool { return m != nil && len(m.OwnerReferences) == 1 })

	// The map is deleted: the controller hears of it and makes it again.
	must(t, server.Delete(ctx, configMap("web")))
	await(ctx, t, server, "web", func(m *corev1.ConfigMap) bool { return m != nil })

	// The server restarts and has forgotten the past.
	server.Restart(harktest.RestartOptions{Forget: true})
	must(t, server.Delete(ctx, configMap("web")))
	await(ctx, t, server, "web", func(m *corev1.ConfigMap) bool { return m != nil })

	// The finalizer is removed, and the Deployment goes.
	must(t, server.Delete(ctx, web.DeepCopy()))
	for server.Get(ctx, web.DeepCopy()) == nil {
		if ctx.Err() != nil {
			t.Fatal("the Deployment is still there: its finalizer was not removed")
		}
		<-time.After(10 * time.Millisecond)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the manager ended with %v", err)
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// await waits until a ConfigMap is as wished; nil means that there is none.
func await(ctx context.Context, t *testing.T, server *harktest.Server, name string, wish func(*corev1.ConfigMap) bool) {
	t.Helper()
	for {
		m := configMap(name)
		if err := server.Get(ctx, m); err != nil {
			m = nil
		}
		if wish(m) {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("config map %s did not become as wished: %v", name, m)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
