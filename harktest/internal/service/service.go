package service

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/key"
)

// Record is a stored version with its key.
type Record = mvcc.Record[*object.Version]

// Options of a Service.
type Options struct {
	// TrackFields records managedFields for every write, as a real server does;
	// without it only objects that were applied have them.
	TrackFields bool
}

// Service holds the objects of all kinds. It is safe for concurrent use.
type Service struct {
	kinds   *kind.Registry
	store   *mvcc.Store[*object.Version]
	options Options
	decoder *object.Decoder

	mu       sync.Mutex // guards managers, address and chosen
	managers map[managerKey]func() (*fieldManager, error)
	address  uint16          // the last cluster IP that was given, as an offset
	chosen   map[string]bool // cluster IPs that were asked for

	// allocating is held while a service is created that asks for its cluster IP, so
	// that no other gets it meanwhile.
	allocating sync.Mutex

	// publishing guards defined. It is held for writing while a definition is changed
	// and for reading while an object of a defined kind is created.
	publishing sync.RWMutex
	defined    map[string]*served // by the name of their definition
}

// New returns a service over a store.
func New(kinds *kind.Registry, store *mvcc.Store[*object.Version], o Options) *Service {
	return &Service{kinds: kinds, store: store, options: o, decoder: object.NewDecoder(kinds), managers: map[managerKey]func() (*fieldManager, error){}, defined: map[string]*served{}, chosen: map[string]bool{}}
}

// Kinds returns the kinds that the service serves.
func (s *Service) Kinds() *kind.Registry { return s.kinds }

// Decoder returns the decoder of request bodies.
func (s *Service) Decoder() *object.Decoder { return s.decoder }

// Store returns the store below.
func (s *Service) Store() *mvcc.Store[*object.Version] { return s.store }

// Target names what a request is about.
type Target struct {
	Kind        *kind.Kind
	Namespace   string
	Name        string
	Subresource string
}

// Key returns the target's key.
func (t Target) Key() key.Key { return key.Key{Namespace: t.Namespace, Name: t.Name} }

func (t Target) notFound() error { return apierrors.NewNotFound(t.Kind.Resource(), t.Name) }

func (t Target) conflict(err error) error {
	return apierrors.NewConflict(t.Kind.Resource(), t.Name, err)
}

// kindConflict is conflict in the words of a deletion, which names the kind.
func (t Target) kindConflict(err error) error {
	kind := schema.GroupResource{Group: t.Kind.GVK.Group, Resource: t.Kind.GVK.Kind}
	return apierrors.NewConflict(kind, t.Name, err)
}

// errModified is what the API says of an update from an old version.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// GetAt is Get at a resourceVersion, which must not be newer than the server's.
func (s *Service) GetAt(t Target, resourceVersion string) (*object.Version, error) {
	version, err := parseVersion(resourceVersion)
	if err != nil {
		return nil, err
	}
	if current := s.store.Version(); version > current {
		return nil, tooLarge(version, current)
	}
	return s.Get(t)
}

// Get returns the newest version of an object.
func (s *Service) Get(t Target) (*object.Version, error) {
	record := s.store.Get(t.Kind.Storage(), t.Key())
	if record == nil {
		return nil, t.notFound()
	}
	return record.Value, nil
}

// BadRequest returns the API's answer to a request that cannot be understood.
func BadRequest(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}

// parseVersion reads a resourceVersion of a request.
func parseVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", text, err)
	}
	return version, nil
}

// versionError turns an error of the store into the API's.
func versionError(err error) error {
	if future, ok := errors.AsType[*mvcc.FutureError](err); ok {
		return tooLarge(future.Version, future.Current)
	}
	if compacted, ok := errors.AsType[*mvcc.CompactedError](err); ok {
		return apierrors.NewResourceExpired(compacted.Error())
	}
	return apierrors.NewInternalError(err)
}

func tooLarge(version, current uint64) error {
	e := apierrors.NewTimeoutError((&mvcc.FutureError{Version: version, Current: current}).Error(), 1)
	e.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return e
}

// genericStatus is a status without words of its own, as the API makes it of a code.
func genericStatus(code int, message string) error {
	return apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", message, 0, false)
}

// Generic is a status whose words do not come from an object of the API.
func Generic(code int, message string) error { return genericStatus(code, message) }

func unprocessable(message string) error {
	return genericStatus(http.StatusUnprocessableEntity, message)
}

// toHub returns obj, of the kind that a request names, as it is stored.
func toHub(k *kind.Kind, obj runtime.Object) (runtime.Object, error) {
	if k.ToHub == nil {
		return obj, nil
	}
	return k.ToHub(obj)
}

// fromHub is the way back; the result may be changed if obj may.
func fromHub(k *kind.Kind, obj runtime.Object) (runtime.Object, error) {
	if k.FromHub == nil {
		return obj, nil
	}
	return k.FromHub(obj)
}

// CheckName refuses an object whose name or namespace is not the target's.
func CheckName(obj runtime.Object, t Target) error {
	m, err := meta.Accessor(obj)
	if err != nil {
		return BadRequest("%v", err)
	}
	if m.GetName() == "" {
		return BadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", t.Name)
	}
	if m.GetName() != t.Name {
		return BadRequest("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), t.Name)
	}
	if m.GetNamespace() != "" && t.Namespace != "" && m.GetNamespace() != t.Namespace {
		return BadRequest("the namespace of the object (%s) does not match the namespace on the request (%s)", m.GetNamespace(), t.Namespace)
	}
	return nil
}
