package httpapi

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/harktest/internal/service"
)

func (h *Handler) list(w http.ResponseWriter, r *http.Request, t service.Target) {
	o, err := listOptions(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	list, err := h.service.List(t, o)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.answerList(w, r, t.Kind, list)
}

// answerList writes a list from the encoded bytes of its items.
func (h *Handler) answerList(w http.ResponseWriter, r *http.Request, k *kind.Kind, list *service.List) {
	m, err := negotiateList(r, k)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	switch {
	case m.form == asTable:
		h.answerTable(w, r, k, list, m)
	case m.form == asPartials:
		h.answerPartial(w, r, list, m)
	case m.protobuf():
		h.streamProtobuf(w, r, k, list, m)
	case m.encoding == object.MediaYAML || m.pretty:
		var body strings.Builder
		if err := writeJSONList(&body, k, list); err != nil {
			h.fail(w, r, err)
			return
		}
		write(w, http.StatusOK, m, []byte(body.String()))
	default:
		h.streamJSON(w, r, k, list, m)
	}
}

func listMeta(list *service.List) metav1.ListMeta {
	return metav1.ListMeta{ResourceVersion: list.ResourceVersion, Continue: list.Continue, RemainingItemCount: list.Remaining}
}

func listKind(k *kind.Kind) schema.GroupVersionKind {
	return k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List")
}

func (h *Handler) streamJSON(w http.ResponseWriter, r *http.Request, k *kind.Kind, list *service.List, m media) {
	size := 0
	for _, record := range list.Records {
		raw, err := record.Value.JSON(k)
		if err != nil {
			h.fail(w, r, err)
			return
		}
		size += len(raw)
	}
	out, finish := h.bodyWriter(w, r, m, size)
	// Every item was encoded above: an error is a client that went away.
	_ = writeJSONList(out, k, list)
	_, _ = io.WriteString(out, "\n")
	finish()
}

func writeJSONList(out io.Writer, k *kind.Kind, list *service.List) error {
	head, err := json.Marshal(listMeta(list))
	if err != nil {
		return err
	}
	if k.Custom && list.Continue == "" { // as the API writes lists without a Go type
		head = append([]byte(`{"continue":"",`), head[1:]...)
	}
	gvk := listKind(k)
	if _, err := io.WriteString(out, `{"kind":"`+gvk.Kind+`","apiVersion":"`+gvk.GroupVersion().String()+`","metadata":`+string(head)+`,"items":[`); err != nil {
		return err
	}
	for i, record := range list.Records {
		raw, err := record.Value.JSON(k)
		if err != nil {
			return err
		}
		if i > 0 {
			_, _ = out.Write([]byte{','})
		}
		if _, err := out.Write(raw); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, `]}`)
	return err
}

// streamProtobuf writes a list as the message that all lists share: metadata in
// field 1, items in field 2.
func (h *Handler) streamProtobuf(w http.ResponseWriter, r *http.Request, k *kind.Kind, list *service.List, m media) {
	meta := listMeta(list)
	head, err := meta.Marshal()
	if err != nil {
		h.fail(w, r, err)
		return
	}
	size := protowire.SizeTag(1) + protowire.SizeBytes(len(head))
	for _, record := range list.Records {
		raw, err := record.Value.Protobuf(k)
		if err != nil {
			h.fail(w, r, err)
			return
		}
		size += protowire.SizeTag(2) + protowire.SizeBytes(len(raw))
	}
	out, finish := h.bodyWriter(w, r, m, size)
	prefix := object.Envelope(nil, listKind(k), size)
	prefix = protowire.AppendBytes(protowire.AppendTag(prefix, 1, protowire.BytesType), head)
	_, _ = out.Write(prefix)
	for _, record := range list.Records {
		raw, _ := record.Value.Protobuf(k) // it was encoded above
		prefix = protowire.AppendVarint(protowire.AppendTag(prefix[:0], 2, protowire.BytesType), uint64(len(raw)))
		_, _ = out.Write(prefix)
		if _, err := out.Write(raw); err != nil {
			return // the client went away
		}
	}
	_, _ = io.WriteString(out, protobufTail)
	finish()
}

// compressAbove is the size in bytes from which the API compresses an answer.
const compressAbove = 128 << 10

// bodyWriter begins an answer of about size bytes, compressed when it is large
// and the client accepts it.
func (h *Handler) bodyWriter(w http.ResponseWriter, r *http.Request, m media, size int) (out io.Writer, finish func()) {
	w.Header().Set("Content-Type", m.contentType())
	w.Header().Set("Cache-Control", "no-cache, private")
	if size > compressAbove && !h.options.NoCompression && acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
		w.WriteHeader(http.StatusOK)
		compressed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			panic("httpapi: " + err.Error()) // the level is a constant
		}
		return compressed, func() { _ = compressed.Close() }
	}
	w.WriteHeader(http.StatusOK)
	buffered := bufio.NewWriterSize(w, 64<<10)
	return buffered, func() { _ = buffered.Flush() }
}

func acceptsGzip(r *http.Request) bool {
	return slices.ContainsFunc(strings.Split(r.Header.Get("Accept-Encoding"), ","), func(encoding string) bool {
		name, _, _ := strings.Cut(strings.TrimSpace(encoding), ";")
		return name == "gzip"
	})
}

func (h *Handler) answerPartial(w http.ResponseWriter, r *http.Request, list *service.List, m media) {
	partials := &metav1.PartialObjectMetadataList{ListMeta: listMeta(list), Items: []metav1.PartialObjectMetadata{}}
	for _, record := range list.Records {
		item := *object.PartialMetadata(record.Value.Meta())
		partials.Items = append(partials.Items, item)
	}
	body, err := appendObject(nil, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"), partials, m.protobuf())
	if err != nil {
		h.fail(w, r, err)
		return
	}
	write(w, http.StatusOK, m, body)
}

func (h *Handler) answerTable(w http.ResponseWriter, r *http.Request, k *kind.Kind, list *service.List, m media) {
	t := &tableOf{columns: true, meta: listMeta(list)}
	for _, record := range list.Records {
		t.versions = append(t.versions, record.Value)
	}
	body, err := appendTable(nil, r, k, t)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	write(w, http.StatusOK, m, body)
}
