package kind

import "k8s.io/apimachinery/pkg/version"

// compareVersions orders API versions as discovery does: v2 after v1 after v1beta2.
func compareVersions(a, b string) int { return version.CompareKubeAwareVersionStrings(a, b) }
