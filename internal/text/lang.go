package text

import (
	"fmt"
	"strings"
)

// Lang is a language that the catalogue speaks. The zero value is not valid;
// Detect always returns a valid one.
type Lang string

const (
	// English is the language where nothing else was asked for.
	English Lang = "en"
	// Chinese in simplified characters.
	Chinese Lang = "zh"
)

// ParseLang reads the value of a --lang flag: "en", "zh" or a locale that
// begins with one of them ("zh_CN.UTF-8", "en-GB").
func ParseLang(value string) (Lang, error) {
	if lang, ok := languageOf(value); ok {
		return lang, nil
	}
	return "", fmt.Errorf("invalid language %q: want en or zh", value)
}

// Detect returns the language that a process is to speak: flag when it is
// valid, else what the first non-empty one of LC_ALL, LC_MESSAGES and LANG
// says (the order of POSIX), else English.
func Detect(flag string, getenv func(string) string) Lang {
	if lang, ok := languageOf(flag); ok {
		return lang
	}
	for _, name := range [...]string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		value := getenv(name)
		if value == "" {
			continue
		}
		if lang, ok := languageOf(value); ok {
			return lang
		}
		return English // the user has another language, or "C"
	}
	return English
}

// languageOf reads the language part of a locale such as zh_CN.UTF-8.
func languageOf(locale string) (Lang, bool) {
	language, _, _ := strings.Cut(strings.ToLower(locale), ".")
	language, _, _ = strings.Cut(language, "@")
	language, _, _ = strings.Cut(language, "_")
	language, _, _ = strings.Cut(language, "-")
	switch lang := Lang(language); lang {
	case English, Chinese:
		return lang, true
	}
	return "", false
}
