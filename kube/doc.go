// Package kube binds Hark to Kubernetes. It is the only package of the pipeline
// that knows HTTP, discovery and Go types of the API; below it there are only
// bytes.
//
//	LoadConfig  kubeconfig or in-cluster → *rest.Config
//	New         *rest.Config → *Client
//	Resolve     "po", "deploy", "widgets.example.com" → Kind
//	Source      Kind → watch.Source, raw bodies, nothing decoded
//	As, Decode  *wire.Object → a Go type, when somebody wants to read it
//	Informers   one informer for everybody who asks for the same
//
// Authentication, TLS, proxies, credential plugins, rate limits, discovery and
// the rules of kubeconfig files are client-go's. What is added here is what
// client-go has no place for: requests whose bodies are read as streams of
// undecoded objects, and a closed set of error kinds (watch.ErrorKind).
//
// Sources: https://kubernetes.io/docs/reference/using-api/api-concepts/ for the
// parameters and answers of lists and watches.
package kube
