package httpapi

import (
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/harktest/internal/service"
	"github.com/gocampus/hark/harktest/internal/table"
)

// tableOf is what a Table answer is made of.
type tableOf struct {
	versions []*object.Version
	meta     metav1.ListMeta
	columns  bool // whether to name the columns; the first event of a watch does
}

// appendTable appends a metav1.Table in JSON.
func appendTable(dst []byte, r *http.Request, k *kind.Kind, t *tableOf) ([]byte, error) {
	result := metav1.Table{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "Table"},
		ListMeta: t.meta, Rows: []metav1.TableRow{},
	}
	if t.columns {
		result.ColumnDefinitions = table.Columns(k)
	}
	if len(t.versions) == 1 && result.ResourceVersion == "" {
		result.ResourceVersion = t.versions[0].Meta().GetResourceVersion()
	}
	for _, v := range t.versions {
		row, err := tableRow(k, v, r.URL.Query().Get("includeObject"))
		if err != nil {
			return dst, err
		}
		result.Rows = append(result.Rows, row)
	}
	raw, err := json.Marshal(&result)
	return append(dst, raw...), err
}

func tableRow(k *kind.Kind, v *object.Version, include string) (metav1.TableRow, error) {
	obj, err := v.As(k)
	if err != nil {
		return metav1.TableRow{}, err
	}
	switch metav1.IncludeObjectPolicy(include) {
	case "", metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
	default:
		return metav1.TableRow{}, service.BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", include)
	}
	row := metav1.TableRow{Cells: table.Cells(k, obj, v.Meta())}
	var raw []byte
	switch metav1.IncludeObjectPolicy(include) {
	case metav1.IncludeNone:
		return row, nil
	case metav1.IncludeObject:
		raw, err = appendVersion(nil, k, v, false)
	default:
		raw, err = json.Marshal(object.PartialMetadata(v.Meta()))
	}
	row.Object = runtime.RawExtension{Raw: raw}
	return row, err
}
