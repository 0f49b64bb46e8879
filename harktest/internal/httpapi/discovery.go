package httpapi

import (
	"net/http"
	"strings"
	"sync"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// discoveryCache keeps the groups as long as the registry does not change.
type discoveryCache struct {
	mu      sync.Mutex // guards the fields below
	changes uint64
	groups  []kind.Group
}

func (h *Handler) groups() []kind.Group {
	c := &h.discovery
	c.mu.Lock()
	defer c.mu.Unlock()
	if changes := h.service.Kinds().Changes(); c.groups == nil || changes != c.changes {
		c.groups, c.changes = h.service.Kinds().Groups(), changes
	}
	return c.groups
}

// serveOther answers the paths that name no resource.
func (h *Handler) serveOther(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/version":
		h.answerPlain(w, r, h.options.Version)
	case parts[0] == "healthz" || parts[0] == "livez" || parts[0] == "readyz":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok"))
	case parts[0] == "api" && len(parts) == 1:
		h.serveGroups(w, r, true)
	case parts[0] == "apis" && len(parts) == 1:
		h.serveGroups(w, r, false)
	case parts[0] == "api" && len(parts) == 2:
		h.serveResources(w, r, "", parts[1])
	case parts[0] == "apis" && len(parts) == 2:
		h.serveGroup(w, r, parts[1])
	case parts[0] == "apis" && len(parts) == 3:
		h.serveResources(w, r, parts[1], parts[2])
	case parts[0] == "openapi":
		h.serveOpenAPI(w, r, parts[1:])
	case r.URL.Path == "/":
		h.answerPlain(w, r, map[string][]string{"paths": h.paths()})
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

func (h *Handler) paths() []string {
	paths := []string{"/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}
	for _, g := range h.groups() {
		for _, v := range g.Versions {
			paths = append(paths, "/"+versionPath(g.Name, v.Name))
		}
	}
	return paths
}

func versionPath(group, version string) string {
	if group == "" {
		return "api/" + version
	}
	return "apis/" + group + "/" + version
}

// serveGroups answers /api and /apis: aggregated where the client accepts it.
func (h *Handler) serveGroups(w http.ResponseWriter, r *http.Request, core bool) {
	if aggregatedType := wantsAggregated(r); aggregatedType != "" {
		list := &discoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}}
		for _, g := range h.groups() {
			if (g.Name == "") == core {
				list.Items = append(list.Items, aggregated(g))
			}
		}
		h.answerAggregated(w, list, aggregatedType)
		return
	}
	if core {
		versions := &metav1.APIVersions{Versions: []string{"v1"}, ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: r.Host}}}
		h.answerObject(w, r, http.StatusOK, schema.GroupVersionKind{Kind: "APIVersions"}, versions)
		return
	}
	list := &metav1.APIGroupList{Groups: []metav1.APIGroup{}}
	for _, g := range h.groups() {
		if g.Name != "" {
			list.Groups = append(list.Groups, apiGroup(g))
		}
	}
	h.answerObject(w, r, http.StatusOK, schema.GroupVersionKind{Version: "v1", Kind: "APIGroupList"}, list)
}

// wantsAggregated returns the content type of an aggregated answer, or "".
func wantsAggregated(r *http.Request) string {
	for _, c := range parseAccept(r.Header.Get("Accept")) {
		if c.params["as"] == "APIGroupDiscoveryList" && c.params["g"] == "apidiscovery.k8s.io" && c.params["v"] == "v2" && c.mediaType == "application/json" {
			return "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		}
	}
	return ""
}

func (h *Handler) answerAggregated(w http.ResponseWriter, list runtime.Object, contentType string) {
	body, err := appendObject(nil, discoveryv2.SchemeGroupVersion.WithKind("APIGroupDiscoveryList"), list, false)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Add("Vary", "Accept")
	_, _ = w.Write(body)
}

func aggregated(g kind.Group) discoveryv2.APIGroupDiscovery {
	group := discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.Name}}
	for _, v := range g.Versions {
		version := discoveryv2.APIVersionDiscovery{Version: v.Name, Freshness: discoveryv2.DiscoveryFreshnessCurrent}
		for _, k := range v.Kinds {
			version.Resources = append(version.Resources, aggregatedResource(k))
		}
		group.Versions = append(group.Versions, version)
	}
	return group
}

func aggregatedResource(k *kind.Kind) discoveryv2.APIResourceDiscovery {
	resource := discoveryv2.APIResourceDiscovery{
		Resource: k.Plural, SingularResource: k.Singular, ShortNames: k.Short, Categories: k.Categories, Verbs: k.AllVerbs(),
		ResponseKind: responseKind(k, k.GVK), Scope: discoveryv2.ScopeCluster,
	}
	if k.Namespaced {
		resource.Scope = discoveryv2.ScopeNamespace
	}
	for _, s := range k.Subresources() {
		resource.Subresources = append(resource.Subresources, discoveryv2.APISubresourceDiscovery{
			Subresource: s.Name, ResponseKind: responseKind(k, s.GVK), Verbs: s.Verbs,
		})
	}
	return resource
}

// responseKind names the kind of an answer; its group and version are left out when
// they are those that the resource is listed under.
func responseKind(k *kind.Kind, gvk schema.GroupVersionKind) *metav1.GroupVersionKind {
	if gvk.GroupVersion() == k.GVK.GroupVersion() {
		return &metav1.GroupVersionKind{Kind: gvk.Kind}
	}
	return &metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}
}

func apiGroup(g kind.Group) metav1.APIGroup {
	group := metav1.APIGroup{Name: g.Name}
	for _, v := range g.Versions {
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + v.Name, Version: v.Name})
	}
	group.PreferredVersion = group.Versions[0]
	return group
}

func (h *Handler) serveGroup(w http.ResponseWriter, r *http.Request, name string) {
	for _, g := range h.groups() {
		if g.Name == name && name != "" {
			group := apiGroup(g)
			h.answerObject(w, r, http.StatusOK, schema.GroupVersionKind{Version: "v1", Kind: "APIGroup"}, &group)
			return
		}
	}
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// serveResources answers /api/v1 and /apis/GROUP/VERSION.
func (h *Handler) serveResources(w http.ResponseWriter, r *http.Request, group, version string) {
	for _, g := range h.groups() {
		for _, v := range g.Versions {
			if g.Name == group && v.Name == version {
				list := &metav1.APIResourceList{GroupVersion: schema.GroupVersion{Group: group, Version: version}.String()}
				for _, k := range v.Kinds {
					list.APIResources = append(list.APIResources, apiResources(k)...)
				}
				gvk := schema.GroupVersionKind{Version: "v1", Kind: "APIResourceList"}
				if group == "" {
					gvk.Version = "" // as it was before lists had one
				}
				h.answerObject(w, r, http.StatusOK, gvk, list)
				return
			}
		}
	}
	h.unknown(w, r, Info{Group: group})
}

func apiResources(k *kind.Kind) []metav1.APIResource {
	resources := []metav1.APIResource{{
		Name: k.Plural, SingularName: k.Singular, Namespaced: k.Namespaced, Kind: k.GVK.Kind,
		Verbs: k.AllVerbs(), ShortNames: k.Short, Categories: k.Categories,
	}}
	for _, s := range k.Subresources() {
		resource := metav1.APIResource{Name: k.Plural + "/" + s.Name, Namespaced: k.Namespaced, Kind: s.GVK.Kind, Verbs: s.Verbs}
		if s.GVK.GroupVersion() != k.GVK.GroupVersion() {
			resource.Group, resource.Version = s.GVK.Group, s.GVK.Version
		}
		resources = append(resources, resource)
	}
	return resources
}
