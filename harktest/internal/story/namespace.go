package story

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest/internal/service"
	"github.com/gocampus/hark/key"
)

// wakeNamespace looks at a namespace again, since something in it is gone.
func (s *Story) wakeNamespace(name string) {
	s.agenda.add(item{s.kindOf(corev1.SchemeGroupVersion, "namespaces"), key.Key{Name: name}}, time.Now())
}

// playNamespace empties a namespace that is being deleted and lets it go.
func (s *Story) playNamespace(it item) time.Duration {
	namespace := get[corev1.Namespace](s, it)
	if namespace == nil || namespace.DeletionTimestamp == nil {
		return 0
	}
	left := 0
	for _, k := range s.service.Kinds().All() {
		if k.Hub != nil || !k.Namespaced || !k.Serves("deletecollection") {
			continue
		}
		t := service.Target{Kind: k, Namespace: namespace.Name}
		// Objects that are gone by themselves are no error.
		_, _ = s.service.DeleteCollection(t, service.ListOptions{}, metav1.DeleteOptions{}, false)
		if list, err := s.service.List(t, service.ListOptions{}); err == nil {
			left += len(list.Records)
		}
	}
	if left > 0 {
		return 0 // their deletion brings us here again
	}
	empty := namespace.DeepCopy()
	empty.Spec.Finalizers = nil
	empty.ResourceVersion = ""
	if _, err := s.service.FinalizeNamespace(it.target(), empty, s.write()); err != nil {
		return retry
	}
	return 0
}
