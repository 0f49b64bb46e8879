package kube

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ConfigOptions say where to look for a cluster. The zero value follows
// kubectl's rules: $KUBECONFIG, else ~/.kube/config, else the service account
// of the pod that the program runs in.
type ConfigOptions struct {
	// Kubeconfig is the path of a file that must exist; "" follows the rules.
	Kubeconfig string
	// Context of the kubeconfig; "" means its current context.
	Context string
	// Namespace takes the place of the configured one; "" keeps that.
	Namespace string
}

// NoConfigError is returned by LoadConfig when there is no configuration
// anywhere. A configuration that is there but wrong is another error.
type NoConfigError struct {
	// Looked lists, as phrases, the places where one was looked for.
	Looked []string
	// Err is client-go's own error.
	Err error
}

// Error implements error.
func (e *NoConfigError) Error() string {
	return "no configuration for a Kubernetes cluster: " + strings.Join(e.Looked, "; ")
}

// Unwrap returns client-go's error.
func (e *NoConfigError) Unwrap() error { return e.Err }

// LoadConfig returns the configuration of a cluster and the namespace to use
// where none is named ("default" unless configured). It reads files and the
// environment, and sends nothing.
//
// Errors: a *NoConfigError when there is none, else client-go's error with the
// file, context or field that is wrong.
func LoadConfig(o ConfigOptions) (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	rules.WarnIfAllMissing = false // NoConfigError says it
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	overrides.Context.Namespace = o.Namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)

	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", configError(err, o, rules)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("namespace of the configuration: %w", err)
	}
	return config, namespace, nil
}

func configError(err error, o ConfigOptions, rules *clientcmd.ClientConfigLoadingRules) error {
	if clientcmd.IsEmptyConfig(err) {
		return &NoConfigError{Looked: lookedAt(o, rules), Err: err}
	}
	if o.Kubeconfig != "" && errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("kubeconfig %s: %w", o.Kubeconfig, os.ErrNotExist)
	}
	return fmt.Errorf("configuration: %w", err)
}

// lookedAt lists the places that the rules went through, in their order.
func lookedAt(o ConfigOptions, rules *clientcmd.ClientConfigLoadingRules) []string {
	var looked []string
	if o.Kubeconfig != "" {
		looked = append(looked, fmt.Sprintf("kubeconfig %s (names no cluster)", o.Kubeconfig))
	} else {
		origin := "$KUBECONFIG"
		if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
			looked = append(looked, "$KUBECONFIG (not set)")
			origin = "default file"
		}
		for _, path := range rules.Precedence {
			looked = append(looked, fmt.Sprintf("%s %s (%s)", origin, path, fileState(path)))
		}
	}
	return append(looked, "in-cluster service account (not in a pod)")
}

func fileState(path string) string {
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return "does not exist"
		}
		return "cannot be read"
	}
	return "names no cluster"
}
