// Package wire reads the Kubernetes wire formats without decoding objects.
//
// It finds the borders of the frames of a watch and of the items of a list,
// scans an object's metadata, and cuts metadata.managedFields out; everything
// else of an object stays the bytes that the server sent. Both encodings of the
// API are read: protobuf (built-in kinds) and JSON (everything).
//
// Whatever bytes come in, the answer is a result or an *Error that says where;
// never a panic, and never an allocation that the input merely claims to need.
//
// A reader reads through one buffer of its own and holds one frame or item at a
// time. The buffer has 16 KiB, and 64 KiB while much comes. Beyond that it grows
// only when it is full of bytes that have arrived, to little more than
// Options.MaxObject; what is longer is read past without being held, and a buffer
// of more than 256 KiB is dropped once it is empty. What is kept of an object is a
// copy of just its size, or what a Compactor makes of it: a patch of another
// object's bytes.
//
// What decoders disagree about is read as the API's generated types decode it:
// members or parts that come twice, null, names in another case. One thing is not: of
// an array that comes twice in JSON, such as ownerReferences, the last one counts alone,
// where encoding/json puts its elements over those of the first.
//
// Readers are for one goroutine. An Object is immutable and safe for any number.
//
// Sources: https://kubernetes.io/docs/reference/using-api/api-concepts/
// (protobuf encoding, efficient detection of changes, streaming lists),
// k8s.io/apimachinery/pkg/runtime/generated.proto (Unknown),
// k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto (ObjectMeta, ListMeta,
// WatchEvent, Status).
package wire
