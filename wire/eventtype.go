package wire

import "strings"

// eventTypes are those that are known.
var eventTypes = [...]string{"MODIFIED", "ADDED", "DELETED", "BOOKMARK", "ERROR"}

// EventType returns the known type of a watch event that t names, whatever its case (of
// ASCII): ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. Of others it returns a copy.
func EventType(t string) string {
	for _, known := range &eventTypes {
		if len(t) == len(known) && strings.EqualFold(t, known) { // of that length it is ASCII
			return known
		}
	}
	return strings.Clone(t)
}
