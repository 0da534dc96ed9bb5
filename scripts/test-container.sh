#!/usr/bin/env bash
# The container file is built with buildah, and the image runs: its user, variables, entry point and health check. No
# registry is asked: what the file builds on is a Debian with this machine's Go, under the name of the image it wants.
#
# usage: scripts/test-container.sh    as root, on Linux
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
daemon=
stop() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
  wait
  umount -R "$work/storage/overlay" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
command -v buildah >/dev/null || fail "no buildah here: apt-get install buildah"
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }
file=packaging/container/Containerfile

SYSTEMD_SUITE=bookworm scripts/systemd.sh image
base=$(sed -n 's/^FROM \([^ ]*\) AS build$/\1/p' $file)
stand_in=$(buildah from scratch)
cp -a "${SYSTEMD_CACHE:-.cache/systemd}/bookworm/." "$(buildah mount "$stand_in")"
buildah copy --quiet "$stand_in" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt >/dev/null
buildah umount "$stand_in" >/dev/null
buildah config --env PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin --env GOPATH=/go --env GOTOOLCHAIN=local "$stand_in"
buildah commit --quiet --rm "$stand_in" "docker.io/library/$base" >/dev/null

version=$(scripts/version.sh binary)
buildah bud --quiet --pull-never --isolation chroot --format docker --build-arg VERSION="$version" \
  --volume "$(go env GOROOT):/usr/local/go:ro" --volume "$(go env GOMODCACHE):/go/pkg/mod" --volume "$(go env GOCACHE):/root/.cache/go-build" \
  -t knowledged -f $file . >"$work/log" 2>&1 || fail "the image: $(tail -20 "$work/log")"
buildah inspect --type image knowledged >"$work/image.json"
python3 - "$work" <<'PY'
import json, sys
config = json.load(open(sys.argv[1] + "/image.json"))["Docker"]["config"]
assert config["User"] == "65532:65532", config["User"]
assert set(config["Volumes"]) == {"/documents", "/state"}, config["Volumes"]
open(sys.argv[1] + "/start", "w").write("\n".join(config["Entrypoint"] + config["Cmd"]))
assert config["Healthcheck"]["Test"][0] == "CMD", config["Healthcheck"]
open(sys.argv[1] + "/health", "w").write("\n".join(config["Healthcheck"]["Test"][1:]))
PY
mapfile -t start <"$work/start"
mapfile -t health <"$work/health"

mkdir "$work/documents"
cp -r knowledge_base/* "$work/documents/"
container=$(buildah from --pull-never localhost/knowledged)
[ "$(find "$(buildah mount "$container")" -type f -printf '/%P\n' | sort | tr '\n' ' ')" = "/etc/ssl/certs/ca-certificates.crt /knowledged " ] || fail "other files than the program's are in the image"
inside() { buildah run --isolation chroot --volume "$work/documents:/documents" "$container" -- "$@"; }
! inside "${health[@]}" >/dev/null 2>&1 || fail "healthy before it runs"
inside "${start[@]}" 2>"$work/log" &
runs=$!
until inside "${health[@]}" >/dev/null 2>&1; do
  kill -0 $runs 2>/dev/null || fail "it ends: $(cat "$work/log")"
  sleep 0.2
done
inside /knowledged status --wait --timeout 30s --json >"$work/status"
daemon=$(sed -n 's/^ *"pid": \([0-9]*\),$/\1/p' "$work/status")
[ "$(stat -c %u "/proc/$daemon")" = 65532 ] || fail "it runs as $(stat -c %U "/proc/$daemon")"
[ "$(inside /knowledged version)" = "knowledged $version" ] || fail "version: $(inside /knowledged version)"
inside /knowledged lookup ERR_TIMEOUT | grep 'high confidence, unique match' >/dev/null || fail "no answer"
kill "$daemon"
daemon=
wait $runs || fail "it does not end in order: $(cat "$work/log")"
! grep -E '"level":"(WARN|ERROR)"' "$work/log" || fail "it complains"
echo "container: built from $file, runs as 65532 in an empty root"
