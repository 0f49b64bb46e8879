// Package serve is the server that all sides are measured against: harktest in
// a process of its own, told what to serve over its standard input.
package serve
