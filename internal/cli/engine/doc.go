// Package engine makes a controller of a program: it takes changes from a Feed,
// keeps per object what the program has not dealt with yet, and runs the program
// for one object after the other on a work queue.
//
//	Feed → ledger (newest state, causes, failures) → workqueue → workers → Program
//
// # What it promises
//
// A key (kind, namespace, name) is never run twice at once, and no change of it is
// lost: what a run was not told of leads to another run, and the causes of a run
// that failed are told again with the next. A key that fails waits in the queue and
// delays no other. What waits is bounded by the number of objects: the newest state
// of each, and at most maxCauses changes, of which the last stands for all that
// found no room.
//
// # Own writes and hot loops
//
// A program that changes the object it is run for is run again by its own work,
// which is right once: it shows that nothing is left to do. A hot loop is a key
// that was run more than Loop.Runs times within Loop.Window, each run caused by the
// one before. From then on changes that are the program's own wait, longer each
// time, up to a minute; changes by others do not wait, and end the state.
//
// Whose work a change is, managedFields tell where the program writes under the
// name of Options.FieldManager. Where they do not tell, a change that arrived
// while the key was being run, or right after, is taken for its own, and waits for
// eight seconds at most.
package engine
