package cli

import (
	"log/slog"
	"sync"

	"k8s.io/klog/v2"
)

// quietLibraries keeps client-go from logging to the user's terminal: every
// error reaches the user once, from finish or as a state of the watch.
var quietLibraries = sync.OnceFunc(func() {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
})
