// Package protobuf decodes the generated types of the Kubernetes API from
// protobuf, as their own Unmarshal does, several times faster.
//
// The generated code copies each string out of the message. Here strings are
// parts of the message's bytes where the caller says that those never change;
// a list is allocated once, at its length; and quantities that were read before
// are not parsed again. What a type's fields are is read from the struct tags
// once and kept as a plan, by which the decoder writes to the fields' addresses.
//
// Exactness comes first. A message in which anything is out of the ordinary (a
// wrong wire type, a group, a truncated field, a packed list) is not decoded at
// all: the caller asks the type's own Unmarshal, which decodes it or says what is
// wrong with it. So errors are always those of the generated code, and what has
// to hold here is only that what is decoded equals what the generated code makes of
// the same bytes, down to nil or empty.
package protobuf
