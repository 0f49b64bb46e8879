package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/watch"
)

func TestClassifyEvent(t *testing.T) {
	for raw, want := range map[string]EventType{
		"ADDED":    EventAdded,
		"added":    EventAdded,
		"Modified": EventModified,
		"DELETED":  EventDeleted,
		"Teleport": "Teleport", // unknown: as it was written
		"":         "",
	} {
		got := ClassifyEvent(raw)
		if got != want {
			t.Fatalf("ClassifyEvent(%q) = %q; want %q", raw, got, want)
		}
		if library := watch.ClassifyEvent(raw); got != library {
			t.Fatalf("ClassifyEvent(%q) = %q; the library says %q", raw, got, library)
		}
	}
	t.Log("事件分类验证通过")
}

func TestDescribeEvent(t *testing.T) {
	for typ, want := range map[EventType]string{
		EventAdded:    "新 Pod 加入",
		EventModified: "Pod 配置/状态变化",
		EventDeleted:  "Pod 消失",
		"Teleport":    "未知事件",
	} {
		got := DescribeEvent(typ)
		if got != want {
			t.Fatalf("DescribeEvent(%q) = %q; want %q", typ, got, want)
		}
		if library := watch.DescribeEvent(typ, "Pod", "zh"); got != library {
			t.Fatalf("DescribeEvent(%q) = %q; the library says %q", typ, got, library)
		}
	}
	t.Log("事件说明验证通过")
}

func TestSummarize(t *testing.T) {
	got := Summarize([]string{"ADDED pod-1", "modified pod-1", "DELETED", "Teleport pod-2", "ADDED a b"})
	want := []PodEvent{
		{Type: EventAdded, Pod: "pod-1", Reason: "新 Pod 加入"},
		{Type: EventModified, Pod: "pod-1", Reason: "Pod 配置/状态变化"},
		{Type: EventDeleted, Pod: "", Reason: "Pod 消失"},
		{Type: "Teleport", Pod: "pod-2", Reason: "未知事件"},
		{Type: EventAdded, Pod: "a b", Reason: "新 Pod 加入"}, // cut at the first space alone
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("Summarize (-want +got):\n%s", diff)
	}
	t.Log("事件汇总验证通过")
}
