package harktest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/story"
)

// StoryOptions say how the story around the server goes. The zero value works; no
// number or time may be negative.
type StoryOptions struct {
	// Nodes is how many nodes there are: node-1, node-2 and so on. Default 1.
	Nodes int
	// ScheduleDelay is how long a new pod waits for its node. Default 200 ms.
	ScheduleDelay time.Duration
	// StartDelay is how long a scheduled pod is Pending. Default 800 ms.
	StartDelay time.Duration
	// StopDelay is how long a pod that is being deleted lives on, unless its grace
	// period is shorter. Default 500 ms.
	StopDelay time.Duration
	// BeforeReaction is called with each change before the story reacts to it, and
	// the whole story waits until it returns: so that who shows the story shows a
	// cause before its effects. ctx ends with the story. The object is shared and
	// must not be changed. It is called by one goroutine. Default nil, nobody.
	BeforeReaction func(ctx context.Context, resource schema.GroupVersionResource, object metav1.Object)
}

const (
	defaultScheduleDelay = 200 * time.Millisecond
	defaultStartDelay    = 800 * time.Millisecond
	defaultStopDelay     = 500 * time.Millisecond
)

func (o StoryOptions) validate() error {
	err := cmp.Or(
		notNegative("Nodes", o.Nodes), notNegative("ScheduleDelay", o.ScheduleDelay),
		notNegative("StartDelay", o.StartDelay), notNegative("StopDelay", o.StopDelay),
	)
	if err != nil {
		return fmt.Errorf("StoryOptions: %w", err)
	}
	return nil
}

// RunStory plays what happens around an API server in a cluster, until ctx ends,
// whose cause it returns; it fails at once when an option is negative. Pods are scheduled, become Running with an address and
// ready containers, and end within their grace period; deployments have replica
// sets and these have pods; owned objects go with their owners; a deleted namespace
// is emptied and goes. A pod's creation is seen as ADDED, MODIFIED (scheduled,
// Pending) and MODIFIED (Running), its deletion as MODIFIED and DELETED.
func (s *Server) RunStory(ctx context.Context, o StoryOptions) error {
	if err := o.validate(); err != nil {
		return fmt.Errorf("harktest: %w", err)
	}
	played := story.Options{
		Schedule: cmp.Or(o.ScheduleDelay, defaultScheduleDelay),
		Start:    cmp.Or(o.StartDelay, defaultStartDelay),
		Stop:     cmp.Or(o.StopDelay, defaultStopDelay),
		Before:   o.BeforeReaction,
	}
	for i := range cmp.Or(o.Nodes, 1) {
		played.Nodes = append(played.Nodes, fmt.Sprintf("node-%d", i+1))
	}
	return story.New(s.service, played).Run(ctx)
}
