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
// places, and has hashes for names. What is not used between one garbage collection and the
// next but one is dropped. Until then models are not exchanged for newer ones, or who views a
// great many objects in turn would drop each before it is of use.
type models struct {
	mu      sync.Mutex
	places  [placeSets][placeWays]modelPlace
	size    int // of all models
	ageing  bool
	maxSize int
}

// modelPlace is one name, and its model once there is one.
type modelPlace struct {
	name  uint64 // 0 is a free place
	age   uint8  // garbage collections since it was used
	never bool   // a message of that name cannot be a model: another one is not tried
	model *protobuf.Model
}

const (
	placeSets, placeWays = 256, 8
	// maxModels bounds the messages of all models. What was made of them takes some three times as
	// much, and of messages of short texts seven times.
	maxModels = 8 << 20
	// maxAge is how many garbage collections a model outlives its last use.
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

// modelNames are what an object finds a model by.
type modelNames struct{ own, family uint64 }

func namesOf(obj *wire.Object, into any) modelNames {
	t := reflect.TypeOf(into)
	return modelNames{
		own: 1 | maphash.Comparable(modelSeed, struct {
			t reflect.Type
			k key.Key
		}{t, obj.Key()}),
		family: 1 | maphash.Comparable(modelSeed, struct {
			t     reflect.Type
			owner string
		}{t, obj.OwnerUID()}),
	}
}

// advice is what to make a result like, nil for nothing, and by what name: found there, or to be
// the model of that name.
type advice struct {
	like  *protobuf.Model
	name  uint64
	serve bool // the result is to be the model
}

// advise looks up a model for a message of that size, and leaves names.
func (m *models) advise(names modelNames, size int) advice {
	m.mu.Lock()
	defer m.mu.Unlock()
	own, known := m.place(names.own)
	if m.fit(own, size); own.model != nil {
		return advice{like: own.model, name: names.own}
	}
	// A family's place may be the same one; then it is the object's no more.
	family, akin := m.place(names.family)
	m.fit(family, size)
	switch full := m.size+size > m.maxSize; {
	case full:
	case family.model == nil && akin && !family.never:
		return advice{name: names.family, serve: true} // like no other: it keeps no more alive than itself
	case known && !own.never:
		return advice{like: family.model, name: names.own, serve: true}
	}
	return advice{like: family.model, name: names.family}
}

// place returns the place of a name, and whether it had one already. A new one takes
// the place that is missed the least.
func (m *models) place(name uint64) (p *modelPlace, known bool) {
	if p = m.find(name); p != nil {
		p.age = 0
		return p, true
	}
	set := m.set(name)
	p = &set[0]
	for i := range set {
		if set[i].missed() < p.missed() {
			p = &set[i]
		}
	}
	m.drop(p)
	p.name = name
	if !m.ageing {
		m.ageing = true
		m.ageAtCollection()
	}
	return p, false
}

// set is the places where a name may be.
func (m *models) set(name uint64) *[placeWays]modelPlace { return &m.places[name>>8%placeSets] }

// find returns the place of a name, nil when it has none.
func (m *models) find(name uint64) *modelPlace {
	set := m.set(name)
	for i := range set {
		if set[i].name == name {
			return &set[i]
		}
	}
	return nil
}

// fit drops a model that is much larger than a message of that size, which would keep all
// of it in memory for a small part.
func (m *models) fit(p *modelPlace, size int) {
	if p.model != nil && p.model.Size() > maxLarger*size+maxSmall {
		m.take(p)
	}
}

// missed is the larger the more of a loss it is to drop what is there: what was used lately,
// and a model more than a name alone.
func (p *modelPlace) missed() int {
	if p.name == 0 {
		return -1
	}
	missed := 2 * (maxAge - int(p.age))
	if p.model != nil {
		missed++
	}
	return missed
}

// serve makes a result the model of a name.
func (m *models) serve(name uint64, model *protobuf.Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size+model.Size() > m.maxSize {
		return // others were faster
	}
	if p, _ := m.place(name); p.model == nil {
		p.model = model
		m.size += model.Size()
	}
}

// refuse notes that the message that was to be the model of a name cannot be one.
func (m *models) refuse(name uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.find(name); p != nil {
		p.never = true
	}
}

// dismiss drops a model with which too little is shared; the next result takes its place.
func (m *models) dismiss(name uint64, model *protobuf.Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.find(name); p != nil && p.model == model {
		m.take(p)
	}
}

// take takes the model away from a place, and leaves the name.
func (m *models) take(p *modelPlace) {
	if p.model != nil {
		m.size -= p.model.Size()
		p.model = nil
	}
}

func (m *models) drop(p *modelPlace) {
	m.take(p)
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
			case p.name == 0:
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
