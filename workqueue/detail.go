package workqueue

import (
	"container/list"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxReasons bounds the different reasons kept for one delivery.
	maxReasons = 8
	// maxText bounds the bytes of a reason and of an error's text.
	maxText = 512
)

// detail is what few items have: reasons and the last error.
type detail struct {
	next     reasons // of the pending delivery
	now      reasons // of the run under way
	err      string
	failedAt instant
	recorded *list.Element // place in core.errors while err is kept
}

// reasons is a set of texts in order of arrival.
type reasons struct {
	texts []string
	more  int // that found no room
}

func (r *reasons) add(text string) {
	text = clip(text)
	switch {
	case slices.Contains(r.texts, text):
	case len(r.texts) == maxReasons:
		r.more++
	default:
		r.texts = append(r.texts, text)
	}
}

// clip cuts a text to maxText bytes, at the border of a character. The result
// does not keep the rest alive.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > maxText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end])
}
