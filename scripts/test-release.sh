#!/usr/bin/env bash
# What is handed on: the same bytes from two folders, checksums, a complete SBOM. Homebrew is not here: its formula is read
# by Ruby alone.
#
# usage: scripts/test-release.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }

for copy in one another/folder; do
  git clone -q . "$work/$copy"
  mkdir "$work/$copy/.cache"
  [ ! -e .cache/bin ] || cp -r .cache/bin "$work/$copy/.cache/bin"
  (cd "$work/$copy" && scripts/release.sh linux/amd64 windows/amd64 >"$work/files")
done
one=$work/one/dist/release
diff -r "$one" "$work/another/folder/dist/release" || fail "the same commit gave other bytes in another folder"
(cd "$one" && sha256sum --quiet -c SHA256SUMS)
tar -xzf "$one"/knowledged_*_linux_amd64.tar.gz -C "$work"
release=$(echo "$work"/knowledged_*_linux_amd64)
[ "$("$release/knowledged" version)" = "knowledged $(scripts/version.sh binary "$(git -C "$work/one" describe --tags --long --match 'v[0-9]*' 2>/dev/null || echo "v0.0.0-$(git rev-list --count HEAD)-g$(git describe --always)")")" ] || fail "version: $("$release/knowledged" version)"
python3 - "$one"/knowledged_*_linux_amd64.cdx.json "$one"/knowledged_*_windows_amd64.zip "$release/knowledged" <<'PY'
import json, subprocess, sys, zipfile
bom = json.load(open(sys.argv[1]))
listed = {(c["name"], c["version"]) for c in bom["components"]}
inside = {tuple(l.split()[1:3]) for l in subprocess.run(["go", "version", "-m", sys.argv[3]], capture_output=True, text=True, check=True).stdout.splitlines() if l.strip().startswith("dep")}
assert inside and inside <= listed, f"compiled in and not in the SBOM: {inside - listed}"
assert all(c["licenses"] for c in bom["components"]), "a component without a licence"
names = [n.split("/", 1)[1] for n in zipfile.ZipFile(sys.argv[2]).namelist()]
assert {"knowledged.exe", "third-party.txt", "NOTICE", "README.md", "embedding/model/MODEL_CARD.md", "web/static/licences/htmx.txt"} <= set(names), names
PY

ruby -c packaging/homebrew/knowledged.rb >/dev/null
echo "release: the same bytes twice, checksums right, SBOM complete"
