package kube

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// catalog holds what the server serves, as of the last time it was asked.
type catalog struct {
	client   *discovery.DiscoveryClient
	timeout  time.Duration // of one discovery
	interval time.Duration // between discoveries that a miss may cause

	turn    chan struct{} // capacity 1: one discovery at a time
	current atomic.Pointer[edition]
}

// edition is one complete answer of discovery. It never changes.
type edition struct {
	fetched   time.Time
	mapper    meta.RESTMapperWithContext
	resources map[schema.GroupVersion][]metav1.APIResource
	// shortNames in the order of the server's group priority, so that the first
	// match is the one that kubectl would take.
	shortNames []shortName
	// failed holds the group versions that did not answer (an aggregated API
	// whose server is down). What an earlier edition knew of them is kept.
	failed map[schema.GroupVersion]error
}

type shortName struct {
	name     string
	resource schema.GroupResource
}

func newCatalog(client *discovery.DiscoveryClient, timeout, interval time.Duration) *catalog {
	return &catalog{client: client, timeout: timeout, interval: interval, turn: make(chan struct{}, 1)}
}

// find asks match of the current edition and, when that has no such kind, once
// more of a new one, unless the current one is younger than the interval.
func (c *catalog) find(ctx context.Context, match func(*edition) (Kind, error)) (Kind, error) {
	known := c.current.Load()
	if known != nil {
		kind, err := match(known)
		if err == nil || time.Since(known.fetched) < c.interval {
			return kind, err
		}
	}
	fresh, err := c.refresh(ctx, known)
	if err != nil {
		return Kind{}, err
	}
	return match(fresh)
}

// refresh returns an edition newer than known. Callers that come together share
// one discovery, made by the first of them.
func (c *catalog) refresh(ctx context.Context, known *edition) (*edition, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-c.turn }()
	if current := c.current.Load(); current != known {
		return current, nil
	}
	fresh, err := c.fetch(ctx, known)
	if err != nil {
		return nil, err
	}
	c.current.Store(fresh)
	return fresh, nil
}

func (c *catalog) fetch(ctx context.Context, known *edition) (*edition, error) {
	limited, cancel := context.WithTimeoutCause(ctx, c.timeout, errNoAnswer)
	defer cancel()
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(limited, c.client)
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		return nil, discoveryRequest.unanswered(c.timeout)
	case err != nil && !partial:
		return nil, discoveryRequest.clientGo(err)
	case len(groups) == 0:
		return nil, discoveryRequest.clientGo(errNoGroups)
	}
	return newEdition(groups, lists, failed, known), nil
}

var discoveryRequest = request{"discover", "what the server serves"}

var errNoGroups = errors.New("the server serves no API group")

func newEdition(groups []*metav1.APIGroup, lists []*metav1.APIResourceList,
	failed map[schema.GroupVersion]error, known *edition) *edition {
	e := &edition{
		fetched:   time.Now(),
		resources: make(map[schema.GroupVersion][]metav1.APIResource, len(lists)),
		failed:    failed,
	}
	for _, list := range lists {
		if gv, err := schema.ParseGroupVersion(list.GroupVersion); err == nil {
			e.resources[gv] = list.APIResources
		}
	}
	for gv := range failed {
		if known != nil && len(e.resources[gv]) == 0 {
			e.resources[gv] = known.resources[gv]
		}
	}
	e.index(groups)
	return e
}

// index builds the mapper and the short names in the server's order of groups.
func (e *edition) index(groups []*metav1.APIGroup) {
	byGroup := make([]*restmapper.APIGroupResources, 0, len(groups))
	for _, group := range groups {
		g := &restmapper.APIGroupResources{Group: *group, VersionedResources: map[string][]metav1.APIResource{}}
		for _, version := range group.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
			if resources, ok := e.resources[gv]; ok {
				g.VersionedResources[version.Version] = resources
				e.addShortNames(gv, resources)
			}
		}
		byGroup = append(byGroup, g)
	}
	e.mapper = restmapper.NewDiscoveryRESTMapperWithContext(byGroup)
}

func (e *edition) addShortNames(gv schema.GroupVersion, resources []metav1.APIResource) {
	for _, resource := range resources {
		for _, name := range resource.ShortNames {
			e.shortNames = append(e.shortNames, shortName{name, gv.WithResource(resource.Name).GroupResource()})
		}
	}
}

// expand replaces a short name by the resource that it stands for. A name that
// is also a resource's full name is left alone.
func (e *edition) expand(r schema.GroupVersionResource) schema.GroupVersionResource {
	if e.hasName(r) {
		return r
	}
	name := strings.ToLower(r.Resource)
	for _, s := range e.shortNames {
		if s.name == name && (r.Group == "" || strings.HasPrefix(s.resource.Group, r.Group)) {
			return s.resource.WithVersion(r.Version)
		}
	}
	return r
}

func (e *edition) hasName(r schema.GroupVersionResource) bool {
	name := strings.ToLower(r.Resource)
	for gv, resources := range e.resources {
		if r.Group != "" && r.Group != gv.Group {
			continue
		}
		for i := range resources {
			if resources[i].Name == name || singular(&resources[i]) == name {
				return true
			}
		}
	}
	return false
}

// singular returns a resource's singular name, which some aggregated servers
// leave out.
func singular(resource *metav1.APIResource) string {
	return cmp.Or(resource.SingularName, strings.ToLower(resource.Kind))
}

// kind completes what the mapper found. The mapper also invents resources that
// the server does not have (a list kind's); they are not found here.
func (e *edition) kind(mapping *meta.RESTMapping) (Kind, bool) {
	for _, resource := range e.resources[mapping.Resource.GroupVersion()] {
		if resource.Name != mapping.Resource.Resource {
			continue
		}
		k := Kind{
			GVR:        mapping.Resource,
			GVK:        mapping.GroupVersionKind.GroupVersion().WithKind(resource.Kind),
			Singular:   singular(&resource),
			Namespaced: resource.Namespaced,
			Watchable:  slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "watch"),
		}
		k.Protobuf = hasProtobuf(k.GVK)
		return k, true
	}
	return Kind{}, false
}

// silent names the groups that did not answer and so may have a kind that is
// missing here; it is nil when all did.
func (e *edition) silent() error {
	if len(e.failed) == 0 {
		return nil
	}
	return &discovery.ErrGroupDiscoveryFailed{Groups: maps.Clone(e.failed)}
}
