package sides

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/bench/internal/input"
	"github.com/gocampus/hark/key"
)

// Job is what one side does once.
type Job struct {
	Side string
	// Work is follow, read, stream, or a name of queueWorks.
	Work string
	URL  string
	// Set of objects that the server serves: pods, lone, configmaps or widgets.
	Set string
	// Objects are served at first. Then Warm changes follow, so that the heap has
	// the size that it keeps, and the Changes that are measured; the last of both
	// are of the object Last.
	Objects, Changes, Warm int
	Last                   key.Key `json:",omitzero"`
	// Handlers is how many handlers there are, each with a queue and a worker; 0
	// means one.
	Handlers int
	// Read makes the worker read, decoded, the newest object of each key.
	Read bool
	// Own makes it read what it may change: a copy, or a decode of its own.
	Own bool
	// Busy makes each run of the worker wait for so many microseconds.
	Busy int
	// Profile is how the names of files begin for profiles of what is measured, "" for
	// none: that and the measure, as in pods.hark.sync-cpu.pprof.
	Profile string
}

// Result is what was measured, by name: times in seconds, sizes in bytes.
type Result map[string]float64

// Names of what is measured.
const (
	SyncCPU   = "sync-cpu"
	SyncWall  = "sync-wall"
	SyncPeak  = "sync-peak"
	Heap      = "heap" // an object
	EventCPU  = "event-cpu"
	EventWall = "event-wall"
	EventHeap = "event-heap" // an object, after the changes
	EventPeak = "event-peak"
	Runs      = "runs" // of the worker, for the changes
	OpCPU     = "op-cpu"
	OpWall    = "op-wall"
	GetHot    = "get-hot"
	GetCold   = "get-cold"
	Unmarshal = "unmarshal" // by the generated code, of the bytes that Hark keeps
	List      = "list"
	ReadCPU   = "read-cpu" // of the stream
	ReadWall  = "read-wall"
	CopyCPU   = "copy-cpu"
	CopyWall  = "copy-wall"
	Bytes     = "bytes" // of the stream
)

// Ready is the line that asks for the changes.
const Ready = "READY"

// resource of a set.
func (j *Job) resource() schema.GroupVersionResource {
	switch j.Set {
	case "widgets":
		return input.WidgetKind.GroupVersion().WithResource("widgets")
	case "configmaps":
		return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	}
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}
