package cli

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocampus/hark/harktest"
)

func init() {
	roles["plane"] = func() { os.Exit(playPlane(os.Args[len(os.Args)-1])) }
	roles["broken plane"] = func() {
		fmt.Fprint(os.Stderr, "cluster: building etcd: exit status 1\n\tno space left on device\n")
		os.Exit(1)
	}
}

// playPlane is the program hark-cluster with an API server in memory.
func playPlane(kubeconfig string) int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	fmt.Fprintln(os.Stderr, "cluster: kube-apiserver done in 3s")
	server, err := harktest.New(harktest.Options{Story: &harktest.StoryOptions{
		ScheduleDelay: time.Millisecond, StartDelay: time.Millisecond, StopDelay: time.Millisecond,
	}})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if err := server.WriteKubeconfig(kubeconfig); err != nil {
		panic(err)
	}
	fmt.Printf("export KUBECONFIG=%s\n", kubeconfig)
	if address := os.Getenv(callVariable); address != "" {
		return hangUp(address)
	}
	<-asked
	if err := os.Remove(kubeconfig); err != nil {
		panic(err)
	}
	return 0
}

// callVariable is the address of a test that ends a program by hanging up.
const callVariable = "HARK_TEST_CALL"

func hangUp(address string) int {
	call, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, call) // until the test hangs up
	return 0
}

// planeProgram puts one program into PATH: hark-cluster, in one of the roles. It
// returns the folder for temporary files.
func planeProgram(t *testing.T, role string) (temporary string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a link to the test binary, which Windows does not allow everybody")
	}
	path, temporary := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if role != "" {
		if err := os.Symlink(self, filepath.Join(path, "hark-cluster")); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", path)
	t.Setenv("TMPDIR", temporary)
	t.Setenv(childVariable, role)
	return temporary
}

func isEmpty(t *testing.T, folder string) {
	t.Helper()
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", entries, err)
	}
}

func TestTheDemoPlaysAllFourPartsOnAControlPlane(t *testing.T) {
	for lang, want := range map[string][]string{"en": demoInEnglish, "zh": demoInChinese} {
		t.Run(lang, func(t *testing.T) {
			temporary := planeProgram(t, "plane")
			hark := start(t, nil, "hark", "demo", "--cluster", "--lang", lang)
			hark.until(hark.out, "end of the play", func(text string) bool { return inOrder(text, want) == "" })
			intro := map[string]string{"en": "A real control plane runs on this machine.", "zh": "本机运行着一个真实的控制面。"}[lang]
			if text := hark.out.String(); !strings.Contains(text, intro) || !strings.HasPrefix(kubeconfigOf(t, hark), temporary) {
				t.Errorf("stdout:\n%s", text)
			}
			if code := hark.interrupt(); code != exitDone {
				t.Errorf("exit %d", code)
			}
			// Progress is for terminals; that it takes time is for everybody.
			if said := hark.err.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "10") {
				t.Errorf("stderr:\n%s", said)
			}
			isEmpty(t, temporary)
		})
	}
}

func TestTheTimeOfADemoBeginsWhenTheControlPlaneIsReady(t *testing.T) {
	temporary := planeProgram(t, "plane")
	slow := hooks{pause: time.Hour}
	hark := startWith(t, slow, nil, "hark", "demo", "--cluster", "--for", "1ms")
	if code := hark.exit(); code != exitDone || !strings.Contains(hark.out.String(), "The time is up") {
		t.Errorf("exit %d:\n%s%s", code, hark.out, hark.err)
	}
	isEmpty(t, temporary)
}

func TestADemoThatIsInterruptedBeforeItBeginsLeavesNothing(t *testing.T) {
	temporary := planeProgram(t, "plane")
	hark := start(t, nil, "hark", "demo", "--cluster")
	hark.says("is being started")
	if code := hark.interrupt(); code != exitDone {
		t.Errorf("exit %d:\n%s", code, hark.err)
	}
	isEmpty(t, temporary)
}

func TestAControlPlaneThatEndsEndsTheDemo(t *testing.T) {
	planeProgram(t, "plane")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	t.Setenv(callVariable, listener.Addr().String())
	hark := start(t, nil, "hark", "demo", "--cluster")
	hark.prints("It is your turn")
	call, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = call.Close()
	if code := hark.exit(); code != exitError || !strings.Contains(hark.err.String(), "error: hark-cluster: ended unexpectedly\ntry: without a control plane: hark demo\n") {
		t.Errorf("exit %d:\n%s", code, hark.err)
	}
}

func TestAControlPlaneThatCannotBeBuiltIsAnErrorWithItsOutput(t *testing.T) {
	temporary := planeProgram(t, "broken plane")
	got := run(t.Context(), nil, "hark", "demo", "--cluster")
	want := "cluster: building etcd: exit status 1\n    no space left on device\n" +
		"error: hark-cluster: exit status 1\ntry: without a control plane: hark demo\n"
	if got.code != exitError || !strings.HasSuffix(got.err, want) || got.out != "" {
		t.Errorf("%s", got)
	}
	isEmpty(t, temporary)
}

func TestWithoutAProgramForTheControlPlaneTheErrorSaysWhatToInstall(t *testing.T) {
	temporary := planeProgram(t, "")
	for lang, want := range map[string]string{
		"en": "error: a real control plane needs the program hark-cluster, or the go command to build it; neither is in PATH\n" +
			"try: install Go from https://go.dev/dl/, or without a control plane: hark demo\n",
		"zh": "error: 真实的控制面需要 hark-cluster 程序，或用 go 命令编译它；PATH 中两者都没有\n" +
			"try: 从 https://go.dev/dl/ 安装 Go；或不用控制面：hark demo\n",
	} {
		if got := run(t.Context(), nil, "hark", "demo", "--cluster", "--lang", lang); got.code != exitError || got.err != want || got.out != "" {
			t.Errorf("%s", got)
		}
	}
	if got := run(t.Context(), nil, "hark", "demo", "--cluster", "--for", "-1s"); got.code != exitUsage {
		t.Errorf("%s", got)
	}
	isEmpty(t, temporary)
}
