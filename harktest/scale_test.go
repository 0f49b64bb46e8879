package harktest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gocampus/hark/harktest"
)

func TestScaleIsAppliedAsOtherObjectsAre(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, deployment("web", 1))
	const path = "/apis/apps/v1/namespaces/default/deployments/web/scale"
	for _, tc := range []struct {
		query, body string
		code        int
		want        string // in the answer
	}{
		{"?fieldManager=f", "apiVersion: autoscaling/v1\nkind: Scale\nspec:\n  replicas: 2\n", 200, `"replicas":2`},
		{"?fieldManager=f", "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: web, namespace: default}\nspec: {replicas: 3}\n", 200, `"replicas":3`},
		{"?fieldManager=f", `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":4}}`, 200, `"replicas":4`},
		{"?fieldManager=f", "a: [", 400, "error encoding patch: yaml: line 1: did not find expected node content"},
		{"?fieldManager=f", "", 400, "invalid object type: /, Kind="},
		{"?fieldManager=f", "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 2}\n", 400, "invalid object type: apps/v1, Kind=Deployment"},
		{"?fieldManager=f", "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: other}\n", 400, "the name of the object (other) does not match the name on the URL (web)"},
		{"?fieldManager=f", "apiVersion: autoscaling/v1\nkind: Scale\nspec: {replicas: x}\n", 500, "failed to create typed patch object (/; autoscaling/v1, Kind=Scale): "},
		{"?fieldManager=f", "apiVersion: autoscaling/v1\nkind: Scale\nspec: {replica: 2}\n", 500, "failed to create typed patch object (/; autoscaling/v1, Kind=Scale): strict decoding error: unknown field"},
		{"?fieldManager=f", "apiVersion: autoscaling/v1\nkind: Scale\nspec: {replicas: -2}\n", 422, "must be greater than or equal to 0"},
		{"", "apiVersion: autoscaling/v1\nkind: Scale\nspec: {replicas: 2}\n", 422, "fieldManager: Required value: is required for apply patch"},
	} {
		code, body := request(t, s, http.MethodPatch, path+tc.query, tc.body, "Content-Type", "application/apply-patch+yaml")
		if code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("apply of %q = %d %s; want %d with %q", tc.body, code, body, tc.code, tc.want)
		}
	}
	d := deployment("web", 0)
	if err := s.Get(ctx, d); err != nil || *d.Spec.Replicas != 4 {
		t.Errorf("replicas = %v, %v; want 4", d.Spec.Replicas, err)
	}
}
