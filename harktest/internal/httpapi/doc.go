// Package httpapi serves the API over HTTP: it reads requests, asks package
// service, and writes answers in the encoding and form that the client accepts.
// It also carries out the faults that package fault decides on.
package httpapi
