package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/kube"
)

// stage is what the demo plays on, a server in this process or a control plane
// elsewhere, and the ways to it.
type stage struct {
	server     *harktest.Server // nil with a cluster
	cluster    Cluster          // nil with a server
	kubeconfig string           // path
	client     *kube.Client
	api        kubernetes.Interface
	pace       time.Duration // of the story around the server
	shown      shown
}

// openStage starts the server and writes the kubeconfig, where there is no cluster.
func openStage(o Options) (*stage, error) {
	s := &stage{cluster: o.Cluster, pace: o.Pause}
	open := s.openServer
	if s.cluster != nil {
		open = s.openCluster
	}
	config, err := open()
	if err == nil {
		err = s.connect(config)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("demo: %w", err), s.close())
	}
	return s, nil
}

// openServer starts the server in this process.
func (s *stage) openServer() (*rest.Config, error) {
	var err error
	if s.server, err = harktest.New(harktest.Options{TrackManagedFields: true}); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "hark-demo-*.kubeconfig")
	if err != nil {
		return nil, &FolderError{Folder: os.TempDir(), Err: err}
	}
	s.kubeconfig = file.Name()
	if err := errors.Join(file.Close(), s.server.WriteKubeconfig(s.kubeconfig)); err != nil {
		return nil, err
	}
	return s.server.Config(), nil
}

// openCluster finds the way to the cluster.
func (s *stage) openCluster() (*rest.Config, error) {
	s.kubeconfig = s.cluster.Kubeconfig()
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // a burst shall be one
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

func (s *stage) connect(config *rest.Config) (err error) {
	if s.client, err = kube.New(config, kube.Options{}); err != nil {
		return err
	}
	s.api, err = kubernetes.NewForConfigAndClient(s.client.Config(), s.client.HTTP())
	return err
}

// FolderError tells that the kubeconfig cannot be written to the folder for
// temporary files.
type FolderError struct {
	Folder string
	Err    error
}

// Error implements error.
func (e *FolderError) Error() string { return "kubeconfig: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FolderError) Unwrap() error { return e.Err }

// goOn is what goes on beside the play, until ctx ends.
func (s *stage) goOn(ctx context.Context) error {
	if s.cluster != nil {
		return s.cluster.Ended(ctx)
	}
	return s.story(ctx)
}

// story is what goes on around the server: a scheduler, a kubelet and the
// controllers of Deployments, slow enough to be watched.
func (s *stage) story(ctx context.Context) error {
	return s.server.RunStory(ctx, harktest.StoryOptions{
		ScheduleDelay: s.pace / 2,
		StartDelay:    s.pace + s.pace/2,
		StopDelay:     s.pace,
		// Who watches is shown a pod before the pod is given a node, and a
		// Deployment before its pods come.
		BeforeReaction: func(ctx context.Context, resource schema.GroupVersionResource, object metav1.Object) {
			version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
			if err == nil && object.GetNamespace() == namespace {
				s.shown.wait(ctx, resource, version)
			}
		},
	})
}

// close ends the server and removes its file. A cluster is left to its owner.
func (s *stage) close() error {
	if s.client != nil {
		s.client.CloseIdle()
	}
	if s.server == nil {
		return nil
	}
	s.server.Close()
	if s.kubeconfig == "" {
		return nil
	}
	if err := os.Remove(s.kubeconfig); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
