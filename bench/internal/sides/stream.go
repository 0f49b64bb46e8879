package sides

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gocampus/hark/wire"
)

// stream measures what no client can do without: reading the bytes of a list and
// dropping them; and then also keeping a copy of them, object by object.
func stream(j *Job) (Result, error) {
	result := Result{}
	start := now()
	body, err := j.open()
	if err != nil {
		return nil, err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, body, make([]byte, chunk))
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	result[Bytes] = float64(n)
	result[ReadCPU], result[ReadWall] = start.since()

	start = now()
	if body, err = j.open(); err != nil {
		return nil, err
	}
	size := int(n) / j.Objects
	kept := make([][]byte, 0, j.Objects)
	for err == nil {
		object := make([]byte, size)
		if _, err = io.ReadFull(body, object); err == nil {
			kept = append(kept, object)
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || len(kept) < j.Objects {
		return nil, fmt.Errorf("sides: kept %d of %d objects: %w", len(kept), j.Objects, err)
	}
	result[CopyCPU], result[CopyWall] = start.since()
	return result, body.Close()
}

// chunk is how much is read at once.
const chunk = 64 << 10

// open lists all objects.
func (j *Job) open() (io.ReadCloser, error) {
	gvr := j.resource()
	path, encoding := "/api/"+gvr.Version+"/"+gvr.Resource, wire.ContentTypeProtobuf
	if gvr.Group != "" {
		path, encoding = "/apis/"+gvr.Group+"/"+gvr.Version+"/"+gvr.Resource, wire.ContentTypeJSON
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, j.URL+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", encoding)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("sides: %s: %s", path, response.Status), response.Body.Close())
	}
	return response.Body, nil
}
