// Package kind describes the kinds that a server serves: names, scope, verbs and
// subresources, and how an empty object of each is made. A Registry holds them
// and implements what the serializers of apimachinery ask of a scheme.
package kind
