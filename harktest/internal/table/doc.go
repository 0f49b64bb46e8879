// Package table prints objects as rows, as the API server does for kubectl get.
package table
