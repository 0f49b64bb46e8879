package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
)

const (
	// completionTimeout bounds what a press of the Tab key may take.
	completionTimeout = 3 * time.Second
	// completionNames bounds the names to choose from.
	completionNames = 500
)

// addCompletions completes kinds, names, namespaces and contexts.
func (w *watchFlags) addCompletions(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return w.completeArgument(cmd.Context(), args, typed)
	}
	completeFlag(cmd, "namespace", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return w.objectNames(cmd.Context(), namespacesResource, "", typed), cobra.ShellCompDirectiveNoFileComp
	})
	completePaths(cmd, "kubeconfig", "cache-dir", "client-certificate", "client-key", "certificate-authority")
	for flag, choices := range map[string]func(*api.Config) []string{
		"context": func(c *api.Config) []string { return slices.Collect(maps.Keys(c.Contexts)) },
		"cluster": func(c *api.Config) []string { return slices.Collect(maps.Keys(c.Clusters)) },
		"user":    func(c *api.Config) []string { return slices.Collect(maps.Keys(c.AuthInfos)) },
	} {
		completeFlag(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			raw, err := w.connection.flags.ToRawKubeConfigLoader().RawConfig()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return beginningWith(typed, choices(&raw)), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// completePaths completes paths for the flags that take one.
func completePaths(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		completeFlag(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		})
	}
}

var namespacesResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// completeArgument completes TYPE, TYPE,TYPE, TYPE NAME and TYPE/NAME. Whatever
// fails on the way, such as a server that does not answer, leaves nothing to
// choose from.
func (w *watchFlags) completeArgument(ctx context.Context, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	kind, name, slashed := strings.Cut(typed, "/")
	switch {
	case slashed:
		return prefixed(kind+"/", w.namesOf(ctx, kind, name)), cobra.ShellCompDirectiveNoFileComp
	case len(args) == 0:
		comma := strings.LastIndexByte(typed, ',') + 1
		return prefixed(typed[:comma], w.kinds(typed[comma:])), cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(args[0], ",") || strings.Contains(args[0], "/"):
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return w.namesOf(ctx, args[0], typed), cobra.ShellCompDirectiveNoFileComp
}

// kinds are the types that can be watched and begin with what was typed.
func (w *watchFlags) kinds(typed string) []string {
	client, err := w.discovery()
	if err != nil {
		return nil
	}
	lists, _ := client.ServerPreferredResources() // what a broken group leaves out is not offered
	var out []string
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, resource := range list.APIResources {
			if slices.Contains(resource.Verbs, "watch") && slices.Contains(resource.Verbs, "list") {
				out = append(out, schema.GroupResource{Group: group.Group, Resource: resource.Name}.String())
			}
		}
	}
	return beginningWith(typed, out)
}

// discovery is cached on disk, as kubectl's, so that completion is quick.
func (w *watchFlags) discovery() (discovery.CachedDiscoveryInterface, error) {
	flags := w.connection.flags
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.Timeout = completionTimeout
		return config
	}
	return flags.ToDiscoveryClient()
}

// namesOf are the names of the objects of a type that begin with what was typed.
func (w *watchFlags) namesOf(ctx context.Context, kind, typed string) []string {
	client, namespace, err := w.connection.client()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	found, err := client.Resolve(ctx, kind)
	if err != nil {
		return nil
	}
	if !found.Namespaced {
		namespace = ""
	}
	return w.objectNames(ctx, found.GVR, namespace, typed)
}

// objectNames asks for metadata alone, and not for more than can be looked at.
func (w *watchFlags) objectNames(ctx context.Context, resource schema.GroupVersionResource, namespace, typed string) []string {
	config, _, err := w.connection.config()
	if err != nil {
		return nil
	}
	config.Timeout = completionTimeout
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil
	}
	list, err := client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: completionNames})
	if err != nil {
		return nil
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	return beginningWith(typed, names)
}

// beginningWith returns the sorted choices that begin with what was typed.
func beginningWith(typed string, choices []string) []string {
	out := slices.DeleteFunc(slices.Clone(choices), func(choice string) bool { return !strings.HasPrefix(choice, typed) })
	slices.Sort(out)
	return slices.Compact(out)
}

// prefixed puts what was typed before the choice in front of each choice.
func prefixed(before string, choices []string) []string {
	for i := range choices {
		choices[i] = before + choices[i]
	}
	return choices
}
