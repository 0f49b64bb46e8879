package record

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/kube"
)

// Schema names the format. A field or a kind of line may be added under the same
// name; one that goes or changes its meaning makes a new one.
const Schema = "hark.record/v1"

// Header is what a recording says of itself.
type Header struct {
	// ID is random: it tells which files are parts of one recording.
	ID string
	// Part counts the files of a recording, from 1.
	Part int
	// Time when the part was begun.
	Time time.Time
	// Server is the version of the API server, such as "v1.37.2"; "" if unknown.
	Server string
	// Redacted are the paths that were redacted, beside the values of Secrets.
	Redacted []string
	// Streams that were known when the part was begun; more may follow.
	Streams []Stream
}

// Stream is what was listened to: a kind, and a choice of its objects.
type Stream struct {
	Kind          kube.Kind
	Namespace     string // "" is all
	LabelSelector string
	FieldSelector string
}

// StreamOf is the stream of a kube.Source.
func StreamOf(kind kube.Kind, o kube.SourceOptions) Stream {
	s := Stream{Kind: kind, LabelSelector: o.LabelSelector, FieldSelector: o.FieldSelector}
	if kind.Namespaced {
		s.Namespace = o.Namespace
	}
	return s
}

// streamLine is a Stream as it is written.
type streamLine struct {
	Group         string `json:"group,omitempty"`
	Version       string `json:"version"`
	Kind          string `json:"kind"`
	Resource      string `json:"resource"`
	Singular      string `json:"singular,omitempty"`
	Namespaced    bool   `json:"namespaced"`
	Namespace     string `json:"namespace,omitempty"`
	LabelSelector string `json:"labelSelector,omitempty"`
	FieldSelector string `json:"fieldSelector,omitempty"`
}

func lineOf(s Stream) streamLine {
	return streamLine{
		Group: s.Kind.GVK.Group, Version: s.Kind.GVK.Version, Kind: s.Kind.GVK.Kind,
		Resource: s.Kind.GVR.Resource, Singular: s.Kind.Singular, Namespaced: s.Kind.Namespaced,
		Namespace: s.Namespace, LabelSelector: s.LabelSelector, FieldSelector: s.FieldSelector,
	}
}

// stream is the way back. What is read is JSON, whatever the server had.
func (l streamLine) stream() Stream {
	gvk := schema.GroupVersionKind{Group: l.Group, Version: l.Version, Kind: l.Kind}
	return Stream{
		Kind: kube.Kind{
			GVK: gvk, GVR: gvk.GroupVersion().WithResource(l.Resource),
			Singular: l.Singular, Namespaced: l.Namespaced, Watchable: true,
		},
		Namespace: l.Namespace, LabelSelector: l.LabelSelector, FieldSelector: l.FieldSelector,
	}
}
