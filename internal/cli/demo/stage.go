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

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/kube"
)

// stage is what the demo plays on: a server in this process, and the ways to it.
type stage struct {
	server     *harktest.Server
	kubeconfig string // path of a temporary file
	client     *kube.Client
	api        kubernetes.Interface
	pace       time.Duration // of the story around the server
	shown      shown
}

// openStage starts the server and writes the kubeconfig.
func openStage(pace time.Duration) (*stage, error) {
	server, err := harktest.New(harktest.Options{})
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	s := &stage{server: server, pace: pace}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("demo: %w", err), s.close())
	}
	return s, nil
}

func (s *stage) open() error {
	file, err := os.CreateTemp("", "hark-demo-*.kubeconfig")
	if err != nil {
		return &FolderError{Folder: os.TempDir(), Err: err}
	}
	s.kubeconfig = file.Name()
	if err := errors.Join(file.Close(), s.server.WriteKubeconfig(s.kubeconfig)); err != nil {
		return err
	}
	if s.client, err = kube.New(s.server.Config(), kube.Options{}); err != nil {
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

// close ends the server and removes the file.
func (s *stage) close() error {
	if s.client != nil {
		s.client.CloseIdle()
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
