// Package report turns samples into what is read: medians, lines, a table within a
// document, and plots.
package report
