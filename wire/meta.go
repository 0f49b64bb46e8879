package wire

import (
	"strings"
	"time"

	"github.com/gocampus/hark/key"
)

// Meta is the part of an object that Hark reads without decoding it. Its
// strings alias the scanned bytes unless a JSON escape forced a copy.
type Meta struct {
	Namespace         string
	Name              string
	UID               string
	ResourceVersion   string
	Generation        int64
	DeletionTimestamp time.Time // zero when the object is not being deleted
	Labels            []Label   // in the order of the wire
	Owner             Owner     // the owner reference with controller: true, or zero
}

// Label is one entry of metadata.labels.
type Label struct{ Name, Value string }

// Owner is a controlling owner reference.
type Owner struct{ APIVersion, Kind, Name, UID string }

// Label returns the value of one label, and whether there is one. When a name
// comes twice the last one counts, as for a decoder.
func (m *Meta) Label(name string) (string, bool) {
	for i := len(m.Labels) - 1; i >= 0; i-- {
		if m.Labels[i].Name == name {
			return m.Labels[i].Value, true
		}
	}
	return "", false
}

// detach copies the strings of m out of the bytes that they are part of, in one
// allocation.
func (m *Meta) detach() {
	var copied strings.Builder
	size := 0
	for s := range m.strings {
		size += len(*s)
	}
	copied.Grow(size)
	for s := range m.strings {
		copied.WriteString(*s)
	}
	rest := copied.String()
	for s := range m.strings {
		*s, rest = rest[:len(*s)], rest[len(*s):]
	}
}

// strings are all strings of m.
func (m *Meta) strings(yield func(*string) bool) {
	for _, s := range [...]*string{
		&m.Namespace, &m.Name, &m.UID, &m.ResourceVersion,
		&m.Owner.APIVersion, &m.Owner.Kind, &m.Owner.Name, &m.Owner.UID,
	} {
		if !yield(s) {
			return
		}
	}
	for i := range m.Labels {
		if !yield(&m.Labels[i].Name) || !yield(&m.Labels[i].Value) {
			return
		}
	}
}

// Scan reads the metadata of raw, one bare object, into m. It allocates only
// where m.Labels has to grow, a JSON string holds an escape, or a JSON time is
// not UTC; m.Labels' backing array is reused. On an error m's content is
// unspecified.
func Scan(encoding Encoding, raw []byte, m *Meta) error {
	found := sink{Meta: Meta{Labels: m.Labels[:0]}, allLabels: true}
	err := scan(encoding, raw, &found)
	*m = found.Meta
	return err
}

// sink is where a scan puts what it finds.
type sink struct {
	Meta
	part       bool   // the bytes end with the one part of metadata that there is
	parts      int    // of metadata that were found
	end        int    // of the last part
	owned      bool   // the controlling owner was found
	cutting    bool   // managedFields are to be found; of protobuf only
	edits      []edit // that remove them
	length     int    // the edit that is of the length of the part at hand
	run        labelRun
	allLabels  bool   // Meta.Labels is wanted; labels are checked in any case
	label      lookup // one label
	annotation lookup // one annotation, "" for none; others are not even checked
}

// key is the key that was found; its strings are part of the bytes.
func (m *Meta) key() key.Key { return key.Key{Namespace: m.Namespace, Name: m.Name} }

// lookup is one entry of a map of strings that is looked for.
type lookup struct {
	name  string
	value string
	ok    bool
}

// see looks at an entry. The last one of a name counts.
func (l *lookup) see(entry Label) {
	if l.name == entry.Name {
		l.value, l.ok = entry.Value, true
	}
}

// forget undoes what was seen: the map began anew.
func (l *lookup) forget() { l.value, l.ok = "", false }

func (m *sink) addLabel(label Label) {
	if m.allLabels {
		m.Labels = append(m.Labels, label)
	}
	m.label.see(label)
}

func (m *sink) clearLabels() {
	m.Labels = m.Labels[:0]
	m.label.forget()
}

func scan(encoding Encoding, raw []byte, m *sink) error {
	switch encoding {
	case Protobuf:
		return scanProtobuf(raw, m)
	case JSON:
		return scanJSON(raw, m)
	}
	return &Error{What: "unknown " + encoding.String(), Object: true}
}
