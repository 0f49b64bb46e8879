package input

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/key"
)

// Set is an endless set of objects of one kind, numbered from 0. It is safe for
// concurrent use.
type Set struct {
	Kind     schema.GroupVersionKind
	Resource string // the plural
	// Protobuf tells whether the kind has that encoding beside JSON.
	Protobuf bool

	group  int // objects that are equal but for their fields
	fields []field
	// encode encodes an object, as it is without the templates.
	encode func(s state, protobuf bool) ([]byte, error)
	key    func(n int) key.Key

	templates [2]templates // in JSON and in protobuf
}

// templates are one for each group, made when they are needed.
type templates struct {
	mu   sync.Mutex // guards growing
	list atomic.Pointer[[]atomic.Pointer[template]]
}

// GVR returns the kind's resource.
func (s *Set) GVR() schema.GroupVersionResource {
	return s.Kind.GroupVersion().WithResource(s.Resource)
}

// Key names the n-th object.
func (s *Set) Key(n int) key.Key { return s.key(n) }

// Feed is a state of the set's first objects and the changes that follow.
type Feed struct {
	*Set
	// Objects is how many there are, Changes how often one of them changes. The
	// first Warm changes are for warming up.
	Objects, Changes, Warm int
}

// Version is the version of the state before the first change. The object n has
// a version below it, and the change n, counted from 0, makes Version+1+n.
func (f Feed) Version() uint64 { return uint64(firstVersion + f.Objects) }

// Last names the object that the last change is of, and the last one of the warming up, and no other.
func (f Feed) Last() key.Key { return f.Key(f.Objects - 1) }

// stride leads from the object of one change to that of the next; it is prime.
const stride = 7919

// target is the object of a change: all but the last object in turn, each once
// before any is changed again, and the last one by the last change of each part.
func (f Feed) target(change int) int {
	if change == f.Changes-1 || change == f.Warm-1 || f.Objects == 1 {
		return f.Objects - 1
	}
	others := f.Objects - 1
	if others%stride == 0 {
		return change % others
	}
	return change * stride % others
}

// AppendObject appends the n-th object of the first state.
func (f Feed) AppendObject(dst []byte, n int, protobuf bool) []byte {
	return f.append(dst, state{n: n, version: firstVersion + n}, protobuf)
}

// AppendChange appends what the n-th change makes of its object.
func (f Feed) AppendChange(dst []byte, n int, protobuf bool) []byte {
	return f.append(dst, f.changed(n), protobuf)
}

func (f Feed) changed(n int) state {
	return state{n: f.target(n), version: firstVersion + f.Objects + 1 + n, changes: n + 1}
}

// Prepare makes all that is made once, so that a measurement does not wait for it.
func (f Feed) Prepare() {
	groups := (f.Objects + f.group - 1) / f.group
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := int(next.Add(1)) - 1; n < groups; n = int(next.Add(1)) - 1 {
				f.template(n, f.Protobuf)
			}
		})
	}
	workers.Wait()
}

func (s *Set) append(dst []byte, at state, protobuf bool) []byte {
	return s.template(at.n/s.group, protobuf).appendObject(dst, at, s.fields, protobuf)
}

func (s *Set) template(group int, protobuf bool) *template {
	cache := &s.templates[0]
	if protobuf {
		cache = &s.templates[1]
	}
	slot := cache.slot(group)
	if t := slot.Load(); t != nil {
		return t
	}
	first := state{n: group * s.group, version: firstVersion + group*s.group}
	raw, err := s.encode(first, protobuf)
	if err != nil {
		panic(fmt.Sprintf("input: %s %d does not encode: %v", s.Resource, first.n, err))
	}
	t, err := newTemplate(raw, first, s.fields, protobuf)
	if err != nil {
		panic(err.Error()) // what is encoded and the fields are made from one list
	}
	slot.Store(t)
	return t
}

// slot returns the place of a group's template.
func (c *templates) slot(group int) *atomic.Pointer[template] {
	if list := c.list.Load(); list != nil && group < len(*list) {
		return &(*list)[group]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list.Load()
	if list != nil && group < len(*list) {
		return &(*list)[group]
	}
	grown := make([]atomic.Pointer[template], max(1024, 2*group))
	if list != nil {
		for i := range *list {
			grown[i].Store((*list)[i].Load())
		}
	}
	c.list.Store(&grown)
	return &grown[group]
}
