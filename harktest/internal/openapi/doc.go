// Package openapi describes kinds as OpenAPI v3 schemas, made from the Go types by
// reflection: names, types, the documentation that the types carry, and how lists are
// patched. It knows what clients such as kubectl explain and kubectl apply read.
package openapi
