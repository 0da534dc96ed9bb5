#!/usr/bin/env bash
# The binary of one platform: static, and the same bytes from the same commit wherever it is built.
#
# usage: binary.sh GOOS GOARCH FILE
#
#   BINARY_VERSION   what git says (scripts/version.sh)
set -euo pipefail
out=$(realpath -m "$3")
cd "$(dirname "$0")/.."
version=${BINARY_VERSION:-$(scripts/version.sh binary)}
# git's state is in the version; -buildvcs would add whether files beside the source were changed.
CGO_ENABLED=0 GOOS=$1 GOARCH=$2 GOAMD64=v1 GOARM64=v8.0 GOFLAGS=-mod=readonly \
  go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$out" ./cmd/knowledged
