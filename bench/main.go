package main

import (
 _ "k8s.io/kubectl/pkg/cmd"
 _ "k8s.io/component-base/cli"
 _ "sigs.k8s.io/controller-runtime/pkg/client"
 _ "sigs.k8s.io/controller-runtime/pkg/cache"
 _ "github.com/gocampus/hark/kube"
 _ "github.com/gocampus/hark/harktest"
)
func main(){}
