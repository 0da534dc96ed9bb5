#!/usr/bin/env bash
# Runs package tests with the race detector and holds the core packages to 80 % statement coverage each. Those that need
# the real Milvus are scripts/milvus-test.sh's.
# usage: unit.sh CORE_PACKAGES...
set -euo pipefail
cd "$(dirname "$0")/.."
floor=80
out=$(mktemp)
trap 'rm -f "$out"' EXIT
packages=$(go list ./... | grep -v /l1/milvus)
core=$(go list "$@" | grep -v /l1/milvus)
go vet ./...
# shellcheck disable=SC2086 # lists of packages
go test -race -timeout 20m -coverprofile=coverage.out -covermode=atomic $packages 2>&1 | tee "$out"
low=0
for pkg in $core; do
  case "$pkg" in */l1test) continue ;; esac # a test library: measured through those who call it
  pct=$(awk -v p="$pkg" '$1=="ok" && $2==p { for (i=1;i<=NF;i++) if ($i ~ /%$/) { sub("%","",$i); print $i } }' "$out")
  if [ -z "$pct" ] || awk -v a="$pct" -v b="$floor" 'BEGIN { exit !(a < b) }'; then
    echo "coverage of $pkg is ${pct:-unknown} %, the floor is $floor %" >&2
    low=1
  fi
done
exit $low
