package service

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/key"
)

// ListOptions are the options of lists and watches as the API reads them.
type ListOptions = internalversion.ListOptions

// List is the answer to a list.
type List struct {
	Records         []*Record
	ResourceVersion string
	Continue        string
	// Remaining is how many items follow, nil when it is not known.
	Remaining *int64
}

// selection decides which objects a list or watch is about.
type selection struct {
	namespace string
	name      string // from a field selector metadata.name=…, or ""
	labels    labels.Selector
	fields    fields.Selector
}

func newSelection(t Target, o ListOptions) (selection, error) {
	sel := selection{namespace: t.Namespace, labels: labels.Everything(), fields: fields.Everything()}
	if o.LabelSelector != nil {
		sel.labels = o.LabelSelector
	}
	if o.FieldSelector == nil || o.FieldSelector.Empty() {
		return sel, nil
	}
	transformed, err := o.FieldSelector.Transform(func(name, value string) (string, string, error) {
		known, ok := object.FieldName(t.Kind, name)
		if !ok {
			return "", "", errors.New(object.UnknownField(t.Kind, name))
		}
		return known, value, nil
	})
	if err != nil {
		return sel, BadRequest("%v", err)
	}
	sel.fields = transformed
	sel.name, _ = transformed.RequiresExactMatch("metadata.name")
	return sel, nil
}

func (sel *selection) empty() bool { return sel.labels.Empty() && sel.fields.Empty() }

func (sel *selection) matches(r *Record) bool {
	if sel.namespace != "" && r.Key.Namespace != sel.namespace || sel.name != "" && r.Key.Name != sel.name {
		return false
	}
	return (sel.labels.Empty() || sel.labels.Matches(r.Value.Labels())) &&
		(sel.fields.Empty() || sel.fields.Matches(r.Value.Fields()))
}

// List returns the objects of a kind as the options ask; see
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions.
func (s *Service) List(t Target, o ListOptions) (*List, error) {
	if errs := internalvalidation.ValidateListOptions(&o, true); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	sel, err := newSelection(t, o)
	if err != nil {
		return nil, err
	}
	snapshot, start, err := s.listFrom(t.Kind, o)
	if err != nil {
		return nil, err
	}
	limit := o.Limit
	if o.ResourceVersion == "0" && o.Continue == "" {
		limit = 0 // a server answers "any version" whole, from its cache
	}
	list := &List{ResourceVersion: strconv.FormatUint(snapshot.Version, 10)}
	list.fill(snapshot, sel, start, limit)
	return list, nil
}

// listFrom returns the state to list and the key after which to begin.
func (s *Service) listFrom(k *kind.Kind, o ListOptions) (mvcc.Snapshot[*object.Version], key.Key, error) {
	var none mvcc.Snapshot[*object.Version]
	if o.Continue != "" {
		return s.continued(k, o)
	}
	version, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return none, key.Key{}, BadRequest("invalid resource version: %v", err)
	}
	exact := o.ResourceVersionMatch == metav1.ResourceVersionMatchExact || o.ResourceVersionMatch == "" && o.Limit > 0
	if exact && version > 0 {
		snapshot, err := s.store.At(k.Storage(), version)
		if _, compacted := errors.AsType[*mvcc.CompactedError](err); compacted {
			return none, key.Key{}, apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
		}
		if err != nil {
			return none, key.Key{}, versionError(err)
		}
		return snapshot, key.Key{}, nil
	}
	snapshot := s.store.Newest(k.Storage())
	if version > snapshot.Version {
		return none, key.Key{}, tooLarge(version, snapshot.Version)
	}
	return snapshot, key.Key{}, nil
}

func (l *List) fill(snapshot mvcc.Snapshot[*object.Version], sel selection, start key.Key, limit int64) {
	for record := range snapshot.All(sel.namespace, start) {
		if !sel.matches(record) {
			continue
		}
		if limit > 0 && int64(len(l.Records)) == limit {
			last := l.Records[limit-1].Key
			l.Continue = encodeContinue(int64(snapshot.Version), last)
			if sel.empty() {
				remaining := int64(snapshot.CountAfter(sel.namespace, last))
				l.Remaining = &remaining
			}
			return
		}
		l.Records = append(l.Records, record)
	}
}

// token is a continue token: the version of the list and the last key returned.
// Version -1 continues at the newest state.
type token struct {
	APIVersion string `json:"v"`
	Version    int64  `json:"rv"`
	Start      string `json:"start"`
}

const tokenVersion = "meta.k8s.io/v1"

func encodeContinue(version int64, last key.Key) string {
	data, err := json.Marshal(token{APIVersion: tokenVersion, Version: version, Start: last.Namespace + "/" + last.Name})
	if err != nil {
		panic("service: a continue token does not encode: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func decodeContinue(text string) (token, key.Key, error) {
	var t token
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		return t, key.Key{}, BadRequest("invalid continue token: continue key is not valid: %v", err)
	}
	namespace, name, ok := strings.Cut(t.Start, "/")
	if t.APIVersion != tokenVersion || t.Version == 0 || !ok {
		return t, key.Key{}, BadRequest("invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version %s)", t.APIVersion)
	}
	return t, key.Key{Namespace: namespace, Name: name}, nil
}

// expiredContinue is the API's answer to a token whose version was forgotten.
const expiredContinue = "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
	"the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the " +
	"provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk " +
	"was returned and now may show up in the list."

func (s *Service) continued(k *kind.Kind, o ListOptions) (mvcc.Snapshot[*object.Version], key.Key, error) {
	var none mvcc.Snapshot[*object.Version]
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return none, key.Key{}, BadRequest("specifying resource version is not allowed when using continue")
	}
	t, start, err := decodeContinue(o.Continue)
	if err != nil {
		return none, key.Key{}, err
	}
	if t.Version < 0 {
		return s.store.Newest(k.Storage()), start, nil
	}
	snapshot, err := s.store.At(k.Storage(), uint64(t.Version))
	if err != nil {
		expired := apierrors.NewResourceExpired(expiredContinue)
		expired.ErrStatus.ListMeta.Continue = encodeContinue(-1, start)
		return none, key.Key{}, expired
	}
	return snapshot, start, nil
}
