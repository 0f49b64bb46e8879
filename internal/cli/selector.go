package cli

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"

	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
)

// checkSelectors refuses selectors that cannot be read or that the server does
// not have for a type, so that a mistake is told before anything else.
func (p *watchPlan) checkSelectors(ctx context.Context, found []finding) error {
	for _, f := range found {
		if _, err := labels.Parse(p.flags.selector); err != nil {
			return p.badSelector(f, err, text.TrySelector)
		}
		if err := p.checkFields(ctx, f); err != nil {
			return p.badSelector(f, err, text.TryField)
		}
	}
	return ctx.Err()
}

func (p *watchPlan) checkFields(ctx context.Context, f finding) error {
	selector, err := fields.ParseSelector(p.flags.fieldSelector)
	if err != nil || selector.Empty() || f.missing != nil {
		return err
	}
	return p.askForFields(ctx, f.kind)
}

// askForFields asks the server whether it knows the fields. The name makes it an
// empty answer. Whatever else is wrong is told where it can be waited for.
func (p *watchPlan) askForFields(ctx context.Context, kind kube.Kind) error {
	_, err := briefly(ctx, p.client, func(ctx context.Context) (any, error) {
		api, err := dynamic.NewForConfigAndClient(p.client.Config(), p.client.HTTP())
		if err != nil {
			return nil, err
		}
		var objects dynamic.ResourceInterface = api.Resource(kind.GVR)
		if kind.Namespaced {
			objects = api.Resource(kind.GVR).Namespace(p.namespace)
		}
		return objects.List(ctx, metav1.ListOptions{
			FieldSelector: "metadata.name=hark-asks," + p.flags.fieldSelector, ResourceVersion: "0", Limit: 1})
	})
	if apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) {
		answer, _ := answerOf(err)
		return errors.New(answer.Message)
	}
	return nil
}

// badSelector says in kubectl's sentence what is wrong.
func (p *watchPlan) badSelector(f finding, err error, try text.Message) error {
	message := "error: " + err.Error()
	if f.missing == nil {
		message = fmt.Sprintf("Error from server (%s): Unable to find %q that match label selector %q, field selector %q: %v",
			metav1.StatusReasonBadRequest, f.kind.GVR.String(), p.flags.selector, p.flags.fieldSelector, err)
	}
	return &failure{code: exitError, message: message, try: p.session.say(try), err: err}
}
