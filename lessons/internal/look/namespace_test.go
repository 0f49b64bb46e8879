package look

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/harktest"
)

func TestOnlyANamespaceThatDoesNotExistIsToldOf(t *testing.T) {
	server := harktest.Start(t)
	if got := Namespace(t.Context(), server.Config(), "default"); got != "" {
		t.Errorf("default: %q; want nothing", got)
	}
	if got := Namespace(t.Context(), server.Config(), "nosuch"); !strings.Contains(got, "nosuch 不存在") {
		t.Errorf("nosuch: %q; want that it does not exist", got)
	}
	server.Inject(harktest.Fault{Resource: "namespaces", Code: 403})
	if got := Namespace(t.Context(), server.Config(), "nosuch"); got != "" {
		t.Errorf("without permission: %q; want nothing", got)
	}
	if got := Namespace(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, "nosuch"); got != "" {
		t.Errorf("without a server: %q; want nothing", got)
	}
}
