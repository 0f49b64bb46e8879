package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gocampus/hark/harktest/internal/openapi"
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
		if r.Header.Get("Accept") == openAPIProtobuf {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(h.openAPIMessage())
			return
		}
		if !acceptsJSON(r) {
			h.fail(w, r, notAcceptable([]string{"application/json"}))
			return
		}
		h.answerPlain(w, r, map[string]any{"swagger": "2.0", "info": h.openAPIInfo(), "paths": map[string]any{}, "definitions": map[string]any{}})
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

// openAPIProtobuf is how kubectl asks for the document where version 3 has no answer.
const openAPIProtobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

// openAPIMessage is the version 2 document as a message: swagger is field 1, info,
// with a title and a version, field 2, the paths field 8. It describes no kind.
func (h *Handler) openAPIMessage() []byte {
	text := func(dst []byte, number protowire.Number, value string) []byte {
		return protowire.AppendString(protowire.AppendTag(dst, number, protowire.BytesType), value)
	}
	info := text(text(nil, 1, "Kubernetes"), 2, h.options.Version.GitVersion)
	return text(text(text(nil, 1, "2.0"), 2, string(info)), 8, "")
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
				h.answerPlain(w, r, openapi.Document(h.openAPIInfo(), "/"+path, v.Kinds))
				return
			}
		}
	}
	http.Error(w, "404 page not found", http.StatusNotFound)
}
