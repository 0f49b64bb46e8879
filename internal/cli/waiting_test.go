package cli

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/kube"
)

const forbiddenPods = `pods is forbidden: User "dev" cannot list resource "pods" in API group "" in the namespace "default"`

func TestAMissingPermissionIsSaidAndWaitedFor(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createPod("a")
	lift := c.Inject(harktest.Fault{Resource: "pods", Code: 403, Message: forbiddenPods})
	hark := c.watch("pods")
	hark.says("Pod: no permission; trying again until there is: ")
	hark.says(forbiddenPods + "\n" +
		"try: kubectl auth can-i list pods -n default\n")
	lift()
	hark.prints("Added    default/a\n")
	hark.says("Pod: back to normal")
	if code := hark.interrupt(); code != exitDone {
		t.Errorf("exit %d; want 0", code)
	}
	if said := strings.Count(hark.err.String(), "no permission"); said != 1 {
		t.Errorf("said %d times:\n%s", said, hark.err)
	}
}

var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

func (c *cluster) createWidget(name string) {
	c.t.Helper()
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(widget)
	w.SetNamespace("default")
	w.SetName(name)
	c.do(c.Create(c.t.Context(), w))
}

func TestAResourceThatAppearsLaterIsWaitedFor(t *testing.T) {
	for _, args := range [][]string{{"widgets.example.com"}, {"widgets.v1.example.com"}, {"widgets", "--wait"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			c := newCluster(t, harktest.Options{})
			hark := c.watch(args...)
			hark.says("waiting for the resource type " + args[0] + `: the server doesn't have a resource type "widgets"`)
			c.do(c.Register(harktest.Kind{GroupVersionKind: widget}))
			hark.says("the server has the resource type " + args[0] + " now\n")
			c.createWidget("w")
			hark.prints("Added    default/w\n")
			if code := hark.interrupt(); code != exitDone {
				t.Errorf("exit %d; want 0", code)
			}
		})
	}
}

func TestKindsThatAreThereDoNotWaitForOthers(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createPod("a")
	hark := c.watch("pods,widgets.example.com,widget.example.com")
	hark.prints("Added    Pod default/a\n")
	c.do(c.Register(harktest.Kind{GroupVersionKind: widget}))
	hark.says("widget.example.com now\n")
	hark.says("widgets.example.com now\n")
	c.createWidget("w")
	hark.prints("Added    Widget default/w\n")
	for _, later := range []string{"x", "y", "z"} { // time for a second line on w
		c.createWidget(later)
		hark.prints("default/" + later + "\n")
	}
	hark.interrupt()
	if told := strings.Count(hark.out.String(), "default/w\n"); told != 1 {
		t.Errorf("one widget, asked for under two names, is told of %d times", told)
	}
}

func TestAPlainlyUnknownTypeIsAnError(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods,x")
	if code := hark.exit(); code != exitError {
		t.Errorf("exit %d; want 1", code)
	}
	want := "error: the server doesn't have a resource type \"x\"\n" +
		"try: kubectl api-resources, or --wait to wait until the server has it\n"
	if hark.err.String() != want || hark.out.String() != "" {
		t.Errorf("stderr %q, stdout %q; want %q", hark.err, hark.out, want)
	}
}

func TestATypeThatCanNeverComeIsNotWaitedFor(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	for args, want := range map[string]string{
		"all":             "error: the server doesn't have a resource type \"all\"\ntry: hark watch pods,services,deployments,",
		"all --wait":      "error: the server doesn't have a resource type \"all\"\ntry: hark watch pods,services,deployments,",
		"pods.v1":         "error: the server doesn't have a resource type \"pods\" in group \"v1\"\ntry: hark watch pods, or pods.v1. with a dot",
		"pods.v1 --wait":  "error: the server doesn't have a resource type \"pods\" in group \"v1\"\ntry: hark watch pods, or pods.v1. with a dot",
		"gadgets.apps":    "error: the server doesn't have a resource type \"gadgets\" in group \"apps\"\ntry: kubectl api-resources",
		"gadgets.v1.apps": "error: the server doesn't have a resource type \"gadgets\" in group \"v1.apps\"\ntry: kubectl api-resources",
	} {
		hark := c.watch(strings.Fields(args)...)
		if code := hark.exit(); code != exitError || !strings.HasPrefix(hark.err.String(), want) {
			t.Errorf("%s: exit %d, %q; want %q", args, code, hark.err, want)
		}
	}
}

func TestNothingIsWaitedForWithNoWait(t *testing.T) {
	for args, want := range map[string]string{
		"pods": forbiddenPods + "\ntry: kubectl auth can-i list pods -n default\n",
		"widgets.example.com": "error: the server doesn't have a resource type \"widgets\" in group \"example.com\"\n" +
			"try: kubectl api-resources, or --wait to wait until the server has it\n",
		"deploy/web": "Error from server (NotFound): deployments.apps \"web\" not found\n",
	} {
		c := newCluster(t, harktest.Options{})
		c.Inject(harktest.Fault{Resource: "pods", Code: 403, Message: forbiddenPods})
		hark := c.watch(args, "--no-wait")
		if code := hark.exit(); code != exitError || !strings.HasSuffix(hark.err.String(), want) {
			t.Errorf("%s: exit %d, %q; want %q", args, code, hark.err, want)
		}
	}
}

func TestNoWaitStillReconnects(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods", "--no-wait")
	c.createPod("a")
	hark.prints("default/a")
	up := c.GoDown()
	hark.says("Pod: the connection is lost, reconnecting: ")
	c.do(up())
	c.createPod("b")
	hark.prints("default/b")
}

func TestManagedFieldsAreShownWhereAsked(t *testing.T) {
	c := newCluster(t, harktest.Options{TrackManagedFields: true})
	without, with := c.watch("pods", "-o", "json"), c.watch("pods", "-o", "json", "--show-managed-fields")
	c.createPod("a")
	without.prints("\n")
	with.prints("\n")
	if strings.Contains(without.out.String(), "managedFields") || !strings.Contains(with.out.String(), "managedFields") {
		t.Errorf("without:\n%s\nwith:\n%s", without.out, with.out)
	}
}

func TestAKindThatCannotBeWatchedIsAnError(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("tokenreviews")
	if code := hark.exit(); code != exitError || !strings.Contains(hark.err.String(), "(MethodNotAllowed)") ||
		!strings.HasSuffix(hark.err.String(), "try: kubectl api-resources --verbs=list,watch\n") {
		t.Errorf("exit %d: %s", code, hark.err)
	}
}

func TestANamespaceThatDoesNotExistIsAnErrorOrWaitedFor(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods", "-n", "shop")
	if code := hark.exit(); code != exitError {
		t.Errorf("exit %d; want 1", code)
	}
	want := "Error from server (NotFound): namespaces \"shop\" not found\n" +
		"try: kubectl get namespaces, or --wait to wait until it exists\n"
	if hark.err.String() != want {
		t.Errorf("stderr %q; want %q", hark.err, want)
	}

	hark = c.watch("pods", "-n", "shop", "--wait")
	hark.says("waiting for the namespace shop: it does not exist yet\n")
	c.do(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}))
	hark.says("the namespace shop exists now\nWatching Pod events in namespace=shop")
	p := pod("a")
	p.Namespace = "shop"
	c.do(c.Create(t.Context(), p))
	hark.prints("Added    shop/a\n")
}

func TestOneWhoMayNotLookAtNamespacesIsTakenAtHisWord(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.Inject(harktest.Fault{Resource: "namespaces", Code: 403})
	hark := c.watch("pods", "-n", "shop")
	hark.says("Watching Pod events in namespace=shop")
}

func TestANameThatDoesNotExistIsWaitedFor(t *testing.T) {
	for _, args := range [][]string{{"pod/tmp"}, {"pods", "tmp"}} {
		c := newCluster(t, harktest.Options{})
		c.createPod("other")
		hark := c.watch(args...)
		hark.says("Watching Pod/tmp events in namespace=default, Ctrl+C to quit\nwaiting for pods/tmp: it does not exist yet\n")
		c.createPod("tmp")
		hark.prints("Added    default/tmp\n")
		c.setPhase("other", corev1.PodRunning)
		c.setPhase("tmp", corev1.PodRunning)
		hark.prints("Modified default/tmp phase=Running\n")
		hark.interrupt()
		if strings.Contains(hark.out.String(), "other") {
			t.Errorf("another pod is told of:\n%s", hark.out)
		}
	}
}

func TestSelectorsThatAreWrongAreRefusedAsKubectlDoes(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	for _, test := range []struct{ args, want string }{
		{"pods -l a=b=c", `Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "a=b=c", ` +
			`field selector "": found '=', expected: ',' or 'end of string'` + "\ntry: -l app=web, "},
		{"deploy --field-selector x", `Error from server (BadRequest): Unable to find "apps/v1, Resource=deployments" that match ` +
			`label selector "", field selector "x": invalid selector: 'x'; can't understand 'x'` + "\ntry: --field-selector metadata.name=NAME"},
		{"pods --field-selector spec.colour=red", `Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match ` +
			`label selector "", field selector "spec.colour=red": field label not supported: spec.colour` + "\ntry: --field-selector metadata.name=NAME"},
		{"pods,widgets.example.com -l a=b=c", `Error from server (BadRequest): Unable to find "/v1, Resource=pods" that`},
		{"widgets.example.com -l a=b=c", "error: found '=', expected: ',' or 'end of string'\ntry: -l app=web, "},
	} {
		hark := c.watch(strings.Fields(test.args)...)
		if code := hark.exit(); code != exitError {
			t.Errorf("%s: exit %d; want 1", test.args, code)
		}
		// A type that does not exist yet is told of first.
		_, said, _ := strings.Cut("\n"+hark.err.String(), "\n"+test.want[:5])
		if said = test.want[:5] + said; !strings.HasPrefix(said, test.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", test.args, hark.err, test.want)
		}
	}
}

func TestCredentialsThatAreRefusedAtFirstAreAnError(t *testing.T) {
	for _, resource := range []string{"pods", ""} { // "" is discovery, too
		c := newCluster(t, harktest.Options{})
		c.Inject(harktest.Fault{Resource: resource, Code: 401})
		hark := c.watch("pods")
		if code := hark.exit(); code != exitError {
			t.Errorf("exit %d; want 1", code)
		}
		if !strings.Contains(hark.err.String(), "error: You must be logged in to the server (Unauthorized)\ntry: ") {
			t.Errorf("stderr:\n%s", hark.err)
		}
	}
}

func TestCredentialsThatExpireLaterAreWaitedFor(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods")
	c.createPod("a")
	hark.prints("default/a")
	lift := c.Inject(harktest.Fault{Resource: "pods", Code: 401})
	c.CloseWatches()
	hark.says("Pod: the server does not accept the credentials, trying again: ")
	c.createPod("b")
	lift()
	hark.prints("Added    default/b\n")
}

func TestAnObjectThatCannotBeReadIsSaidAndLeftOut(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods")
	c.createPod("a")
	hark.prints("default/a")
	c.nextWatch(harktest.Fault{MalformedEvent: true})
	c.createPod("bad")
	c.createPod("good")
	hark.prints("default/good\n")
	hark.says("Pod: an object cannot be read and is left out: ")
}

func TestForEndsWith0(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods", "--for", "50ms")
	if code := hark.exit(); code != exitDone {
		t.Errorf("exit %d; want 0\n%s", code, hark.err)
	}
	waiting := c.watch("widgets.example.com", "--for", "50ms")
	if code := waiting.exit(); code != exitDone {
		t.Errorf("exit %d while waiting; want 0\n%s", code, waiting.err)
	}
}

func TestAReaderThatGoesAwayEndsTheWatchQuietly(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods")
	c.createPod("a")
	hark.prints("default/a")
	hark.out.fail(syscall.EPIPE)
	before := hark.err.String()
	c.createPod("b")
	if code := hark.exit(); code != exitDone || hark.err.String() != before {
		t.Errorf("exit %d; stderr:\n%s", code, hark.err)
	}
}

func TestAFullDiskEndsTheWatchWithAnError(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods")
	hark.says("Watching")
	hark.out.fail(errors.New("no space left on device"))
	c.createPod("a")
	if code := hark.exit(); code != exitError || !strings.HasSuffix(hark.err.String(), "error: no space left on device\n") {
		t.Errorf("exit %d; stderr:\n%s", code, hark.err)
	}
}

// A server that accepts connections and never answers is given up in time.
func TestASilentServerIsGivenUpWithin10Seconds(t *testing.T) {
	client, err := kube.New(&rest.Config{Host: "http://127.0.0.1:9"}, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		_, err := briefly(t.Context(), client, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		})
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("given up after %s", took)
		}
		inChinese := newSession(Process{Args: []string{"hark", "--lang", "zh"}, Getenv: environment(nil).get})
		if f := inChinese.failureOf(err); f.message != "Unable to connect to the server: 127.0.0.1:9: 8s 内没有应答" {
			t.Errorf("in Chinese: %q", f.message)
		}
		s := newSession(Process{Args: []string{"hark"}, Getenv: environment(nil).get})
		f := s.failureOf(err)
		if want := "Unable to connect to the server: 127.0.0.1:9: no answer within 8s"; f.message != want || f.code != exitError || f.try == "" {
			t.Errorf("failure %+v; want %q", f, want)
		}
	})
}
