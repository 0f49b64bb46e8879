package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Width returns how many terminal cells s takes: two for an East Asian wide or
// fullwidth character (https://www.unicode.org/reports/tr11/), none for one
// that combines with its predecessor or does not print, one for all others.
func Width(s string) int {
	cells := 0
	for _, r := range s {
		cells += runeWidth(r)
	}
	return cells
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Pad appends blanks to s until it takes cells terminal cells. A longer s is
// returned as it is.
func Pad(s string, cells int) string {
	if missing := cells - Width(s); missing > 0 {
		return s + strings.Repeat(" ", missing)
	}
	return s
}

// Truncate shortens s to at most cells terminal cells, the last one being an
// ellipsis where something was cut. cells must be at least 1.
func Truncate(s string, cells int) string {
	if Width(s) <= cells {
		return s
	}
	used := 0
	for i, r := range s {
		if used+runeWidth(r) > cells-1 {
			return s[:i] + "…"
		}
		used += runeWidth(r)
	}
	return s
}

// Printable replaces what would steer a terminal instead of being seen on it:
// control characters, bidirectional overrides, and bytes that are not UTF-8.
// A value that some user of a cluster wrote must not move the cursor of the
// person who watches it.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}
