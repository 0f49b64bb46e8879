//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The tests of this file start a real control plane, which is built when it is not yet
// in the cache.

// bare are the options of the smallest cluster: an API server and its store.
var bare = Options{NoScheduler: true, NoControllerManager: true, NoKwok: true}

func TestAControlPlaneLivesLikeARealOne(t *testing.T) {
	skipShort(t)
	c := StartWith(t, Options{Nodes: 2, FeatureGates: map[string]bool{"ShardedListAndWatch": true}})
	client := clientFor(t, c.Config())
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Cluster, *kubernetes.Clientset)
	}{
		{"the nodes are there", nodesAreThere},
		{"a pod runs and is deleted", podRunsAndIsDeleted},
		{"a deployment is rolled out and collected", deploymentIsRolledOut},
		{"a namespace is deleted", namespaceIsDeleted},
		{"a user has the rights that are granted", userHasGrantedRights},
		{"the kubeconfig leads to the same server", kubeconfigLeadsToTheServer},
		{"the version is the recipe's", versionIsTheRecipes},
		{"feature gates are on", featureGatesAreOn},
		{"a restart keeps data and rights", restartKeepsDataAndRights},
		{"the controllers go on after a restart", podRunsAndIsDeleted},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c, client) })
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func nodesAreThere(t *testing.T, _ *Cluster, client *kubernetes.Clientset) {
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(nodes.Items); got != 2 {
		t.Errorf("got %d nodes; want 2", got)
	}
	for i := range nodes.Items {
		if err := usable(&nodes.Items[i]); err != nil {
			t.Error(err)
		}
	}
}

func podRunsAndIsDeleted(t *testing.T, _ *Cluster, client *kubernetes.Clientset) {
	pods := client.CoreV1().Pods("default")
	events := watched(t, func(ctx context.Context) (watch.Interface, error) {
		return pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=tmp"})
	})
	if _, err := pods.Create(t.Context(), newPod("tmp"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, events, func(e watch.Event) bool {
		pod := e.Object.(*corev1.Pod)
		return pod.Status.Phase == corev1.PodRunning && pod.Spec.NodeName != "" && pod.Status.PodIP != ""
	})
	if err := pods.Delete(t.Context(), "tmp", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, events, func(e watch.Event) bool { return e.Type == watch.Deleted })
	if _, err := pods.Get(t.Context(), "tmp", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: got %v; want not found", err)
	}
}

func deploymentIsRolledOut(t *testing.T, _ *Cluster, client *kubernetes.Clientset) {
	const replicas = 5
	deployments := client.AppsV1().Deployments("default")
	pods := watched(t, func(ctx context.Context) (watch.Interface, error) {
		return client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	})
	if _, err := deployments.Create(t.Context(), newDeployment("web", replicas), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	running := map[string]bool{}
	await(t, pods, func(e watch.Event) bool {
		pod := e.Object.(*corev1.Pod)
		if pod.Status.Phase == corev1.PodRunning {
			running[pod.Name] = true
		}
		return len(running) == replicas
	})
	if err := deployments.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, pods, func(e watch.Event) bool {
		if e.Type == watch.Deleted {
			delete(running, e.Object.(*corev1.Pod).Name)
		}
		return len(running) == 0
	})
}

func namespaceIsDeleted(t *testing.T, _ *Cluster, client *kubernetes.Clientset) {
	namespaces := client.CoreV1().Namespaces()
	events := watched(t, func(ctx context.Context) (watch.Interface, error) {
		return namespaces.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=short"})
	})
	short := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short"}}
	if _, err := namespaces.Create(t.Context(), short, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	inside := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inside"}}
	if _, err := client.CoreV1().ConfigMaps("short").Create(t.Context(), inside, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := namespaces.Delete(t.Context(), "short", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, events, func(e watch.Event) bool { return e.Type == watch.Deleted })
}

func userHasGrantedRights(t *testing.T, c *Cluster, client *kubernetes.Clientset) {
	for _, who := range []struct {
		config  *rest.Config
		subject rbacv1.Subject
	}{
		{c.ConfigFor("jane"), rbacv1.Subject{Kind: "User", Name: "jane", APIGroup: rbacv1.GroupName}},
		{c.ConfigFor("joe", "devs"), rbacv1.Subject{Kind: "Group", Name: "devs", APIGroup: rbacv1.GroupName}},
	} {
		user := clientFor(t, who.config)
		if _, err := user.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("%s without rights: got %v; want forbidden", who.subject.Name, err)
		}
		if _, err := user.Discovery().ServerVersion(); err != nil {
			t.Errorf("%s: discovery: %v", who.subject.Name, err)
		}
		grantView(t, client, who.subject)
		eventually(t, func() error {
			_, err := user.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
			return err
		})
		if _, err := user.CoreV1().Pods("default").Create(t.Context(), newPod("x"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("%s creates a pod: got %v; want forbidden", who.subject.Name, err)
		}
	}
}

func grantView(t *testing.T, client *kubernetes.Clientset, subject rbacv1.Subject) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "view-" + subject.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{subject},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func kubeconfigLeadsToTheServer(t *testing.T, c *Cluster, _ *kubernetes.Clientset) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := c.WriteKubeconfig(file); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clientFor(t, config).CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the administrator's: %v", err)
	}
	config, err = clientcmd.RESTConfigFromKubeConfig(c.Kubeconfig("nobody"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clientFor(t, config).CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a stranger's: got %v; want forbidden", err)
	}
}

func versionIsTheRecipes(t *testing.T, _ *Cluster, client *kubernetes.Clientset) {
	got, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if want := BuiltVersions().Kubernetes; got.GitVersion != want || got.Major+"."+got.Minor != "1.37" {
		t.Errorf("got %s (%s.%s); want %s (1.37)", got.GitVersion, got.Major, got.Minor, want)
	}
}

func featureGatesAreOn(t *testing.T, c *Cluster, _ *kubernetes.Clientset) {
	const want = `kubernetes_feature_enabled{name="ShardedListAndWatch",stage="ALPHA"} 1`
	if metrics := get(t, c.Config(), c.URL()+"/metrics"); !strings.Contains(metrics, want) {
		t.Errorf("the server's metrics do not have %s", want)
	}
}

func restartKeepsDataAndRights(t *testing.T, c *Cluster, client *kubernetes.Clientset) {
	grantView(t, client, rbacv1.Subject{Kind: "User", Name: "kim", APIGroup: rbacv1.GroupName})
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "note"}, Data: map[string]string{"a": "1"}}
	written, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), note, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	user := clientFor(t, c.ConfigFor("kim"))
	url := c.URL()
	for range 3 {
		if err := c.RestartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		// At once: RBAC holds for others than the administrator too.
		got, err := user.CoreV1().ConfigMaps("default").Get(t.Context(), "note", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.UID != written.UID || got.ResourceVersion != written.ResourceVersion || got.Data["a"] != "1" {
			t.Errorf("got %v; want %v", got, written)
		}
		if c.URL() != url {
			t.Errorf("got address %s; want %s as before", c.URL(), url)
		}
	}
}

func TestTheAPIServerCanCrashAndStopAndStartAgain(t *testing.T) {
	skipShort(t)
	c := StartWith(t, bare)
	client := clientFor(t, c.Config())
	for name, end := range map[string]func(context.Context) error{"kill": c.KillAPIServer, "stop": c.StopAPIServer} {
		events := watched(t, func(ctx context.Context) (watch.Interface, error) {
			return client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
		})
		if err := end(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range events { // until the watch has ended, which both ways bring about
		}
		if _, err := client.Discovery().ServerVersion(); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: got %v; want connection refused", name, err)
		}
		if err := end(t.Context()); err != nil {
			t.Errorf("%s of a server that is down: %v", name, err)
		}
		if err := c.RestartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Discovery().ServerVersion(); err != nil {
			t.Errorf("%s and start again: %v", name, err)
		}
	}
	if err := c.Err(); err != nil {
		t.Errorf("ends that were asked for count as failures: %v", err)
	}
}

func TestARestartForgetsWatchesAndACompactionListsToo(t *testing.T) {
	skipShort(t)
	c := StartWith(t, bare)
	maps := clientFor(t, c.Config()).CoreV1().ConfigMaps("default")
	create := func(name string) {
		t.Helper()
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		create(fmt.Sprintf("before-%d", i))
	}
	page, err := maps.List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil || page.Continue == "" {
		t.Fatalf("got token %q, %v; want a list to be continued", page.Continue, err)
	}
	create("after")
	if err := c.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: page.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if event := <-w.ResultChan(); !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
		t.Errorf("a watch from before the restart: got %v; want expired", event)
	}
	next := metav1.ListOptions{Limit: 1, Continue: page.Continue}
	if _, err := maps.List(t.Context(), next); err != nil {
		t.Errorf("a list continued from before the restart: %v", err)
	}
	for range 2 { // once more has nothing to do
		if err := c.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := maps.List(t.Context(), next); !apierrors.IsResourceExpired(err) {
		t.Errorf("a list continued from before the compaction: got %v; want expired", err)
	}
	if all, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil || len(all.Items) != 4 {
		t.Errorf("got %d objects, %v; want the 4 that were written", len(all.Items), err)
	}
}

func TestAServerThatEndsByItselfIsReported(t *testing.T) {
	skipShort(t)
	c := StartWith(t, bare)
	p := c.process(apiserverBinary.name)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	got, ok := errors.AsType[*ServerError](c.Err())
	if !ok || got.Server != "kube-apiserver" || got.Log == "" {
		t.Errorf("got %v; want the API server's end, with its log", c.Err())
	}
	if err := c.RestartAPIServer(t.Context()); !errors.Is(err, got) {
		t.Errorf("restarting in a cluster that failed: got %v; want its failure", err)
	}
}

func TestAStartThatFailsShowsTheLog(t *testing.T) {
	skipShort(t)
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"an unknown feature gate": {Options{FeatureGates: map[string]bool{"NoSuchGate": true}}, "unrecognized feature gate: NoSuchGate"},
		"an unknown flag":         {Options{APIServerArgs: []string{"--no-such-flag"}}, "unknown flag: --no-such-flag"},
	} {
		test.options.TempDir = t.TempDir()
		_, err := New(t.Context(), test.options)
		failed, ok := errors.AsType[*ServerError](err)
		if !ok || failed.Server != "kube-apiserver" || !strings.Contains(failed.Log, test.want) {
			t.Errorf("%s: got %v; want the API server's log to say %q", name, err, test.want)
		}
		if left := runDirs(t, test.options.TempDir); len(left) > 0 {
			t.Errorf("%s: %v are left", name, left)
		}
	}
}

func TestAStartThatTakesTooLongIsGivenUp(t *testing.T) {
	skipShort(t)
	o := bare
	o.StartTimeout, o.TempDir = time.Nanosecond, t.TempDir()
	_, err := New(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "not ready within 1ns") {
		t.Errorf("got %v; want the time that was allowed", err)
	}
	if left := runDirs(t, o.TempDir); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestCloseInterruptsARestart(t *testing.T) {
	skipShort(t)
	c := StartWith(t, bare)
	c.process(etcdBinary.name).kill() // so that the API server does not get ready
	restarted := make(chan error, 1)
	go func() { restarted <- c.RestartAPIServer(t.Context()) }()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-restarted; !errors.Is(err, ErrClosed) {
		t.Errorf("restart: got %v; want %v", err, ErrClosed)
	}
	if err := c.KillAPIServer(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("kill after close: got %v; want %v", err, ErrClosed)
	}
}

func TestNothingIsLeftAfterClose(t *testing.T) {
	skipShort(t)
	temp := t.TempDir()
	c, err := New(t.Context(), Options{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(c.processes); got != 5 {
		t.Errorf("got %d processes; want 5", got)
	}
	var pids []int
	for _, p := range c.processes {
		pids = append(pids, p.cmd.Process.Pid)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d: got %v; want no such process", pid, err)
		}
	}
	if got := namesIn(t, temp); len(got) > 0 {
		t.Errorf("%v are left", got)
	}
	if _, err := (&http.Client{}).Get(c.URL()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the port: got %v; want connection refused", err)
	}
}

func TestLogsOutliveTheClusterWhenAskedFor(t *testing.T) {
	skipShort(t)
	o := bare
	o.LogDir = filepath.Join(t.TempDir(), "logs")
	c := StartWith(t, o)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"etcd.log", "kube-apiserver.log"} {
		if tailOfFile(filepath.Join(o.LogDir, name)) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}

func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
}

func clientFor(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := kubernetes.NewForConfigAndClient(config, transport)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func get(t *testing.T, config *rest.Config, url string) string {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, response.Status, err)
	}
	return string(body)
}

// watched opens a watch that ends with the test.
func watched(t *testing.T, open func(context.Context) (watch.Interface, error)) <-chan watch.Event {
	t.Helper()
	w, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w.ResultChan()
}

// await reads events until one is wanted.
func await(t *testing.T, events <-chan watch.Event, wanted func(watch.Event) bool) {
	t.Helper()
	for event := range events {
		if event.Type == watch.Error {
			t.Fatal(apierrors.FromObject(event.Object))
		}
		if wanted(event) {
			return
		}
	}
	t.Fatal("the watch ended before what was waited for")
}

// eventually asks until there is no error: what a server's caches have taken in cannot
// be watched.
func eventually(t *testing.T, ask func() error) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ask() != nil {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(ask())
		}
	}
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: podSpec()}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}}
}

func newDeployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()},
		},
	}
}
