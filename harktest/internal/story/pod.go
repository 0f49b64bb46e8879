package story

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// podState is since when a pod is where it is.
type podState struct {
	stage podStage
	since time.Time
}

type podStage uint8

const (
	stageNew podStage = iota
	stageScheduled
	stageStopping
)

// remaining returns how long the pod has to stay in its stage yet.
func (s *Story) remaining(uid types.UID, stage podStage, whole time.Duration) time.Duration {
	state := s.pods[uid]
	if state == nil || state.stage != stage {
		state = &podState{stage, time.Now()}
		s.pods[uid] = state
	}
	return whole - time.Since(state.since)
}

// playPod does what a scheduler and a kubelet do with a pod.
func (s *Story) playPod(it item) time.Duration {
	pod := get[corev1.Pod](s, it)
	switch {
	case pod == nil:
		return 0
	case pod.Spec.NodeName == "":
		if pod.DeletionTimestamp != nil || pod.Spec.SchedulerName != corev1.DefaultSchedulerName || len(pod.Spec.SchedulingGates) > 0 {
			return 0
		}
		return s.schedule(it, pod)
	case !slices.Contains(s.options.Nodes, pod.Spec.NodeName):
		return 0
	case pod.DeletionTimestamp != nil:
		return s.stop(it, pod)
	case pod.Status.Phase == corev1.PodPending || pod.Status.Phase == "":
		return s.start(it, pod)
	}
	return 0
}

func (s *Story) schedule(it item, pod *corev1.Pod) time.Duration {
	if left := s.remaining(pod.UID, stageNew, s.options.Schedule); left > 0 {
		return left
	}
	node := s.options.Nodes[s.turn%len(s.options.Nodes)]
	s.turn++
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if _, err := s.service.Bind(it.target(), binding, s.write()); err != nil {
		return 0 // it is deleted or bound by somebody else: the event tells
	}
	s.tellOf(pod, "Scheduled", "default-scheduler", fmt.Sprintf("Successfully assigned %s to %s", it.key, node))
	return 0
}

func (s *Story) start(it item, pod *corev1.Pod) time.Duration {
	if left := s.remaining(pod.UID, stageScheduled, s.options.Start); left > 0 {
		return left
	}
	t := it.target()
	t.Subresource = "status"
	ip := s.nextIP()
	_, err := s.service.Update(t, func(current runtime.Object) (runtime.Object, error) {
		started := current.(*corev1.Pod)
		run(started, ip, hostIP(slices.Index(s.options.Nodes, started.Spec.NodeName)))
		return started, nil
	}, s.write())
	if err != nil {
		return 0 // it is gone
	}
	for _, c := range pod.Spec.Containers {
		s.tellOf(pod, "Pulled", "kubelet", fmt.Sprintf("Container image %q already present on machine", c.Image))
		s.tellOf(pod, "Created", "kubelet", "Container created")
		s.tellOf(pod, "Started", "kubelet", "Container started")
	}
	return 0
}

// nextIP returns a pod address of 10.244.0.0/16.
func (s *Story) nextIP() string {
	s.address = max(s.address+1, 1)
	return fmt.Sprintf("10.244.%d.%d", s.address>>8, s.address&0xff)
}

// run gives a pod the status of one that runs.
func run(p *corev1.Pod, ip, host string) {
	at := now()
	p.Status.Phase = corev1.PodRunning
	p.Status.StartTime = &at
	p.Status.PodIP, p.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	p.Status.HostIP, p.Status.HostIPs = host, []corev1.HostIP{{IP: host}}
	p.Status.ObservedGeneration = p.Generation
	for _, t := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		if !slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == t }) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
				Type: t, Status: corev1.ConditionTrue, LastTransitionTime: at, ObservedGeneration: p.Generation,
			})
		}
	}
	p.Status.InitContainerStatuses = statuses(p, p.Spec.InitContainers, corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: at, FinishedAt: at},
	})
	p.Status.ContainerStatuses = statuses(p, p.Spec.Containers, corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: at},
	})
}

func statuses(p *corev1.Pod, containers []corev1.Container, state corev1.ContainerState) []corev1.ContainerStatus {
	var list []corev1.ContainerStatus
	for _, c := range containers {
		list = append(list, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: "harktest://" + c.Image, ContainerID: fmt.Sprintf("harktest://%s/%s", p.UID, c.Name),
			Ready: true, Started: new(state.Running != nil), State: state,
		})
	}
	return list
}

// stop ends a pod that is being deleted, within its grace period.
func (s *Story) stop(it item, pod *corev1.Pod) time.Duration {
	grace := s.options.Stop
	if pod.DeletionGracePeriodSeconds != nil {
		grace = min(grace, time.Duration(*pod.DeletionGracePeriodSeconds)*time.Second)
	}
	first := s.pods[pod.UID] == nil || s.pods[pod.UID].stage != stageStopping
	left := s.remaining(pod.UID, stageStopping, grace)
	if first {
		for _, c := range pod.Spec.Containers {
			s.tellOf(pod, "Killing", "kubelet", "Stopping container "+c.Name)
		}
	}
	if left > 0 {
		return left
	}
	delete(s.pods, pod.UID)
	uid := pod.UID
	// An error means that somebody else has deleted it.
	_, _, _ = s.service.Delete(it.target(), metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &uid}}, false)
	return 0
}

// tellOf records an Event about a pod, which kubectl describe shows.
func (s *Story) tellOf(pod *corev1.Pod, reason, source, message string) {
	s.tell(about{corev1.SchemeGroupVersion.WithKind("Pod"), pod, pod.Spec.NodeName}, corev1.EventTypeNormal, reason, source, message)
}
