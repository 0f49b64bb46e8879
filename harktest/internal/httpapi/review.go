package httpapi

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/harktest/internal/service"
)

// user is who every client is to this server.
var user = authenticationv1.UserInfo{Username: "harktest-admin", Groups: []string{"system:masters", "system:authenticated"}}

// review answers the kinds that can only be created: everybody may do
// everything. A Fault is the way to test what happens otherwise.
func (h *Handler) review(w http.ResponseWriter, r *http.Request, t service.Target, obj runtime.Object) {
	switch o := obj.(type) {
	case *authenticationv1.SelfSubjectReview:
		o.Status.UserInfo = user
	case *authenticationv1.TokenReview:
		o.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: user}
	case *authorizationv1.SelfSubjectAccessReview:
		o.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	case *authorizationv1.LocalSubjectAccessReview:
		o.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	case *authorizationv1.SubjectAccessReview:
		o.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	case *authorizationv1.SelfSubjectRulesReview:
		all := []string{"*"}
		o.Status = authorizationv1.SubjectRulesReviewStatus{
			ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
			NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
		}
	default:
		h.fail(w, r, noMethod()) // bindings are made through the pod
		return
	}
	h.answerObject(w, r, http.StatusCreated, t.Kind.GVK, obj)
}
