// Package service is the API without HTTP: what a create, an update, a patch, a
// delete, a list and a watch mean, for every kind. It answers errors as the API
// does, as *errors.StatusError of apimachinery, in the API's words.
package service
