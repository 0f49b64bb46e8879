package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Info is what a request is about, as read from its method and path.
type Info struct {
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection; or the method in lower case
	Group       string
	Version     string
	Resource    string // "" for paths that name no resource
	Namespace   string
	Name        string
	Subresource string
	// Rest is what follows the subresource, as in a proxy's path.
	Rest string
}

// Resourceful tells whether the request names a resource.
func (i Info) Resourceful() bool { return i.Resource != "" }

// GVR returns group, version and resource.
func (i Info) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: i.Group, Version: i.Version, Resource: i.Resource}
}

// readInfo understands /api/VERSION/… and /apis/GROUP/VERSION/….
func readInfo(r *http.Request, query url.Values) Info {
	info := Info{Verb: strings.ToLower(r.Method)}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		info.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		info.Group, info.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return info
	}
	old := parts[0] == "watch" && len(parts) > 1 // the old form of a watch's path
	if old {
		parts = parts[1:]
	}
	info.readParts(parts)
	info.Verb = verb(r.Method, info.Name, old || info.Name == "" && isTrue(query, "watch"))
	return info
}

func (i *Info) readParts(parts []string) {
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		i.Namespace, parts = parts[1], parts[2:]
	}
	i.Resource = parts[0]
	if len(parts) > 1 {
		i.Name = parts[1]
	}
	if len(parts) > 2 {
		i.Subresource = parts[2]
	}
	if len(parts) > 3 {
		i.Rest = strings.Join(parts[3:], "/")
	}
}

func isTrue(query url.Values, name string) bool {
	values, found := query[name]
	return found && values[0] != "0" && !strings.EqualFold(values[0], "false") // as the API reads a bool
}

func verb(method, name string, watch bool) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
		return "delete"
	case http.MethodGet:
		if watch {
			return "watch"
		}
		if name == "" {
			return "list"
		}
		return "get"
	}
	return strings.ToLower(method)
}
