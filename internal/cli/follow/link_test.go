package follow

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

var pods = kube.Kind{
	GVR:        schema.GroupVersionResource{Version: "v1", Resource: "pods"},
	GVK:        schema.GroupVersionKind{Version: "v1", Kind: "Pod"},
	Namespaced: true,
}

// told plays states and returns what is said, in a language.
func told(l *link, lang text.Lang, states ...reflector.Status) []string {
	l.lang = lang
	var lines []string
	for _, state := range states {
		for _, line := range l.next(state) {
			lines = append(lines, lang.Say(line.message, line.pairs...))
		}
	}
	return lines
}

func failing(phase reflector.Phase, kind watch.ErrorKind, message string) reflector.Status {
	return reflector.Status{Phase: phase, Reason: &watch.Error{Kind: kind, Message: message}}
}

var well = reflector.Status{Phase: reflector.Watching, Synced: true}

func TestALostConnectionIsSaidOnceAndSoIsItsReturn(t *testing.T) {
	refused := failing(reflector.Waiting, watch.KindUnavailable, "refused")
	got := told(&link{kind: pods}, text.English,
		well, refused,
		failing(reflector.Watching, watch.KindUnavailable, "refused"), refused, refused, // one try after the other
		well, well, refused, well)
	want := []string{
		"Pod: the connection is lost, reconnecting: refused",
		"Pod: back to normal; what was missed follows",
		"Pod: the connection is lost, reconnecting: refused",
		"Pod: back to normal; what was missed follows",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestAConnectionThatIsMendedAtOnceIsSaidToo(t *testing.T) {
	got := told(&link{kind: pods}, text.English,
		well, failing(reflector.Watching, watch.KindUnavailable, "reset"), well)
	want := []string{
		"Pod: the connection is lost, reconnecting: reset",
		"Pod: back to normal; what was missed follows",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestAnotherReasonIsSaidAnew(t *testing.T) {
	got := told(&link{kind: pods, namespace: "shop"}, text.Chinese,
		failing(reflector.Waiting, watch.KindUnavailable, "refused"),
		failing(reflector.Waiting, watch.KindForbidden, `pods is forbidden: User "u" cannot list resource "pods"`),
		failing(reflector.Waiting, watch.KindForbidden, `pods is forbidden: User "u" cannot list resource "pods"`),
		well)
	want := []string{
		"Pod：连接断开，正在重连：refused",
		`Pod：没有权限；会一直重试，直到获得权限：pods is forbidden: User "u" cannot list resource "pods"`,
		"try: kubectl auth can-i list pods -n shop",
		"Pod：已恢复正常，错过的变化会补上",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestWhatIsGotRoundAtOnceIsNotSaid(t *testing.T) {
	got := told(&link{kind: pods}, text.English,
		failing(reflector.Streaming, watch.KindInvalid, "sendInitialEvents is forbidden"), // an old server
		failing(reflector.Listing, watch.KindInvalid, "sendInitialEvents is forbidden"),
		well,
		reflector.Status{Phase: reflector.Stopped})
	if len(got) > 0 {
		t.Errorf("said %q", got)
	}
}

func TestTheCheckNamesTheMissingVerbAndTheScope(t *testing.T) {
	nodes := kube.Kind{GVR: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}}
	for _, tc := range []struct {
		link    link
		message string
		want    string
	}{
		{link{kind: pods, namespace: "shop"}, `cannot watch resource "pods"`, "try: kubectl auth can-i watch pods -n shop"},
		{link{kind: pods}, `cannot list resource "pods"`, "try: kubectl auth can-i list pods -A"},
		{link{kind: nodes, namespace: "shop"}, `cannot list resource "nodes"`, "try: kubectl auth can-i list nodes"},
	} {
		got := told(&tc.link, text.English, failing(reflector.Waiting, watch.KindForbidden, tc.message))
		if len(got) != 2 || got[1] != tc.want {
			t.Errorf("said %q; want %q", got, tc.want)
		}
	}
}

func TestEveryKindOfErrorHasItsWords(t *testing.T) {
	for kind := watch.KindUnavailable; kind <= watch.KindObject; kind++ {
		for _, lang := range []text.Lang{text.English, text.Chinese} {
			got := told(&link{kind: pods}, lang, failing(reflector.Waiting, kind, "the reason"))
			if len(got) == 0 || !strings.Contains(got[0], "the reason") || !strings.Contains(got[0], "Pod") || strings.ContainsAny(got[0], "{}") {
				t.Errorf("%s in %s: %q", kind, lang, got)
			}
		}
	}
	if kind := watch.KindObject + 1; !strings.HasPrefix(kind.String(), "error kind") {
		t.Errorf("%s is not in this test", kind)
	}
}

func TestOnlyAFirstRefusalOfWhatOrWhoIsFinal(t *testing.T) {
	for _, tc := range []struct {
		status reflector.Status
		want   bool
	}{
		{failing(reflector.Waiting, watch.KindInvalid, ""), true},
		{failing(reflector.Waiting, watch.KindUnauthorized, ""), true},
		{failing(reflector.Waiting, watch.KindForbidden, ""), false},
		{failing(reflector.Waiting, watch.KindUnavailable, ""), false},
		{failing(reflector.Streaming, watch.KindInvalid, ""), false},
		{reflector.Status{Phase: reflector.Waiting, Synced: true, Reason: &watch.Error{Kind: watch.KindUnauthorized}}, false},
		{well, false},
	} {
		if got := final(tc.status, false); got != tc.want {
			t.Errorf("final(%+v) = %v; want %v", tc.status, got, tc.want)
		}
		waits := tc.status.Reason == nil || tc.status.Phase == reflector.Streaming || tc.status.Reason.Kind == watch.KindUnavailable
		if got := final(tc.status, true); got == waits {
			t.Errorf("final(%+v) without waiting = %v; want %v", tc.status, got, !waits)
		}
	}
}

func TestANameIsChosenBesideTheUsersSelector(t *testing.T) {
	for _, tc := range [][3]string{
		{"", "", ""}, {"a=b", "", "a=b"}, {"", "tmp", "metadata.name=tmp"}, {"a=b", "tmp", "metadata.name=tmp,a=b"},
	} {
		if got := fieldSelector(tc[0], tc[1]); got != tc[2] {
			t.Errorf("fieldSelector(%q, %q) = %q; want %q", tc[0], tc[1], got, tc[2])
		}
	}
}

// What is said of a server that goes away: the cut, then why it stays away, each
// once however many tries there are, and where to look.
func TestAReasonIsSaidInWordsForPeople(t *testing.T) {
	failed := func(err error) reflector.Status {
		return reflector.Status{Phase: reflector.Waiting, Reason: &watch.Error{Kind: watch.KindUnavailable, Message: "watch pods: " + err.Error(), Err: err}}
	}
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8001}
	cut := failed(fmt.Errorf("wire: at byte 6977: the stream cannot be read: %w", io.ErrUnexpectedEOF))
	refused := failed(&net.OpError{Op: "dial", Addr: address, Err: syscall.ECONNREFUSED})
	for lang, want := range map[text.Lang][]string{
		text.English: {
			"Pod: the connection is lost, reconnecting: it was cut",
			"Pod: the connection is lost, reconnecting: connection refused by 127.0.0.1:8001",
			"try: kubectl cluster-info, to see whether the cluster runs",
			"Pod: the connection is lost, reconnecting: no such host nowhere.test",
			"try: kubectl cluster-info, to see whether the cluster runs",
			"Pod: the connection is lost, reconnecting: the server does not answer",
			"try: kubectl cluster-info, to see whether the cluster runs",
			"Pod: back to normal; what was missed follows",
		},
		text.Chinese: {
			"Pod：连接断开，正在重连：连接被切断",
			"Pod：连接断开，正在重连：127.0.0.1:8001 拒绝连接",
			"try: 用 kubectl cluster-info 查看集群是否在运行",
			"Pod：连接断开，正在重连：找不到主机 nowhere.test",
			"try: 用 kubectl cluster-info 查看集群是否在运行",
			"Pod：连接断开，正在重连：服务器没有应答",
			"try: 用 kubectl cluster-info 查看集群是否在运行",
			"Pod：已恢复正常，错过的变化会补上",
		},
	} {
		got := told(&link{kind: pods}, lang, cut, refused, refused, cut, refused,
			failed(&net.DNSError{Name: "nowhere.test", Err: "no such host", IsNotFound: true}),
			failed(os.ErrDeadlineExceeded), well)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", lang, d)
		}
	}
}

func TestWhatTheServerSaysIsKept(t *testing.T) {
	unavailable := &watch.Error{Kind: watch.KindUnavailable, Code: 503, Message: "the server is currently unable to handle the request"}
	if got := reasonOf(unavailable, text.English); got.said != unavailable.Message || got.away {
		t.Errorf("%+v; want the server's words", got)
	}
}
