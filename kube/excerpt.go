package kube

import (
	"bytes"
	"strconv"
	"strings"
)

// maxExcerpt is how much of a foreign body is shown, in runes.
const maxExcerpt = 160

// excerpt quotes the telling part of a body that is no API object: the title of
// an HTML page, else its beginning on one line. It is "" when there is none. The
// quoting keeps control characters away from terminals.
func excerpt(body []byte) string {
	if title, ok := htmlTitle(body); ok {
		body = title
	}
	text := strings.Join(strings.Fields(string(body)), " ")
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > maxExcerpt {
		text = string(runes[:maxExcerpt]) + "…"
	}
	return strconv.Quote(text)
}

// htmlTitle returns what stands between <title> and </title>.
func htmlTitle(body []byte) ([]byte, bool) {
	lower := bytes.ToLower(body)
	if len(lower) != len(body) {
		return nil, false // offsets differ: not ASCII enough to be cut
	}
	_, rest, found := bytes.Cut(lower, []byte("<title>"))
	if !found {
		return nil, false
	}
	start := len(body) - len(rest)
	end := bytes.Index(rest, []byte("</title>"))
	if end < 0 || len(bytes.TrimSpace(rest[:end])) == 0 {
		return nil, false
	}
	return body[start : start+end], true
}
