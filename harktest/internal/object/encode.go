package object

import (
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrNoProtobuf is returned for an object that has no protobuf encoding.
var ErrNoProtobuf = errors.New("object: no protobuf encoding")

var emptyKind schema.GroupVersionKind

// ProtobufMagic begins every protobuf document of the API.
const ProtobufMagic = "k8s\x00"

func encodeJSON(obj runtime.Object) ([]byte, error) { return json.Marshal(obj) }

func encodeProtobuf(obj runtime.Object) ([]byte, error) {
	message, ok := obj.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return nil, ErrNoProtobuf
	}
	return message.Marshal()
}

// AppendTypedJSON appends a JSON object with its apiVersion and kind put in
// front; bare must begin with a brace and have no apiVersion and kind.
func AppendTypedJSON(dst []byte, gvk schema.GroupVersionKind, bare []byte) []byte {
	dst = append(dst, `{"kind":"`...)
	dst = append(dst, gvk.Kind...)
	dst = append(dst, `","apiVersion":"`...)
	dst = append(dst, gvk.GroupVersion().String()...)
	dst = append(dst, '"')
	if len(bare) > len(`{}`) {
		dst = append(dst, ',')
	}
	return append(dst, bare[1:]...)
}

// Envelope is the start of a protobuf document: the magic bytes and the Unknown
// message up to and including the length of its raw bytes. After the raw bytes
// nothing needs to follow.
func Envelope(dst []byte, gvk schema.GroupVersionKind, size int) []byte {
	apiVersion := gvk.GroupVersion().String()
	typeSize := protowire.SizeTag(1) + protowire.SizeBytes(len(apiVersion)) + protowire.SizeTag(2) + protowire.SizeBytes(len(gvk.Kind))
	dst = append(dst, ProtobufMagic...)
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(typeSize))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, apiVersion)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendString(dst, gvk.Kind)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(size))
}

// PartialMetadata returns the metadata of an object alone, as the API answers
// to a request for PartialObjectMetadata.
func PartialMetadata(m metav1.Object) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{
			Name: m.GetName(), GenerateName: m.GetGenerateName(), Namespace: m.GetNamespace(),
			UID: m.GetUID(), ResourceVersion: m.GetResourceVersion(), Generation: m.GetGeneration(),
			CreationTimestamp: m.GetCreationTimestamp(), DeletionTimestamp: m.GetDeletionTimestamp(),
			DeletionGracePeriodSeconds: m.GetDeletionGracePeriodSeconds(),
			Labels:                     m.GetLabels(), Annotations: m.GetAnnotations(),
			OwnerReferences: m.GetOwnerReferences(), Finalizers: m.GetFinalizers(), ManagedFields: m.GetManagedFields(),
		},
	}
}
