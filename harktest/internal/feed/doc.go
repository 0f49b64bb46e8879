// Package feed is the objects of a resource that the server does not hold: they
// are encoded each time that they are sent.
package feed
