package plane

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// The environment of the programs that the test binary plays.
const (
	playVariable = "HARK_TEST_PLAY" // what hark-cluster does
	callVariable = "HARK_TEST_CALL" // an address that hark-cluster holds a connection to
)

// TestMain plays the programs hark-cluster and go when the test binary is called
// by their names, and a parent who is killed when it is asked to.
func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); {
	case strings.HasPrefix(name, program):
		os.Exit(playCluster(os.Getenv(playVariable), os.Args[1:]))
	case strings.TrimSuffix(name, ".exe") == "go":
		os.Exit(playGo(os.Args[1:]))
	case os.Getenv(playVariable) == "parent":
		playParent()
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

// playCluster is hark-cluster.
func playCluster(play string, args []string) int {
	if len(args) != 3 || args[0] != "up" || args[1] != "--kubeconfig-out" {
		fmt.Fprintln(os.Stderr, "cluster: unexpected arguments", args)
		return 2
	}
	fmt.Fprintln(os.Stderr, "cluster: building kube-apiserver …")
	if play == "fail" {
		fmt.Fprint(os.Stderr, "cluster: building kube-apiserver: exit status 1\n  no space left on device\n")
		return 1
	}
	var call net.Conn
	if address := os.Getenv(callVariable); address != "" {
		var err error
		if call, err = net.Dial("tcp", address); err != nil {
			panic(err)
		}
		defer func() { _ = call.Close() }()
	}
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	if play == "slow" {
		<-asked
		return 0
	}
	return serve(play, args[2], call, asked)
}

// serve goes on as hark-cluster does when the control plane is ready.
func serve(play, kubeconfig string, call net.Conn, asked <-chan os.Signal) int {
	if err := os.WriteFile(kubeconfig, []byte("kubeconfig"), 0o600); err != nil {
		panic(err)
	}
	fmt.Fprint(os.Stderr, "The control plane is ready\nIn another terminal:\n")
	fmt.Printf("export KUBECONFIG=%s\n", kubeconfig)
	fmt.Fprint(os.Stderr, "kubectl get nodes\nCtrl-C ends it.\n")
	switch play {
	case "die": // when the test hangs up
		_, _ = io.Copy(io.Discard, call)
		fmt.Fprint(os.Stderr, "cluster: etcd: signal: killed\n  its log\n")
		return 3
	case "stubborn":
		select {}
	}
	<-asked
	if err := os.Remove(kubeconfig); err != nil {
		panic(err)
	}
	return 0
}

// playGo is "go … install": it installs the test binary.
func playGo(args []string) int {
	fmt.Fprintln(os.Stderr, "go: downloading", strings.Join(args, " "))
	if os.Getenv("GOWORK") != "off" {
		return 4
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if err := os.Symlink(self, filepath.Join(os.Getenv("GOBIN"), program)); err != nil {
		panic(err)
	}
	return 0
}

// playParent starts a control plane and waits to be killed.
func playParent() {
	if err := os.Setenv(playVariable, ""); err != nil {
		panic(err)
	}
	if _, err := Start(context.Background(), Options{}); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // without an end
}
