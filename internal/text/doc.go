// Package text is the one catalogue of what the hark command says to people,
// in English and in Chinese, and the width that it takes on a terminal.
//
// A Message holds both languages, so that neither can be forgotten; the test of
// the package holds that both have the same placeholders and that every call
// names exactly those.
//
// What kubectl says is kept in kubectl's words in both languages: people search
// for those sentences. Keys of documents, reasons and event types are not texts
// and never go through this package.
package text
