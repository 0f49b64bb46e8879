package fault

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rule says which requests go wrong and how. See harktest.Fault, which has the
// same fields, for their meaning.
type Rule struct {
	Verb        string
	Resource    string
	Namespace   string
	Name        string
	Subresource string
	Skip        int
	Times       int

	Code       int
	Reason     metav1.StatusReason
	Message    string
	Status     *metav1.Status
	RetryAfter time.Duration

	Refuse         bool
	Silent         bool
	Delay          time.Duration
	BytesPerSecond int
	CutAfterBytes  int

	AfterEvents     int
	CutEvent        bool
	EventError      bool
	MalformedEvent  bool
	DropEvents      int
	DoubleEvents    int
	ReplayEvents    int
	NoBookmarks     bool
	NoInitialEvents bool
	NoInitialEnd    bool
}

// Request is what a rule is matched against.
type Request struct {
	Verb, Group, Resource, Namespace, Name, Subresource string
}

func (r *Rule) matches(q Request) bool {
	return (r.Verb == "" || r.Verb == q.Verb) &&
		(r.Resource == "" || r.Resource == q.Resource || r.Resource == q.Resource+"."+q.Group) &&
		(r.Namespace == "" || r.Namespace == q.Namespace) &&
		(r.Name == "" || r.Name == q.Name) &&
		(r.Subresource == "" || r.Subresource == q.Subresource)
}
