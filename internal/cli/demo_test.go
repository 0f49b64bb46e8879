package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// inOrder tells whether patterns are found one after the other, and if not,
// which one is missing.
func inOrder(text string, patterns []string) (missing string) {
	for _, pattern := range patterns {
		at := regexp.MustCompile(pattern).FindStringIndex(text)
		if at == nil {
			return pattern
		}
		text = text[at[1]:]
	}
	return ""
}

var demoInEnglish = []string{
	`(?m)^kubeconfig: \S+\.kubeconfig$`,
	`1/4 A pod comes`,
	`(?m)^Watching Pod events in namespace=default, Ctrl\+C to quit$`,
	`(?m)^\$ kubectl run tmp --image=nginx:1.27$`,
	`(?m)^\[\d\d:\d\d:\d\d\] Added    default/tmp$`,
	`(?m)^\[\d\d:\d\d:\d\d\] Modified default/tmp phase=Pending$`,
	`(?m)^\[\d\d:\d\d:\d\d\] Modified default/tmp phase=Running$`,
	`(?m)^\$ kubectl delete pod tmp$`,
	`(?m)^\[\d\d:\d\d:\d\d\] Modified default/tmp phase=Running deleting$`,
	`(?m)^\[\d\d:\d\d:\d\d\] Deleted  default/tmp$`,
	`2/4 A burst: 1000 changes to the one key default/burst`,
	`1000 changes in \S+: 1000 events arrived, the handler added the key \d+ times, the worker ran \d+ times. Its last run read change 1000\.\nWhile the handler is busy`,
	`3/4 A key that fails is retried: default/flaky needs configmaps/flaky-input`,
	`try 1 failed: configmaps "flaky-input" not found`,
	`try 2, \S+ later, failed: configmaps "flaky-input" not found`,
	`(?m)^\$ kubectl create configmap flaky-input$`,
	`try 3, \S+ later, succeeded`,
	`4/4 A controller`,
	`(?m)^\$ kubectl create deployment web --image=nginx:1.27$`,
	`(?m)^\[\d\d:\d\d:\d\d\] Added    Deployment default/web$`,
	`(?m)^\[\d\d:\d\d:\d\d\] Modified Deployment default/web ready=1/1$`,
	`controller: started`,
	`controller: default/web has replicas=1, wants 3: calling the API`,
	`(?m)^\[\d\d:\d\d:\d\d\] Modified Deployment default/web ready=1/3 updated=1 observed=1/2$`,
	`(?m)^\[\d\d:\d\d:\d\d\] Modified Deployment default/web ready=3/3$`,
	`It is your turn:`,
}

var demoInChinese = []string{
	`(?m)^kubeconfig: \S+\.kubeconfig$`,
	`1/4 一个 Pod 创建、运行、消失`,
	`(?m)^监听 namespace=default 的 Pod 事件，Ctrl\+C 退出$`,
	`Added    default/tmp\n`, `phase=Pending\n`, `phase=Running\n`, `Deleted  default/tmp\n`,
	`2/4 一大波变化`, `内修改 1000 次：收到 1000 个事件，回调入队 \d+ 次，worker 只运行了 \d+ 次；最后一次读到的是第 1000 次修改`,
	`3/4 失败自动重试`, `第 1 次失败`, `第 2 次失败`, `第 3 次成功`,
	`4/4 一个控制器`, `控制器：default/web 现有 replicas=1，期望 3`, `ready=3/3\n`, `现在轮到你`,
}

func TestTheDemoPlaysAllFourParts(t *testing.T) {
	for lang, want := range map[string][]string{"en": demoInEnglish, "zh": demoInChinese} {
		t.Run(lang, func(t *testing.T) {
			hark := start(t, nil, "hark", "demo", "--lang", lang)
			hark.until(hark.out, "end of the play", func(text string) bool { return inOrder(text, want) == "" })
			path := kubeconfigOf(t, hark)
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("kubeconfig: %v, %v", info, err)
			}
			if code := hark.interrupt(); code != exitDone || hark.err.String() != "" {
				t.Errorf("exit %d; stderr:\n%s", code, hark.err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the kubeconfig is left: %v", err)
			}
		})
	}
}

// Kinds have watches of their own, and the controller has another one: their
// order on the screen is by construction.
func TestTheDemoShowsCausesBeforeEffects(t *testing.T) {
	hark := start(t, nil, "hark", "demo")
	hark.prints("It is your turn")
	_, part, _ := strings.Cut(hark.out.String(), "4/4 ")
	running, added := 0, 0
	scaled, inOrder := false, false
	for line := range strings.Lines(part) {
		switch {
		case strings.Contains(line, "Added    Deployment default/web\n"):
			inOrder = true
		case strings.Contains(line, "controller: default/web has replicas=1") && running != 1,
			strings.Contains(line, "Added    default/web-") && (!inOrder || added > 0 && !scaled),
			strings.Contains(line, "ready=1/1\n") && running < 1,
			strings.Contains(line, "ready=3/3\n") && running < 3:
			t.Errorf("%q comes too early in\n%s", line, part)
		case strings.Contains(line, "Added    default/web-"):
			added++
		case strings.Contains(line, "phase=Running\n"):
			running++
		case strings.Contains(line, "Deployment default/web ready=1/3"):
			scaled = true
		}
	}
	if added != 3 || running != 3 {
		t.Errorf("%d pods came, %d run; want 3, 3:\n%s", added, running, part)
	}
}

func TestTheDemoSaysHowLongItGoesOnAndWhatIsShown(t *testing.T) {
	hark := start(t, nil, "hark", "demo", "--for", "1h")
	hark.prints("What happens to pods and Deployments of the namespace default is shown here")
	hark.prints("It goes on for another ")
	hark.prints(" (--for 1h0m0s). Ctrl+C to quit\n")
	hark.interrupt()
	if strings.Contains(hark.out.String(), "The time is up") {
		t.Errorf("says after Ctrl+C that the time is up:\n%s", hark.out)
	}
}

func TestTheDemoNamesTheFolderThatCannotBeWritten(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, missing)
	}
	got := run(t.Context(), nil, "hark", "demo")
	want := "\ntry: TMPDIR=FOLDER hark demo, with a folder that can be written; " + missing + " cannot\n"
	if got.code != exitError || !strings.HasPrefix(got.err, "error: kubeconfig: ") || !strings.HasSuffix(got.err, want) {
		t.Errorf("%s; want %q at the end", got, want)
	}
}

func kubeconfigOf(t *testing.T, hark *live) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^kubeconfig: (\S+)$`).FindStringSubmatch(hark.out.String())
	if found == nil {
		t.Fatalf("no kubeconfig in\n%s", hark.out)
	}
	return found[1]
}

func TestABurstReachesTheWorkerAsFewRuns(t *testing.T) {
	hark := start(t, nil, "hark", "demo")
	hark.prints("Its last run read change")
	found := regexp.MustCompile(`the worker ran (\d+) times`).FindStringSubmatch(hark.out.String())
	if runs, err := strconv.Atoi(found[1]); err != nil || runs == 0 || runs > 500 {
		t.Errorf("%s runs for 1000 changes", found[1])
	}
}

func TestTheDemoReactsToWhatTheUserDoes(t *testing.T) {
	hark := start(t, nil, "hark", "demo")
	hark.prints("Ctrl+C to quit\n")
	hark.prints("It is your turn")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfigOf(t, hark))
	if err != nil {
		t.Fatal(err)
	}
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.CoreV1().Pods("default").Create(t.Context(), pod("hello"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hark.prints("Modified default/hello phase=Running\n")
	if err := api.CoreV1().Pods("default").Delete(t.Context(), "hello", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	hark.prints("Deleted  default/hello\n")

	const healed = "has replicas=3: nothing to do"
	before := strings.Count(hark.out.String(), healed)
	patch := []byte(`{"spec":{"replicas":1}}`)
	if _, err := api.AppsV1().Deployments("default").Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	hark.until(hark.out, "the controller's answer", func(text string) bool { return strings.Count(text, healed) > before })
}

func TestTheDemoEndsInTimeAndCleansUp(t *testing.T) {
	slow := hooks{pause: time.Hour}
	hark := startWith(t, slow, nil, "hark", "demo", "--for", "1s")
	if code := hark.exit(); code != exitDone || !strings.Contains(hark.out.String(), "The time is up") {
		t.Errorf("exit %d:\n%s%s", code, hark.out, hark.err)
	}
	if _, err := os.Stat(kubeconfigOf(t, hark)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig is left: %v", err)
	}
}

func TestTheDemoEndsQuietlyWhenNobodyReads(t *testing.T) {
	hark := start(t, nil, "hark", "demo")
	hark.prints("kubeconfig: ")
	path := kubeconfigOf(t, hark)
	hark.out.fail(syscall.EPIPE)
	if code := hark.exit(); code != exitDone || hark.err.String() != "" {
		t.Errorf("exit %d; stderr:\n%s", code, hark.err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig is left: %v", err)
	}
}
