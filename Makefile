# Everything that Hark needs on a fresh machine is Go and make.

GO       ?= go
FUZZTIME ?= 20s
SOAK     ?= 10m
PACKAGES ?= ./...
MODULES  := bench cluster conformance
TARGETS  ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: help test race check fmt vet staticcheck tidy cross fuzz soak bench bench-quick bench-go build install demo cluster conformance

help: ## what each target does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

test: ## every test, once
	$(GO) test $(PACKAGES)

race: ## every test under the race detector
	$(GO) test -race $(PACKAGES)

check: fmt vet staticcheck tidy cross race ## what CI runs besides make test

fmt: ## fail if a file is not formatted
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not formatted:"; echo "$$files"; exit 1; fi

vet: ## static checks
	$(GO) vet $(PACKAGES)
	@for module in $(MODULES); do echo "vet $$module"; (cd $$module && $(GO) vet ./...) || exit 1; done

staticcheck: ## more static checks, by the tool pinned in tools/go.mod
	$(GO) tool -modfile=tools/go.mod staticcheck $(PACKAGES)
	@staticcheck=$$($(GO) tool -n -modfile=tools/go.mod staticcheck); \
	for module in $(MODULES); do echo "staticcheck $$module"; (cd $$module && "$$staticcheck" ./...) || exit 1; done

tidy: ## fail if go.mod or go.sum is not tidy
	$(GO) mod tidy -diff
	@for module in tools $(MODULES); do echo "tidy $$module"; (cd $$module && $(GO) mod tidy -diff) || exit 1; done

cross: ## build everything for the systems that Hark runs on
	@for target in $(TARGETS); do \
		echo "build $$target"; \
		GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0 $(GO) build $(PACKAGES) || exit 1; \
	done

fuzz: ## each fuzz target for FUZZTIME (default 20s)
	@for package in $$($(GO) list $(PACKAGES)); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$package || exit 1; \
		done; \
	done

soak: ## random history, random faults, for SOAK (default 10m); prints seeds and figures
	$(GO) test ./internal/soak -count=1 -v -timeout 0 -args -last $(SOAK)

cluster: ## tests of the cluster module: a real control plane, built when it is first needed
	cd cluster && $(GO) test -count=1 -timeout 60m ./...

conformance: ## harktest against a real control plane, which is built when it is first needed
	cd conformance && $(GO) test -count=1 -timeout 60m ./...

bench: ## Hark and client-go side by side; writes docs/perf.md (12 GB of memory)
	cd bench && $(GO) run . -doc ../docs/perf.md

bench-quick: ## the same in under 3 minutes, printed alone
	cd bench && $(GO) run . -quick

bench-go: ## benchmarks of speed and memory, package by package
	$(GO) test -run '^$$' -bench . -benchmem $(PACKAGES)

build: ## the tool, as bin/hark and bin/kubectl-hark
	$(GO) build -trimpath -o bin/hark ./cmd/hark
	ln -sf hark bin/kubectl-hark

install: ## the tool, into GOBIN
	$(GO) install -trimpath ./cmd/hark

demo: ## the chapter, live
	$(GO) run ./cmd/hark demo
