package watch

import "testing"

func TestClassifyEventIgnoresCaseAndPassesUnknownThrough(t *testing.T) {
	for raw, want := range map[string]EventType{
		"ADDED": EventAdded, "modified": EventModified, "Deleted": EventDeleted,
		"bookmark": EventBookmark, "eRRor": EventError,
		"": "", "RENAMED": "RENAMED", "renamed": "renamed", "added ": "added ",
		"MOD\u0131FIED": "MOD\u0131FIED", "BOOKMAR\u212a": "BOOKMAR\u212a", // in another case an I and a k
	} {
		if got := ClassifyEvent(raw); got != want {
			t.Errorf("ClassifyEvent(%q) = %q; want %q", raw, got, want)
		}
	}
}

func TestDescribeEventSaysOneSentence(t *testing.T) {
	for _, tc := range []struct {
		event EventType
		kind  string
		lang  string
		want  string
	}{
		{EventAdded, "Pod", "zh", "新 Pod 加入"},
		{EventModified, "Pod", "zh", "Pod 配置/状态变化"},
		{EventDeleted, "Pod", "zh", "Pod 消失"},
		{"RENAMED", "Pod", "zh", "未知事件"},
		{EventAdded, "Deployment", "zh", "新 Deployment 加入"},
		{EventDeleted, "", "zh", "对象 消失"},
		{EventAdded, "Pod", "en", "A new Pod joined"},
		{EventModified, "", "", "The object's configuration or status changed"},
		{"RENAMED", "Pod", "en", "Unknown event"},
	} {
		if got := DescribeEvent(tc.event, tc.kind, tc.lang); got != tc.want {
			t.Errorf("DescribeEvent(%s, %q, %q) = %q; want %q", tc.event, tc.kind, tc.lang, got, tc.want)
		}
	}
}

func TestCauseHasAName(t *testing.T) {
	for cause, want := range map[Cause]string{
		CauseInitial: "initial", CauseWatch: "watch", CauseRelist: "relist", CauseResync: "resync",
		0: "unknown", 99: "unknown",
	} {
		if got := cause.String(); got != want {
			t.Errorf("Cause(%d) = %q; want %q", cause, got, want)
		}
	}
}
