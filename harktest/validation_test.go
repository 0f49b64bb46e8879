package harktest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gocampus/hark/harktest"
)

func TestObjectsThatAreWrongAreRefused(t *testing.T) {
	s := harktest.Start(t)
	const (
		core   = "/api/v1/namespaces/default"
		apps   = "/apis/apps/v1/namespaces/default"
		batch  = "/apis/batch/v1/namespaces/default"
		hpas   = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
		inside = `"containers":[{"name":"c","image":"i"`
	)
	rolling := func(update string) string {
		return `{"strategy":{"rollingUpdate":` + update + `},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + inside + `}]}}}`
	}
	mustCode(t, s, 201, http.MethodPost, core+"/services", `{"metadata":{"name":"s"},"spec":{"clusterIP":"10.0.0.9","ports":[{"port":1}]}}`)
	for _, c := range []struct{ path, spec, want string }{
		{core + "/pods", `{` + inside + `,"ports":[{"containerPort":99999999}]}]}`, "spec.containers[0].ports[0].containerPort: Invalid value: 99999999"},
		{core + "/pods", `{` + inside + `}],"volumes":[{"name":"v"},{"name":"v"}]}`, `spec.volumes[1].name: Duplicate value: "v"`},
		{core + "/pods", `{` + inside + `,"volumeMounts":[{"name":"v","mountPath":"/"}]}]}`, `spec.containers[0].volumeMounts[0].name: Not found: "v"`},
		{core + "/pods", `{` + inside + `,"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}`, "must be less than or equal to cpu limit of 1"},
		{core + "/pods", `{` + inside + `,"env":[{"name":"="}]}]}`, `spec.containers[0].env[0].name: Invalid value: "="`},
		{core + "/pods", `{` + inside + `,"livenessProbe":{}}]}`, "spec.containers[0].livenessProbe: Required value"},
		{core + "/pods", `{` + inside + `}],"initContainers":[{"name":"c","image":"i"}]}`, `spec.initContainers[0].name: Duplicate value: "c"`},
		{core + "/pods", `{` + inside + `}],"nodeSelector":{"a b":"c"}}`, `spec.nodeSelector: Invalid value: "a b"`},
		{core + "/pods", `{` + inside + `}],"tolerations":[{"operator":"Exists","value":"x"}]}`, "spec.tolerations[0].operator: Invalid value"},
		{apps + "/deployments", rolling(`{"maxSurge":"abc%"}`), `spec.strategy.rollingUpdate.maxSurge: Invalid value: "abc%"`},
		{apps + "/deployments", rolling(`{"maxSurge":0,"maxUnavailable":0}`), "may not be 0 when `maxSurge` is 0"},
		{apps + "/deployments", rolling(`{"maxUnavailable":"200%"}`), "must not be greater than 100%"},
		{core + "/services", `{"clusterIP":"zz","ports":[{"port":1}]}`, `spec.clusterIPs[0]: Invalid value: "zz": must be a valid IP address`},
		{core + "/services", `{"clusterIP":"10.0.0.9","ports":[{"port":1}]}`, "provided IP is already allocated"},
		{core + "/services", `{"clusterIP":"1.2.3.4","ports":[{"port":1}]}`, "is not in the valid range"},
		{core + "/services", `{"type":"ExternalName"}`, "spec.externalName: Required value"},
		{core + "/services", `{"ports":[{"port":1,"name":"a"},{"port":2,"name":"a"}]}`, `spec.ports[1].name: Duplicate value: "a"`},
		{batch + "/cronjobs", `{"schedule":"zz"}`, `spec.schedule: Invalid value: "zz": expected exactly 5 fields`},
		{batch + "/cronjobs", `{"schedule":"*/0 * * * *"}`, "step of range should be a positive number"},
		{batch + "/cronjobs", `{"schedule":"@hourly","timeZone":"No/Such"}`, "unknown time zone No/Such"},
		{batch + "/jobs", `{"backoffLimit":-1,"template":{"spec":{` + inside + `}]}}}`, "spec.backoffLimit: Invalid value: -1"},
		{batch + "/jobs", `{"template":{"spec":{` + inside + `}]}}}`, "spec.template.spec.restartPolicy: Required value"},
		{hpas, `{"maxReplicas":-1}`, "spec.maxReplicas: Invalid value: -1"},
		{hpas, `{"maxReplicas":1,"scaleTargetRef":{"kind":"a/b","name":"x"}}`, "may not contain '/'"},
	} {
		body := mustCode(t, s, 422, http.MethodPost, c.path, `{"metadata":{"name":"x"},"spec":`+c.spec+`}`)
		if got := status(t, body).Message; !strings.Contains(got, c.want) {
			t.Errorf("POST %s %s: %s; want %q", c.path, c.spec, got, c.want)
		}
	}
	for _, c := range []struct{ path, body, want string }{
		{"/secrets", `{"data":{"a b":"AA=="}`, `data[a b]: Invalid value: "a b"`},
		{"/secrets", `{"type":"kubernetes.io/tls"`, "data[tls.crt]: Required value"},
		{"/configmaps", `{"data":{"a b":""}`, `data[a b]: Invalid value: "a b"`},
		{"/configmaps", `{"binaryData":{"a b":""}`, `binaryData[a b]: Invalid value: "a b"`},
		{"/configmaps", `{"data":{"a":""},"binaryData":{"a":""}`, "duplicate of key present in binaryData"},
		{"/events", `{"involvedObject":{"namespace":"other"}`, `involvedObject.namespace: Invalid value: "other": does not match event.namespace`},
	} {
		body := mustCode(t, s, 422, http.MethodPost, core+c.path, c.body+`,"metadata":{"name":"x"}}`)
		if got := status(t, body).Message; !strings.Contains(got, c.want) {
			t.Errorf("POST %s %s: %s; want %q", c.path, c.body, got, c.want)
		}
	}
}

func TestBindingIsOfThePodInItsPath(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, pod("default", "a"))
	const path = "/api/v1/namespaces/default/pods/a/binding"
	mustCode(t, s, 201, http.MethodPost, path, `{"metadata":{"name":"a"},"target":{"kind":"Node","name":"n"}}`)
	mustCode(t, s, 400, http.MethodPost, path, `{"metadata":{"name":"b"},"target":{"kind":"Node","name":"n"}}`)
	mustCode(t, s, 409, http.MethodPost, path, `{"metadata":{"name":"a"},"target":{"kind":"Node","name":"n"}}`)
}

func TestChosenAddressIsGivenOnce(t *testing.T) {
	s := harktest.Start(t)
	const services = "/api/v1/namespaces/default/services"
	mustCode(t, s, 201, http.MethodPost, services, `{"metadata":{"name":"chosen"},"spec":{"clusterIP":"10.0.0.2","ports":[{"port":1}]}}`)
	for _, name := range []string{"a", "b"} {
		if body := mustCode(t, s, 201, http.MethodPost, services, `{"metadata":{"name":"`+name+`"},"spec":{"ports":[{"port":1}]}}`); strings.Contains(body, `"10.0.0.2"`) {
			t.Errorf("service %s = %s; want another address than the one that was chosen", name, body)
		}
	}
}
