// Package process runs a program together with everything that it starts.
//
// A program gets a group of its own: a process group on Unix, a job object on
// Windows. The group is what is asked to end, killed, and looked after when the
// program itself has ended: nothing of a run outlives it, so that the next run
// for the same object does not meet the last one's helpers. A program that has
// to leave something behind must start it in a session of its own (setsid).
//
// On a terminal the group does not hear Ctrl+C, which is for the program that
// started it. KillAll is for the moment when that one ends at once.
package process
