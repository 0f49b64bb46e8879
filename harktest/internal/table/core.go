package table

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func addCore(add func(reflect.Type, printer)) {
	add(of(podCells, "Name", "Ready", "Status", "Restarts", "Age", "+IP", "+Node", "+Nominated Node", "+Readiness Gates"))
	add(of(serviceCells, "Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "+Selector"))
	add(of(nodeCells, "Name", "Status", "Roles", "Age", "Version", "+Internal-IP", "+External-IP", "+OS-Image", "+Kernel-Version", "+Container-Runtime"))
	add(of(eventCells, "Last Seen", "Type", "Reason", "Object", "+Subobject", "+Source", "Message", "+First Seen", "+Count", "+Name"))
	add(of(func(n *corev1.Namespace, m metav1.Object) []any {
		return []any{n.Name, string(n.Status.Phase), age(m)}
	}, "Name", "Status", "Age"))
	add(of(func(c *corev1.ConfigMap, m metav1.Object) []any {
		return []any{c.Name, int64(len(c.Data) + len(c.BinaryData)), age(m)}
	}, "Name", "Data", "Age"))
	add(of(func(s *corev1.Secret, m metav1.Object) []any {
		return []any{s.Name, string(s.Type), int64(len(s.Data)), age(m)}
	}, "Name", "Type", "Data", "Age"))
	add(of(func(s *corev1.ServiceAccount, m metav1.Object) []any {
		return []any{s.Name, age(m)}
	}, "Name", "Age"))
	add(of(func(e *corev1.Endpoints, m metav1.Object) []any { // still served by the API
		return []any{e.Name, endpoints(e), age(m)}
	}, "Name", "Endpoints", "Age"))
	add(of(claimCells, "Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass", "Age", "+VolumeMode"))
}

func podCells(p *corev1.Pod, m metav1.Object) []any {
	s := summarize(p)
	nominated, gates := orNone(p.Status.NominatedNodeName), "<none>"
	if n := len(p.Spec.ReadinessGates); n > 0 {
		gates = fmt.Sprintf("0/%d", n)
	}
	return []any{
		p.Name, fmt.Sprintf("%d/%d", s.ready, len(p.Spec.Containers)), s.reason, strconv.Itoa(s.restarts), age(m),
		orNone(p.Status.PodIP), orNone(p.Spec.NodeName), nominated, gates,
	}
}

// podSummary is what a line says of a pod.
type podSummary struct {
	reason          string
	ready, restarts int
}

func summarize(p *corev1.Pod) podSummary {
	s := podSummary{reason: string(p.Status.Phase)}
	if p.Status.Reason != "" {
		s.reason = p.Status.Reason
	}
	if !s.initializing(p) {
		s.restarts = 0
		running := false
		for _, c := range slices.Backward(p.Status.ContainerStatuses) {
			s.restarts += int(c.RestartCount)
			if state := stateReason(c.State); state != "" {
				s.reason = state
			} else if c.Ready && c.State.Running != nil {
				s.ready++
				running = true
			}
		}
		if s.reason == "Completed" && running {
			s.reason = "NotReady"
			if podReady(p) {
				s.reason = "Running"
			}
		}
	}
	ended := p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
	switch {
	case p.DeletionTimestamp != nil && p.Status.Reason == "NodeLost":
		s.reason = "Unknown"
	case p.DeletionTimestamp != nil && !ended:
		s.reason = "Terminating"
	}
	return s
}

// initializing tells whether an init container holds the pod, and says so.
func (s *podSummary) initializing(p *corev1.Pod) bool {
	for i, c := range p.Status.InitContainerStatuses {
		s.restarts += int(c.RestartCount)
		if c.State.Terminated != nil && c.State.Terminated.ExitCode == 0 {
			continue
		}
		s.reason = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		if state := stateReason(c.State); state != "" && state != "PodInitializing" {
			s.reason = "Init:" + state
		}
		return true
	}
	return false
}

// stateReason says why a container does not run, or "".
func stateReason(state corev1.ContainerState) string {
	switch {
	case state.Waiting != nil:
		return state.Waiting.Reason
	case state.Terminated == nil:
		return ""
	case state.Terminated.Reason != "":
		return state.Terminated.Reason
	case state.Terminated.Signal != 0:
		return fmt.Sprintf("Signal:%d", state.Terminated.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", state.Terminated.ExitCode)
}

func podReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func serviceCells(s *corev1.Service, m metav1.Object) []any {
	external := "<none>"
	switch {
	case s.Spec.Type == corev1.ServiceTypeExternalName:
		external = s.Spec.ExternalName
	case len(s.Spec.ExternalIPs) > 0:
		external = strings.Join(s.Spec.ExternalIPs, ",")
	case s.Spec.Type == corev1.ServiceTypeLoadBalancer:
		external = "<pending>"
	}
	var ports []string
	for _, port := range s.Spec.Ports {
		text := fmt.Sprintf("%d/%s", port.Port, port.Protocol)
		if port.NodePort > 0 {
			text = fmt.Sprintf("%d:%d/%s", port.Port, port.NodePort, port.Protocol)
		}
		ports = append(ports, text)
	}
	return []any{
		s.Name, string(s.Spec.Type), orNone(s.Spec.ClusterIP), external, orNone(strings.Join(ports, ",")), age(m), labelText(s.Spec.Selector),
	}
}

func nodeCells(n *corev1.Node, m metav1.Object) []any {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			status = "NotReady"
			if c.Status == corev1.ConditionTrue {
				status = "Ready"
			}
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	var roles []string
	for name := range n.Labels {
		if role, ok := strings.CutPrefix(name, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	info := n.Status.NodeInfo
	return []any{
		n.Name, status, orNone(strings.Join(roles, ",")), age(m), info.KubeletVersion, address(n, corev1.NodeInternalIP), address(n, corev1.NodeExternalIP),
		orUnknown(info.OSImage), orUnknown(info.KernelVersion), orUnknown(info.ContainerRuntimeVersion),
	}
}

func address(n *corev1.Node, kind corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == kind {
			return a.Address
		}
	}
	return "<none>"
}

func eventCells(e *corev1.Event, _ metav1.Object) []any {
	first, last := e.FirstTimestamp, e.LastTimestamp
	if first.IsZero() {
		first = metav1.NewTime(e.EventTime.Time)
	}
	if last.IsZero() {
		last = first
	}
	if e.Series != nil {
		last = metav1.NewTime(e.Series.LastObservedTime.Time)
	}
	object := strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
	source := e.Source.Component
	if source == "" {
		source = e.ReportingController
	}
	if e.Source.Host != "" {
		source += ", " + e.Source.Host
	}
	return []any{
		since(last), e.Type, e.Reason, object, e.InvolvedObject.FieldPath, source, strings.TrimSpace(e.Message), since(first), int64(max(e.Count, 1)), e.Name,
	}
}

func endpoints(e *corev1.Endpoints) string { // still served by the API
	var list []string
	for _, subset := range e.Subsets {
		for _, a := range subset.Addresses {
			for _, p := range subset.Ports {
				list = append(list, fmt.Sprintf("%s:%d", a.IP, p.Port))
			}
		}
	}
	const shown = 3
	if len(list) > shown {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:shown], ","), len(list)-shown)
	}
	return orNone(strings.Join(list, ","))
}

func claimCells(c *corev1.PersistentVolumeClaim, m metav1.Object) []any {
	capacity, modes := "", []string{}
	if c.Spec.VolumeName != "" {
		storage := c.Status.Capacity[corev1.ResourceStorage]
		capacity = storage.String()
		short := map[corev1.PersistentVolumeAccessMode]string{
			corev1.ReadWriteOnce: "RWO", corev1.ReadOnlyMany: "ROX", corev1.ReadWriteMany: "RWX", corev1.ReadWriteOncePod: "RWOP",
		}
		for _, mode := range c.Status.AccessModes {
			modes = append(modes, short[mode])
		}
	}
	status := string(c.Status.Phase)
	if c.DeletionTimestamp != nil {
		status = "Terminating"
	}
	return []any{
		c.Name, status, c.Spec.VolumeName, capacity, strings.Join(modes, ","), deref(c.Spec.StorageClassName, ""),
		deref(c.Spec.VolumeAttributesClassName, "<unset>"), age(m), string(deref(c.Spec.VolumeMode, "<unset>")),
	}
}

func deref[T any](p *T, missing T) T {
	if p == nil {
		return missing
	}
	return *p
}

func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}

func orUnknown(text string) string {
	if text == "" {
		return "<unknown>"
	}
	return text
}

func labelText(set map[string]string) string {
	return orNone(metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: set}))
}
