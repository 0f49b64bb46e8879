package recordtest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/watch"
)

// Stage plays a recording on a server, for any client: objects come, change and go
// there as they did where they were recorded, under the server's own
// resourceVersions. It is for one goroutine.
type Stage struct {
	server    *harktest.Server
	recording *record.Recording
	kinds     []kube.Kind
}

// NewStage returns a stage; it does nothing before Load.
func NewStage(server *harktest.Server, r *record.Recording) *Stage {
	s := &Stage{server: server, recording: r}
	for _, stream := range r.Streams {
		s.kinds = append(s.kinds, stream.Kind)
	}
	return s
}

// Load makes the kinds of the recording known to the server, where they are not,
// and stores the initial state. It returns how many objects that is.
func (s *Stage) Load() (int, error) {
	for _, kind := range s.kinds {
		if scheme.Scheme.Recognizes(kind.GVK) {
			continue
		}
		// It fails where the server knows the kind; one that it does not know all
		// the same is an error of its first object.
		_ = s.server.Register(harktest.Kind{GroupVersionKind: kind.GVK, Plural: kind.GVR.Resource, ClusterScoped: !kind.Namespaced})
	}
	return len(s.recording.Initial), s.Apply(s.recording.Initial)
}

// Apply makes the events happen on the server.
func (s *Stage) Apply(events []record.Event) error {
	for _, e := range events {
		if err := s.apply(e); err != nil {
			return fmt.Errorf("recordtest: %s %s: %w", s.kinds[e.Stream].GVK.Kind, e.Key, err)
		}
	}
	return nil
}

func (s *Stage) apply(e record.Event) error {
	kind := s.kinds[e.Stream]
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if e.Type == watch.EventDeleted {
		u.SetGroupVersionKind(kind.GVK)
		u.SetNamespace(e.Key.Namespace)
		u.SetName(e.Key.Name)
		return s.server.Drop(u)
	}
	if err := kind.Decode(e.Object, u); err != nil {
		return err
	}
	u.SetResourceVersion("")
	return s.server.Put(u)
}
