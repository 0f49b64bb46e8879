// Package manager is a test: an unmodified controller-runtime manager runs on
// harktest. It has no code of its own to use.
package manager
