package harktest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gocampus/hark/harktest"
)

const mergePatch = "application/merge-patch+json"

func podOf(t *testing.T, body string) *corev1.Pod {
	t.Helper()
	var p corev1.Pod
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.Kind != "Pod" {
		t.Fatalf("body is no pod (%v): %s", err, body)
	}
	return &p
}

func TestEphemeralContainersAreAllThatTheirSubresourceChanges(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, pod("default", "a"))
	const path = "/api/v1/namespaces/default/pods/a"
	_, before := request(t, s, http.MethodGet, path, "")
	code, body := request(t, s, http.MethodPut, path+"/"+"ephemeralcontainers", `{"metadata":{"name":"a"}}`)
	if code != http.StatusOK || body != before {
		t.Errorf("PUT of an empty pod = %d %s; want the pod as it was", code, body)
	}
	code, body = request(t, s, http.MethodPatch, path+"/ephemeralcontainers",
		`{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n","ephemeralContainers":[{"name":"debug","image":"busybox"}]}}`, "Content-Type", mergePatch)
	got := podOf(t, body)
	if code != http.StatusOK || len(got.Labels) != 0 || got.Spec.NodeName != "" || got.Generation != 2 || len(got.Spec.EphemeralContainers) != 1 {
		t.Errorf("PATCH = %d %s; want one ephemeral container more, generation 2, and nothing else changed", code, body)
	}
	for body, want := range map[string]string{
		`[{}]`:                               "spec.ephemeralContainers[0].name: Required value",
		`[]`:                                 `existing ephemeral containers "debug" may not be removed`,
		`[{"name":"debug","image":"other"}]`: `existing ephemeral containers "debug" may not be changed`,
		`[{"name":"debug","image":"busybox"},{"name":"main","image":"i"}]`:                                            `spec.ephemeralContainers[1].name: Duplicate value: "main"`,
		`[{"name":"debug","image":"busybox"},{"name":"d","image":"i","targetContainerName":"x"}]`:                     `spec.ephemeralContainers[1].targetContainerName: Not found: "x"`,
		`[{"name":"debug","image":"busybox"},{"name":"d","image":"i","ports":[{"containerPort":80}]}]`:                "ports: Forbidden: cannot be set",
		`[{"name":"debug","image":"busybox"},{"name":"d","image":"i","livenessProbe":{"exec":{}}}]`:                   "livenessProbe: Forbidden: cannot be set",
		`[{"name":"debug","image":"busybox"},{"name":"d","image":"i","resources":{"requests":{"cpu":"1"}}}]`:          "resources: Forbidden: cannot be set",
		`[{"name":"debug","image":"busybox"},{"name":"d","image":"i","volumeMounts":[{"name":"x","mountPath":"/"}]}]`: `Not found: "x"`,
	} {
		code, answer := request(t, s, http.MethodPatch, path+"/ephemeralcontainers", `{"spec":{"ephemeralContainers":`+body+`}}`, "Content-Type", mergePatch)
		if code != http.StatusUnprocessableEntity || !strings.Contains(status(t, answer).Message, want) {
			t.Errorf("ephemeral containers %s = %d %s; want 422 with %q", body, code, answer, want)
		}
	}
}

func TestResourcesAreAllThatAResizeChanges(t *testing.T) {
	s := harktest.Start(t)
	p := pod("default", "a")
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	create(t, s, p)
	const path = "/api/v1/namespaces/default/pods/a/resize"
	patch := func(container string) (int, string) {
		return request(t, s, http.MethodPatch, path, `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"main",`+container+`}]}}`, "Content-Type", "application/strategic-merge-patch+json")
	}
	code, body := request(t, s, http.MethodPut, path, `{"metadata":{"name":"a"}}`)
	if code != http.StatusUnprocessableEntity || !strings.Contains(body, "containers may not be added or removed on resize") {
		t.Errorf("PUT of an empty pod = %d %s; want 422", code, body)
	}
	code, body = patch(`"image":"other","resources":{"requests":{"cpu":"2"}}`)
	got := podOf(t, body)
	c := got.Spec.Containers[0]
	if cpu := c.Resources.Requests.Cpu(); code != http.StatusOK || cpu.String() != "2" || c.Image != "nginx:1.27" || len(got.Labels) != 0 || got.Generation != 2 {
		t.Errorf("resize = %d %s; want 2 cpus, generation 2, and nothing else changed", code, body)
	}
	for container, want := range map[string]string{
		`"resources":{"requests":{"cpu":"-1"}}`:                                     `requests[cpu]: Invalid value: "-1"`,
		`"resources":{"requests":{"cpu":null}}`:                                     "resource requests cannot be removed",
		`"resources":{"requests":{"ephemeral-storage":"1"}}`:                        "only cpu and memory resources are mutable",
		`"resources":{"limits":{"cpu":"2","memory":"2"},"requests":{"memory":"2"}}`: "Pod QOS Class may not change",
	} {
		if code, body := patch(container); code != http.StatusUnprocessableEntity || !strings.Contains(status(t, body).Message, want) {
			t.Errorf("resize to %s = %d %s; want 422 with %q", container, code, body, want)
		}
	}
}
