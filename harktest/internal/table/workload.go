package table

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

func addWorkloads(add func(reflect.Type, printer)) {
	add(of(func(d *appsv1.Deployment, m metav1.Object) []any {
		names, images := containers(&d.Spec.Template)
		return []any{
			d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, deref(d.Spec.Replicas, 0)), int64(d.Status.UpdatedReplicas),
			int64(d.Status.AvailableReplicas), age(m), names, images, metav1.FormatLabelSelector(d.Spec.Selector),
		}
	}, "Name", "Ready", "Up-to-date", "Available", "Age", "+Containers", "+Images", "+Selector"))
	add(of(func(r *appsv1.ReplicaSet, m metav1.Object) []any {
		names, images := containers(&r.Spec.Template)
		return []any{
			r.Name, int64(deref(r.Spec.Replicas, 0)), int64(r.Status.Replicas), int64(r.Status.ReadyReplicas), age(m),
			names, images, metav1.FormatLabelSelector(r.Spec.Selector),
		}
	}, "Name", "#Desired", "#Current", "#Ready", "Age", "+Containers", "+Images", "+Selector"))
	add(of(func(r *corev1.ReplicationController, m metav1.Object) []any {
		names, images := "<none>", "<none>"
		if r.Spec.Template != nil {
			names, images = containers(r.Spec.Template)
		}
		return []any{
			r.Name, int64(deref(r.Spec.Replicas, 0)), int64(r.Status.Replicas), int64(r.Status.ReadyReplicas), age(m),
			names, images, labelText(r.Spec.Selector),
		}
	}, "Name", "#Desired", "#Current", "#Ready", "Age", "+Containers", "+Images", "+Selector"))
	add(of(func(s *appsv1.StatefulSet, m metav1.Object) []any {
		names, images := containers(&s.Spec.Template)
		return []any{s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, deref(s.Spec.Replicas, 0)), age(m), names, images}
	}, "Name", "Ready", "Age", "+Containers", "+Images"))
	add(of(func(d *appsv1.DaemonSet, m metav1.Object) []any {
		names, images := containers(&d.Spec.Template)
		return []any{
			d.Name, int64(d.Status.DesiredNumberScheduled), int64(d.Status.CurrentNumberScheduled), int64(d.Status.NumberReady),
			int64(d.Status.UpdatedNumberScheduled), int64(d.Status.NumberAvailable), labelText(d.Spec.Template.Spec.NodeSelector), age(m),
			names, images, metav1.FormatLabelSelector(d.Spec.Selector),
		}
	}, "Name", "#Desired", "#Current", "#Ready", "#Up-to-date", "#Available", "Node Selector", "Age", "+Containers", "+Images", "+Selector"))
	add(of(jobCells, "Name", "Status", "Completions", "Duration", "Age", "+Containers", "+Images", "+Selector"))
	add(of(func(c *batchv1.CronJob, m metav1.Object) []any {
		names, images := containers(&c.Spec.JobTemplate.Spec.Template)
		last := "<none>"
		if c.Status.LastScheduleTime != nil {
			last = since(*c.Status.LastScheduleTime)
		}
		return []any{
			c.Name, c.Spec.Schedule, deref(c.Spec.TimeZone, "<none>"), truth(c.Spec.Suspend), int64(len(c.Status.Active)), last, age(m),
			names, images, metav1.FormatLabelSelector(c.Spec.JobTemplate.Spec.Selector),
		}
	}, "Name", "Schedule", "Timezone", "?Suspend", "#Active", "Last Schedule", "Age", "+Containers", "+Images", "+Selector"))
}

// truth shows a truth value as the API does.
func truth(value *bool) string {
	switch {
	case value == nil:
		return "<unset>"
	case *value:
		return "True"
	}
	return "False"
}

func containers(t *corev1.PodTemplateSpec) (names, images string) {
	var n, i []string
	for _, c := range t.Spec.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func jobCells(j *batchv1.Job, m metav1.Object) []any {
	completions := fmt.Sprintf("%d/1 of %d", j.Status.Succeeded, deref(j.Spec.Parallelism, 0))
	if j.Spec.Completions != nil {
		completions = fmt.Sprintf("%d/%d", j.Status.Succeeded, *j.Spec.Completions)
	} else if deref(j.Spec.Parallelism, 0) <= 1 {
		completions = fmt.Sprintf("%d/1", j.Status.Succeeded)
	}
	lasted := ""
	if j.Status.StartTime != nil {
		end := time.Now()
		if j.Status.CompletionTime != nil {
			end = j.Status.CompletionTime.Time
		}
		lasted = duration.HumanDuration(end.Sub(j.Status.StartTime.Time))
	}
	names, images := containers(&j.Spec.Template)
	return []any{j.Name, jobStatus(j), completions, lasted, age(m), names, images, metav1.FormatLabelSelector(j.Spec.Selector)}
}

func jobStatus(j *batchv1.Job) string {
	holds := map[batchv1.JobConditionType]bool{}
	for _, c := range j.Status.Conditions {
		holds[c.Type] = c.Status == corev1.ConditionTrue
	}
	switch {
	case holds[batchv1.JobComplete]:
		return "Complete"
	case holds[batchv1.JobFailed]:
		return "Failed"
	case j.DeletionTimestamp != nil:
		return "Terminating"
	case holds[batchv1.JobSuspended]:
		return "Suspended"
	case holds[batchv1.JobFailureTarget]:
		return "FailureTarget"
	case holds[batchv1.JobSuccessCriteriaMet]:
		return "SuccessCriteriaMet"
	}
	return "Running"
}
