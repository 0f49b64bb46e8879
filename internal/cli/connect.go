package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/kube"
)

// connection is what the flags say of the cluster to talk to.
type connection struct {
	session *session
	flags   *genericclioptions.ConfigFlags
}

// connectTimeout bounds each step of getting to know a server. A user who typed
// a wrong address learns it within 10 seconds.
const connectTimeout = 8 * time.Second

// errNoAnswer is the cause with which a step ends that took too long.
var errNoAnswer = errors.New("no answer within " + connectTimeout.String())

// newConnection adds cli-runtime's flags to a command.
func newConnection(s *session, cmd *cobra.Command) *connection {
	c := &connection{session: s, flags: genericclioptions.NewConfigFlags(true)}
	set := pflag.NewFlagSet("connection", pflag.ContinueOnError)
	c.flags.AddFlags(set)
	set.VisitAll(func(flag *pflag.Flag) {
		flag.Annotations = map[string][]string{connectionFlag: {}}
		if flag.Name == "namespace" { // as usual as the command's own
			flag.Annotations = nil
		}
		cmd.Flags().AddFlag(flag)
	})
	return c
}

// config returns the configuration of the cluster and the namespace to use.
func (c *connection) config() (*rest.Config, string, error) {
	loader := c.flags.ToRawKubeConfigLoader()
	config, err := c.flags.ToRESTConfig()
	if err != nil {
		return nil, "", &configError{err}
	}
	if c.unconfigured(config) {
		_, _, err := kube.LoadConfig(kube.ConfigOptions{
			Kubeconfig: *c.flags.KubeConfig, Context: *c.flags.Context,
		})
		if missing, ok := errors.AsType[*kube.NoConfigError](err); ok {
			return nil, "", missing
		}
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", &configError{err}
	}
	config.QPS, config.Burst = 50, 300 // as kubectl: discovery asks for each group
	config.WarningHandler = rest.NoWarnings{}
	return config, namespace, nil
}

// unconfigured tells whether the configuration is only client-go's last resort,
// an insecure server on this machine that nobody has asked for.
func (c *connection) unconfigured(config *rest.Config) bool {
	raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	return err == nil && len(raw.Clusters) == 0 && *c.flags.APIServer == "" &&
		config.Host == lastResort && c.session.Getenv("KUBERNETES_MASTER") == ""
}

const lastResort = "http://localhost:8080"

// client returns a client and the namespace to use. It sends nothing yet.
func (c *connection) client() (*kube.Client, string, error) {
	config, namespace, err := c.config()
	if err != nil {
		return nil, "", err
	}
	client, err := kube.New(config, kube.Options{RediscoverInterval: c.session.firstPoll()})
	if err != nil {
		return nil, "", &configError{err}
	}
	return client, namespace, nil
}

// configError is a configuration that is there but wrong.
type configError struct{ err error }

// Error implements error.
func (e *configError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *configError) Unwrap() error { return e.err }

// briefly runs one step of getting to know the server. A step that takes too
// long ends with a *serverError.
func briefly[T any](ctx context.Context, client *kube.Client, step func(context.Context) (T, error)) (T, error) {
	limited, cancel := endsAfter(ctx, connectTimeout, errNoAnswer)
	defer cancel()
	result, err := step(limited)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	case limited.Err() != nil:
		err = errNoAnswer
	}
	return result, &serverError{host: client.Config().Host, err: err}
}

// serverError is an error of a request to a server.
type serverError struct {
	host string
	err  error
}

// Error implements error.
func (e *serverError) Error() string { return e.host + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *serverError) Unwrap() error { return e.err }
