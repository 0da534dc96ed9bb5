#!/usr/bin/env bash
# The tests that need the real Milvus, which `milvus.sh with` starts; fails, never skips, without it. Holds l1/milvus to 80 %
# statement coverage.
# usage: milvus.sh with milvus-test.sh
set -euo pipefail
cd "$(dirname "$0")/.."
: "${MILVUS_ADDRESS:?is not set: run scripts/milvus.sh with $0}"
floor=80
profile=.cache/milvus.cover
go test -race -count=1 -timeout 25m -coverprofile="$profile" -covermode=atomic ./l1/milvus
go tool cover -func="$profile" | awk -v floor=$floor '/^total:/ { sub("%", "", $3); print "coverage of l1/milvus is " $3 " %"; exit $3 < floor }'
go test -race -count=1 -timeout 15m -tags milvus -run 'Milvus|ReaderDaemon|BackendSwitched' ./daemon
