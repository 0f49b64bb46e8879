package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

var _ reflector.Awaiter = (*Source)(nil)

// errNotCustom: kinds whose group has no dot are built in.
var errNotCustom = errors.New("kube: the kind is not one of a CustomResourceDefinition")

// errServed is the cause with which the wait for a definition ends well.
var errServed = errors.New("kube: the kind is served")

// Await implements reflector.Awaiter for custom resources: it blocks until a
// CustomResourceDefinition says that the kind is served. It keeps one watch open
// for that, of this one definition, and needs the permission to list and watch
// customresourcedefinitions. The error is the cause of ctx, or says why this
// Source cannot tell: the kind is built in, or definitions may not be watched.
func (s *Source) Await(ctx context.Context) error {
	if !strings.Contains(s.kind.GVR.Group, ".") {
		return errNotCustom
	}
	definitions := s.client.Source(definitionKind, SourceOptions{
		FieldSelector: "metadata.name=" + s.kind.GVR.GroupResource().String(),
	})
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	w := &definitionWatch{version: s.kind.GVR.Version, end: end}
	err := reflector.New(definitions, w, reflector.Options{NoStreaming: true, OnStatus: w.status}).Run(ctx)
	if err == errServed {
		return nil
	}
	return err
}

var definitionKind = Kind{
	GVR:      schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	GVK:      schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	Singular: "customresourcedefinition", Watchable: true,
}

// definitionWatch is a reflector's sink that keeps nothing: it ends the wait
// when it is given a definition that serves the version.
type definitionWatch struct {
	version string
	end     context.CancelCauseFunc
}

// Begin implements reflector.Sink.
func (w *definitionWatch) Begin(bool, bool) {}

// Put implements reflector.Sink.
func (w *definitionWatch) Put(o *wire.Object) (stale bool) {
	if serves(o, w.version) {
		w.end(errServed)
	}
	return false
}

// Commit implements reflector.Sink.
func (w *definitionWatch) Commit(string, bool) {}

// Apply implements reflector.Sink.
func (w *definitionWatch) Apply(t watch.EventType, o *wire.Object) {
	if t != watch.EventDeleted {
		w.Put(o)
	}
}

// Advance implements reflector.Sink.
func (w *definitionWatch) Advance(string) {}

// Flush implements reflector.Sink.
func (*definitionWatch) Flush() {}

// status gives up where trying again does not help.
func (w *definitionWatch) status(s reflector.Status) {
	if s.Phase != reflector.Waiting || s.Reason == nil {
		return
	}
	switch s.Reason.Kind {
	case watch.KindUnauthorized, watch.KindForbidden, watch.KindNotFound, watch.KindInvalid:
		w.end(fmt.Errorf("kube: the definition cannot be watched: %w", s.Reason))
	}
}

// definition is what of a CustomResourceDefinition says whether it is in force.
type definition struct {
	Spec struct {
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// serves reports whether a definition is in force for a version.
func serves(o *wire.Object, version string) bool {
	d, err := As[definition](o)
	if err != nil || o.Deleting() {
		return false
	}
	served, established := false, false
	for _, v := range d.Spec.Versions {
		served = served || v.Name == version && v.Served
	}
	for _, c := range d.Status.Conditions {
		established = established || c.Type == "Established" && c.Status == "True"
	}
	return served && established
}
