// Package rows is what is compared: studies, each of one job done by several
// sides in turn, and the rows that are read off their medians.
package rows
