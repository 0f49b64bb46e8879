package hark

import (
	"fmt"

	"github.com/gocampus/hark/kube"
)

// Observe lets runs see at once what this program has just written: object is
// the server's answer to a write (not to a deletion) of the main kind, within this
// controller's namespace and selectors. An answer that comes later than what the watch has
// told changes nothing, and never brings back what was deleted. Like Store it
// blocks until Run has found the kind. The error is of an object that does not
// encode.
func (c *Controller[T]) Observe(object *T) error {
	<-c.ready
	if len(c.feeds) == 0 {
		return nil // Run has not found the kind
	}
	encoded, err := kube.Encode(object)
	if err != nil {
		return fmt.Errorf("hark: controller %s: observe: %w", c.options.Name, err)
	}
	c.feeds[0].Observe(encoded)
	return nil
}
