// Package sides is what is compared: one job done by one side, in a process of
// its own that ends with it.
//
//	client-go           cache.SharedIndexInformer, dynamic informers for custom resources, util/workqueue
//	client-go-stripped  the same with a transform that drops managedFields
//	controller-runtime  its cache, for reads
//	hark                informer, store and workqueue of this project
//	hark-compact        the same with the compact store
//	hark-default        the same with handlers by default, not quick
//	wire                no client at all: what reading the bytes costs
//
// A job is one line of JSON in the process's arguments; its result is one line of
// JSON on its standard output. Before changes are wanted the side prints "READY".
package sides
