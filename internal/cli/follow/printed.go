package follow

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/wire"
)

// Printed is what a printer takes for an event of an informer, seen at a time. Only
// what the printer needs is decoded.
func Printed(p *printer.Printer, kind kube.Kind, e informer.Event, at time.Time) printer.Event {
	object := e.Object()
	event := printer.Event{
		Time: at, Type: e.Type, Cause: e.Cause, Kind: PrintedKind(kind), Key: e.Key, Merged: e.Merged,
	}
	if object != nil {
		event.ResourceVersion, event.Deleting = object.ResourceVersion(), object.Deleting()
	}
	needsObject, needsOld := p.Needs(event)
	if needsObject {
		event.Object, event.Err = decode(kind, object)
	}
	if needsOld {
		event.Old, _ = decode(kind, e.Old) // it was told when it was new
	}
	return event
}

// decode decodes an object; nil, the state that nobody knows, is no error.
func decode(kind kube.Kind, object *wire.Object) (map[string]any, error) {
	if object == nil {
		return nil, nil
	}
	var decoded unstructured.Unstructured
	if err := kind.Decode(object, &decoded); err != nil {
		return nil, err
	}
	return decoded.Object, nil
}
