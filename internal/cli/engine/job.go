package engine

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/internal/diff"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// job is one run: what it is told, undecoded.
type job struct {
	key          Key
	entry        *entry // for the engine, under its lock
	kind         kube.Kind
	causes       []cause
	news         int // the last of them that no run was told yet
	object, last *wire.Object
	attempt      int
	verdicts     []verdict // of the causes, once the request is made
}

// decoder decodes each state of an object once.
type decoder struct {
	kind kube.Kind
	done map[*wire.Object]map[string]any
}

// object decodes a state; nil is none.
func (d *decoder) object(o *wire.Object) (map[string]any, error) {
	if o == nil {
		return nil, nil
	}
	if known, ok := d.done[o]; ok {
		return known, nil
	}
	var u unstructured.Unstructured
	if err := d.kind.Decode(o, &u); err != nil {
		return nil, err
	}
	if d.done == nil {
		d.done = map[*wire.Object]map[string]any{}
	}
	d.done[o] = u.Object
	return u.Object, nil
}

// request words the job for the program. isNamed is told whether a change was seen
// under the field manager's name, and tells whether one ever was.
func (j *job) request(ctx context.Context, manager string, isNamed func(seen bool) bool) (*hook.Request, error) {
	decoded := decoder{kind: j.kind}
	object, err := decoded.object(j.object)
	if err != nil {
		return nil, err
	}
	last, err := decoded.object(j.last)
	if err != nil {
		last = nil // nobody can read it; that it is gone counts
	}
	r := &hook.Request{
		Schema: hook.Schema, Type: j.changeType(), Object: slim(object), Last: slim(last), Attempt: j.attempt,
		Key: hook.Key{
			APIVersion: j.kind.GVK.GroupVersion().String(), Kind: j.kind.GVK.Kind, Resource: j.key.Resource,
			Namespace: j.key.Namespace, Name: j.key.Name,
		},
		Merged: -1,
	}
	for _, c := range j.causes {
		told, whose := c.tell(&decoded, manager, isNamed)
		r.Causes = append(r.Causes, told)
		r.Merged += 1 + c.merged
		j.verdicts = append(j.verdicts, whose)
	}
	if deadline, ok := ctx.Deadline(); ok {
		r.Deadline = new(hook.Time(deadline))
	}
	return r, nil
}

// changeType is the type of all causes in one.
func (j *job) changeType() watch.EventType {
	if j.object == nil {
		return watch.EventDeleted
	}
	for _, c := range j.causes {
		if c.event == watch.EventAdded {
			return watch.EventAdded
		}
	}
	return watch.EventModified
}

// tell words a cause.
func (c *cause) tell(decoded *decoder, manager string, isNamed func(bool) bool) (hook.Cause, verdict) {
	told := hook.Cause{Type: c.event, Cause: "requeue", Time: hook.Time(c.time)}
	if c.why != 0 {
		told.Cause = c.why.String()
	}
	newest := c.new
	if newest == nil {
		newest = c.old
	}
	if newest != nil {
		told.ResourceVersion = newest.ResourceVersion()
	}
	old, err := decoded.object(c.old)
	object, newErr := decoded.object(c.new)
	if err != nil || newErr != nil {
		return told, unknown // a state that cannot be read has no diff
	}
	if c.event == watch.EventModified && object != nil && old != nil {
		changes := diff.Compare(old, object)
		if changes == nil {
			changes = []diff.Change{}
		}
		told.Diff = &changes
	}
	if c.why != watch.CauseWatch && c.why != watch.CauseRelist {
		return told, foreign
	}
	whose := judge(old, object, manager, isNamed(false))
	told.Own = whose == own
	if told.Own {
		isNamed(true)
	}
	return told, whose
}

// own tells whether the run is caused by the run before alone, and whether
// managedFields say so.
func (j *job) own() (own, sure bool) {
	sure = true
	first := len(j.causes) - j.news
	for i, c := range j.causes[first:] {
		switch whose := j.verdicts[first+i]; {
		case whose == foreign, whose == unknown && !c.beside:
			return false, false
		case whose == unknown:
			sure = false
		}
	}
	return true, sure
}

// slim returns an object without managedFields. The object itself is not changed.
func slim(object map[string]any) map[string]any {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok || metadata["managedFields"] == nil {
		return object
	}
	object, metadata = maps.Clone(object), maps.Clone(metadata)
	delete(metadata, "managedFields")
	object["metadata"] = metadata
	return object
}
