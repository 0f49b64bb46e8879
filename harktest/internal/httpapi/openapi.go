package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// answerPlain writes a JSON document that is no API object.
func (h *Handler) answerPlain(w http.ResponseWriter, r *http.Request, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, http.StatusOK, media{encoding: "application/json", pretty: wantsPretty(r)}, body)
}

// serveOpenAPI answers what kubectl needs to know before it writes: which kinds
// there are, and that the server itself validates fields.
func (h *Handler) serveOpenAPI(w http.ResponseWriter, r *http.Request, parts []string) {
	switch {
	case slices.Equal(parts, []string{"v2"}):
		if !acceptsJSON(r) {
			h.fail(w, r, notAcceptable([]string{"application/json"}))
			return
		}
		h.answerPlain(w, r, map[string]any{"swagger": "2.0", "info": h.openAPIInfo(), "paths": h.openAPIPaths(nil), "definitions": map[string]any{}})
	case slices.Equal(parts, []string{"v3"}):
		paths := map[string]any{}
		for _, g := range h.groups() {
			for _, v := range g.Versions {
				path := versionPath(g.Name, v.Name)
				paths[path] = map[string]any{"serverRelativeURL": "/openapi/v3/" + path}
			}
		}
		h.answerPlain(w, r, map[string]any{"paths": paths})
	case len(parts) > 1 && parts[0] == "v3":
		h.serveOpenAPIVersion(w, r, strings.Join(parts[1:], "/"))
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

func acceptsJSON(r *http.Request) bool {
	header := r.Header.Get("Accept")
	return header == "" || slices.ContainsFunc(parseAccept(header), func(c clause) bool {
		return c.mediaType == "application/json" || c.mediaType == "*/*" || c.mediaType == "application/*"
	})
}

func (h *Handler) openAPIInfo() map[string]any {
	return map[string]any{"title": "Kubernetes", "version": h.options.Version.GitVersion}
}

func (h *Handler) serveOpenAPIVersion(w http.ResponseWriter, r *http.Request, path string) {
	for _, g := range h.groups() {
		for _, v := range g.Versions {
			if versionPath(g.Name, v.Name) == path {
				h.answerPlain(w, r, map[string]any{
					"openapi": "3.0.0", "info": h.openAPIInfo(), "paths": h.openAPIPaths(v.Kinds), "components": map[string]any{"schemas": map[string]any{}},
				})
				return
			}
		}
	}
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// openAPIPaths describes the patch of each kind, since that is where kubectl
// looks for fieldValidation.
func (h *Handler) openAPIPaths(kinds []*kind.Kind) map[string]any {
	paths := map[string]any{}
	for _, k := range kinds {
		path := "/" + versionPath(k.GVK.Group, k.GVK.Version) + "/"
		if k.Namespaced {
			path += "namespaces/{namespace}/"
		}
		operation := func(action string) map[string]any {
			return map[string]any{
				"parameters": []any{
					map[string]any{"name": "dryRun", "in": "query", "schema": map[string]any{"type": "string", "uniqueItems": true}},
					map[string]any{"name": "fieldValidation", "in": "query", "schema": map[string]any{"type": "string", "uniqueItems": true}},
				},
				"responses":                       map[string]any{"200": map[string]any{"description": "OK"}},
				"x-kubernetes-action":             action,
				"x-kubernetes-group-version-kind": map[string]string{"group": k.GVK.Group, "version": k.GVK.Version, "kind": k.GVK.Kind},
			}
		}
		paths[path+k.Plural] = map[string]any{"post": operation("post")}
		paths[path+k.Plural+"/{name}"] = map[string]any{"patch": operation("patch"), "put": operation("put")}
	}
	return paths
}
