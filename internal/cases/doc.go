// Package cases is tests: what once went wrong in the field, played over HTTP
// against an API server in memory. docs/cases.md lists the cases, what Hark does
// in each, and the tests that hold it. It has no code of its own to use.
package cases
