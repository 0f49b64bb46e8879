package hook

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/gocampus/hark/internal/diff"
	"github.com/gocampus/hark/watch"
)

// Schema names the form of a request.
const Schema = "hark.run/v1"

// Key is one object: what is never run twice at the same time.
type Key struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Resource as kubectl names it: "pods", "deployments.apps".
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns pods/default/web, or nodes/node-1 for a cluster-scoped kind.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Resource + "/" + k.Name
	}
	return k.Resource + "/" + k.Namespace + "/" + k.Name
}

// Cause is one change that led to a run, or what else did.
type Cause struct {
	Type watch.EventType `json:"type"`
	// Cause is initial, watch, relist or resync; or requeue, for a run that the
	// program asked for, and restart, for one that the last process owed.
	Cause           string `json:"cause"`
	ResourceVersion string `json:"resourceVersion"`
	Time            Time   `json:"time"` // when it arrived
	// Own: it is the work of the program itself, by its field manager.
	Own bool `json:"own,omitempty"`
	// Diff is what changed; only of a modification, and then never null.
	Diff *[]diff.Change `json:"diff,omitempty"`
}

// Request is what a program is asked to do. The order of the fields is the order
// in which they are written.
type Request struct {
	Schema string          `json:"schema"`
	Key    Key             `json:"key"`
	Type   watch.EventType `json:"type"` // of all causes in one
	// Object is the newest state, without managedFields; null when it is deleted.
	Object map[string]any `json:"object"`
	// Last is the last known state of a deleted object; null when it was never
	// known, and for others.
	Last map[string]any `json:"last"`
	// Causes are the changes since the last run that succeeded, in order. Of many,
	// the newest are one, whose diff spans them.
	Causes []Cause `json:"causes"`
	// Merged counts the further changes that this run stands for.
	Merged int `json:"merged"`
	// Attempt counts from 1 since the last success.
	Attempt int `json:"attempt"`
	// Deadline is when the program will be asked to end; null for never.
	Deadline *Time `json:"deadline"`
}

// Time is written as RFC 3339 with nanoseconds, in UTC.
type Time time.Time

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, time.RFC3339Nano), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := time.Parse(time.RFC3339Nano, string(text))
	*t = Time(parsed)
	return err
}

// line is the request as one line of JSON.
func (r *Request) line() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(r)
	return b.Bytes(), err
}

// environment is the request in short.
func (r *Request) environment() []string {
	env := []string{
		"HARK_SCHEMA=" + r.Schema,
		"HARK_KEY=" + r.Key.String(),
		"HARK_TYPE=" + string(r.Type),
		"HARK_API_VERSION=" + r.Key.APIVersion,
		"HARK_KIND=" + r.Key.Kind,
		"HARK_RESOURCE=" + r.Key.Resource,
		"HARK_NAMESPACE=" + r.Key.Namespace,
		"HARK_NAME=" + r.Key.Name,
		"HARK_RESOURCE_VERSION=" + r.resourceVersion(),
		"HARK_CAUSE=" + r.cause(),
		"HARK_MERGED=" + strconv.Itoa(r.Merged),
		"HARK_ATTEMPT=" + strconv.Itoa(r.Attempt),
		"HARK_DEADLINE=",
	}
	if r.Deadline != nil {
		deadline, _ := r.Deadline.MarshalText() // it never fails
		env[len(env)-1] += string(deadline)
	}
	return env
}

// resourceVersion is that of the object, or of its last known state.
func (r *Request) resourceVersion() string {
	state := r.Object
	if state == nil {
		state = r.Last
	}
	metadata, _ := state["metadata"].(map[string]any)
	version, _ := metadata["resourceVersion"].(string)
	return version
}

// cause names the different causes: "watch", or "initial,watch".
func (r *Request) cause() string {
	var names []string
	seen := map[string]bool{}
	for _, c := range r.Causes {
		if !seen[c.Cause] {
			seen[c.Cause] = true
			names = append(names, c.Cause)
		}
	}
	return strings.Join(names, ",")
}

// Command is a program and its arguments, with placeholders.
type Command struct {
	// Path of the program.
	Path string
	// Args may hold {namespace}, {name} and {kind}.
	Args []string
	// Env is the environment to begin with.
	Env []string
}

// placeholders of the arguments.
var placeholders = []string{"{namespace}", "{name}", "{kind}"}

// HasPlaceholders tells whether the arguments differ from object to object.
func (c Command) HasPlaceholders() bool {
	for _, arg := range c.Args {
		for _, name := range placeholders {
			if strings.Contains(arg, name) {
				return true
			}
		}
	}
	return false
}

// For returns the arguments for one object. A value is inserted as it is: what
// looks like a placeholder in it is none.
func (c Command) For(k Key) []string {
	replacer := strings.NewReplacer("{namespace}", k.Namespace, "{name}", k.Name, "{kind}", k.Kind)
	args := make([]string, len(c.Args))
	for i, arg := range c.Args {
		args[i] = replacer.Replace(arg)
	}
	return args
}
