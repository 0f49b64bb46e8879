package wire

// DefaultMaxObject is the size limit of one object or frame: 16 MiB. (etcd
// refuses objects of more than 1.5 MiB by default.)
const DefaultMaxObject = 16 << 20

// Options of the readers. The zero value is ready to use.
type Options struct {
	// MaxObject limits the bytes of one object or frame; 0 or less means
	// DefaultMaxObject. A reader holds little more than that in memory.
	MaxObject int
	// KeepManagedFields keeps metadata.managedFields; by default they are cut.
	KeepManagedFields bool
	// Keeper decides how objects are kept; nil keeps each whole.
	Keeper Keeper
}

func (o Options) limit() int {
	if o.MaxObject <= 0 {
		return DefaultMaxObject
	}
	return o.MaxObject
}

// WatchEvent is one frame of a watch stream.
type WatchEvent struct {
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, in upper case however the server
	// wrote it, or something newer as it was written.
	Type string
	// Object is set unless Type is BOOKMARK or ERROR, or newer and without an
	// object that can be read.
	Object *Object
	// ResourceVersion of a BOOKMARK; empty if the server left it out.
	ResourceVersion string
	// InitialEventsEnd is set on the BOOKMARK that ends the initial events of
	// a streaming list (annotation k8s.io/initial-events-end: "true").
	InitialEventsEnd bool
	// Status of an ERROR.
	Status *Status
}

// ListMeta is what a list says of itself.
type ListMeta struct {
	ResourceVersion    string
	Continue           string
	RemainingItemCount int64 // 0 when unknown
}

// Status is the part of a metav1.Status that Hark acts on.
type Status struct {
	Code              int32
	Reason            string
	Message           string
	RetryAfterSeconds int32
	Causes            []string // details.causes[].reason
}
