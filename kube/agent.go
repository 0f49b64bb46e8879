package kube

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

const modulePath = "github.com/gocampus/hark"

// userAgent is what requests call themselves unless the configuration names
// another: "hark/v1.2.3 (linux/amd64)". The version is the one that the binary
// was built from, "devel" when the build does not know it.
var userAgent = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("hark/%s (%s/%s)", moduleVersion(info), runtime.GOOS, runtime.GOARCH)
})

func moduleVersion(info *debug.BuildInfo) string {
	const unknown = "devel"
	if info == nil {
		return unknown
	}
	version := ""
	if info.Main.Path == modulePath {
		version = info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == modulePath {
			version = dep.Version
		}
	}
	version = strings.Trim(version, "()") // "(devel)" would read as a comment in the header
	if version == "" {
		return unknown
	}
	return version
}
