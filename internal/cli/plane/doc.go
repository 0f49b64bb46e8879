// Package plane runs a real control plane as a child process: the program
// hark-cluster of the module github.com/gocampus/hark/cluster, on which this
// module does not depend.
//
// The program is taken from PATH. Where it is not installed, the go command builds
// it: from the checkout that the working directory is in, or else from the newest
// release.
package plane
