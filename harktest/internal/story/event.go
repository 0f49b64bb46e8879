package story

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
)

// about is what an Event tells of.
type about struct {
	kind   schema.GroupVersionKind
	object metav1.Object
	host   string // that tells it, if any
}

// tell records an Event.
func (s *Story) tell(of about, severity, reason, source, message string) {
	t := item{kind: s.kindOf(corev1.SchemeGroupVersion, "events")}.target()
	t.Namespace = of.object.GetNamespace()
	version, kind := of.kind.ToAPIVersionAndKind()
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: s.eventName(of.object.GetName()), Namespace: t.Namespace},
		InvolvedObject: corev1.ObjectReference{
			Kind: kind, APIVersion: version, Namespace: t.Namespace, Name: of.object.GetName(), UID: of.object.GetUID(), ResourceVersion: of.object.GetResourceVersion(),
		},
		Reason: reason, Message: message, Type: severity, Source: corev1.EventSource{Component: source, Host: of.host},
		FirstTimestamp: now(), LastTimestamp: now(), Count: 1, ReportingController: source,
	}
	// The namespace may be going away; an event that is lost is no harm.
	_, _ = s.service.Create(t, event, s.write())
}

// eventName returns a name of its own for an Event about an object. Where the
// object's name leaves no room it does without, as client-go's recorder does.
func (s *Story) eventName(object string) string {
	s.told++ // the clock alone does not tell apart what happens at once
	name := fmt.Sprintf("%s.%x", object, time.Now().UnixNano()+s.told)
	if len(name) > validation.DNS1123SubdomainMaxLength {
		return string(uuid.NewUUID())
	}
	return name
}
