package conformance

import (
	"os"
	"path/filepath"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// isKubectl reports whether this process was started under kubectl's name; see
// linkKubectl.
func isKubectl() bool { return filepath.Base(os.Args[0]) == "kubectl" }

// kubectl is kubectl's main function, of the version that go.mod pins, so that the
// scenarios need no program on the machine. It does not return.
func kubectl() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	os.Exit(0)
}

// linkKubectl gives this program kubectl's name within a directory.
func linkKubectl(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.Symlink(self, filepath.Join(dir, "kubectl"))
}
