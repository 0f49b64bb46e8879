package watch

import "strings"

// DescribeEvent says in one sentence what an event means for an object of the
// given kind (singular, as the API writes it: "Pod"), in the language "zh"
// (Chinese) or, for any other value, English. An empty kind means any object.
func DescribeEvent(t EventType, kind, lang string) string {
	if lang == "zh" {
		return describe(t, kind, "对象", zhSentences, "未知事件")
	}
	return describe(t, kind, "object", enSentences, "Unknown event")
}

var zhSentences = map[EventType]string{
	EventAdded:    "新 {kind} 加入",
	EventModified: "{kind} 配置/状态变化",
	EventDeleted:  "{kind} 消失",
	EventBookmark: "到此版本为止的变化均已送达",
	EventError:    "监听出错，将重新连接",
}

var enSentences = map[EventType]string{
	EventAdded:    "A new {kind} joined",
	EventModified: "The {kind}'s configuration or status changed",
	EventDeleted:  "The {kind} is gone",
	EventBookmark: "Every change up to this version was delivered",
	EventError:    "The watch failed and will be opened again",
}

func describe(t EventType, kind, anyKind string, sentences map[EventType]string, unknown string) string {
	sentence, ok := sentences[t]
	if !ok {
		return unknown
	}
	if kind == "" {
		kind = anyKind
	}
	return strings.ReplaceAll(sentence, "{kind}", kind)
}
