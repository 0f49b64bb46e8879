package kube

import (
	"hash/maphash"
	"reflect"
	"runtime"
	"sync"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube/internal/protobuf"
	"github.com/gocampus/hark/wire"
)

// models are results of View that later ones are made like: of an object that is
// viewed again and again, one of its versions; of a family, the objects of one owner or
// all without any, one of its members. Whoever is the first leaves its name alone, and the
// second one becomes the model: what is viewed once costs no more than a name.
//
// The table may forget and confuse what it likes: a model only saves work, as what is taken
// from it has to be equal to the byte. So it is small, of a fixed number of
// places, and has hashes for names. What three garbage collections have found unused is dropped.
// Until the first of them no other model takes its place, or who views a great many objects in
// turn would drop each before it is of use.
type models struct {
	mu      sync.Mutex
	seen    [seenNames]uint64 // names that were asked for, each at the place that it says
	places  [placeSets][placeWays]modelPlace
	size    int // of all models
	maxSize int
	ageing  bool // age is to be called
}

// modelPlace is a model, or none.
type modelPlace struct {
	model *protobuf.Model
	name  uint64 // an odd number
	age   uint8  // garbage collections since it was used
}

const (
	seenNames            = 4096
	placeSets, placeWays = 256, 8
	// maxModels bounds the messages of all models. What was made of them takes some three times as
	// much, and of messages of short texts seven times.
	maxModels = 8 << 20
	// maxAge is how many garbage collections a model outlives its last use; the next one ends it.
	maxAge = 2
	// A model is of at most this many times the size of a message, and this many bytes more.
	maxLarger, maxSmall = 4, 4 << 10
	// poor is the part of a message that is too little to share with its model.
	poor = 4
)

var (
	viewModels = models{maxSize: maxModels}
	modelSeed  = maphash.MakeSeed()
)

// nameOf is the name under which an object finds a model of its own.
func nameOf(obj *wire.Object, into any) uint64 {
	return 1 | maphash.Comparable(modelSeed, struct {
		t reflect.Type
		k key.Key
	}{reflect.TypeOf(into), obj.Key()})
}

// familyOf is the name under which an object finds its family's.
func familyOf(obj *wire.Object, into any) uint64 {
	return 1 | maphash.Comparable(modelSeed, struct {
		t     reflect.Type
		owner string
	}{reflect.TypeOf(into), obj.OwnerUID()})
}

// advice is what to make a result like, nil for nothing, and by what name: found there, or to be
// the model of that name.
type advice struct {
	like  *protobuf.Model
	name  uint64
	serve bool // the result is to be the model
}

// own returns an object's own model for a message of that size, nil for none.
func (m *models) own(name uint64, size int) *protobuf.Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(name, size)
}

// advise is for an object without a model of its own. It leaves the names.
func (m *models) advise(own, family uint64, size int) advice {
	m.mu.Lock()
	defer m.mu.Unlock()
	like := m.find(family, size)
	switch {
	case like == nil && m.saw(family) && m.room(family, size) != nil:
		return advice{name: family, serve: true} // like no other: it keeps no more alive than itself
	case m.saw(own) && m.room(own, size) != nil:
		return advice{like: like, name: own, serve: true}
	}
	return advice{like: like, name: family}
}

// find returns the model of a name for a message of that size, nil for none. One that is much
// larger goes: a small result would keep all of it in memory.
func (m *models) find(name uint64, size int) *protobuf.Model {
	p := m.place(name)
	switch {
	case p == nil:
		return nil
	case p.model.Size() > maxLarger*size+maxSmall:
		m.drop(p)
		return nil
	}
	p.age = 0
	return p.model
}

// saw tells whether a name was asked for lately, and notes that it is now.
func (m *models) saw(name uint64) bool {
	seen := m.seenAt(name)
	if *seen == refused(name) {
		return false
	}
	known := *seen == name
	*seen = name
	return known
}

func (m *models) seenAt(name uint64) *uint64 { return &m.seen[name>>8%seenNames] }

// refuse notes that the message that was to be the model of a name cannot be one: no other is
// tried as long as that is remembered.
func (m *models) refuse(name uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.seenAt(name) = refused(name)
}

// refused is what is noted in place of a name.
func refused(name uint64) uint64 { return name &^ 1 }

// set is the places where the model of a name may be.
func (m *models) set(name uint64) *[placeWays]modelPlace { return &m.places[name>>8%placeSets] }

// place returns where the model of a name is, nil when there is none.
func (m *models) place(name uint64) *modelPlace {
	set := m.set(name)
	for i := range set {
		if set[i].name == name {
			return &set[i]
		}
	}
	return nil
}

// room returns where a model of a name and size can be, nil for nowhere: a free place, or that of
// one that was not used since the last collection.
func (m *models) room(name uint64, size int) *modelPlace {
	if m.size+size > m.maxSize {
		return nil
	}
	set := m.set(name)
	var oldest *modelPlace
	for i := range set {
		p := &set[i]
		if p.model == nil {
			return p
		}
		if p.age > 0 && (oldest == nil || p.age > oldest.age) {
			oldest = p
		}
	}
	return oldest
}

// serve makes a result the model of a name, unless there is one by now or no room any more.
func (m *models) serve(name uint64, model *protobuf.Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.room(name, model.Size())
	if p == nil || m.place(name) != nil {
		return
	}
	m.drop(p)
	p.model, p.name = model, name
	m.size += model.Size()
	if !m.ageing {
		m.ageing = true
		m.ageAtCollection()
	}
}

// dismiss drops a model with which too little is shared; the next result takes its place.
func (m *models) dismiss(name uint64, model *protobuf.Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.place(name); p != nil && p.model == model {
		m.drop(p)
		m.saw(name)
	}
}

func (m *models) drop(p *modelPlace) {
	if p.model != nil {
		m.size -= p.model.Size()
	}
	*p = modelPlace{}
}

// ageAtCollection calls age after the next garbage collection.
func (m *models) ageAtCollection() {
	type tick struct{ _ *models } // with a pointer, or others may be allocated together with it
	runtime.AddCleanup(&tick{}, (*models).age, m)
}

// age drops what was not used lately, and goes on doing so as long as anything is left.
func (m *models) age() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ageing = false
	for i := range m.places {
		for j := range m.places[i] {
			switch p := &m.places[i][j]; {
			case p.model == nil:
			case p.age == maxAge:
				m.drop(p)
			default:
				p.age++
				m.ageing = true
			}
		}
	}
	if m.ageing {
		m.ageAtCollection()
	}
}
