#!/usr/bin/env bash
# What is handed on of a version, into dist/release: for each platform an archive with the static binary, man pages,
# completions and licences, and its SBOM (CycloneDX); the packages; SHA256SUMS over all. The same commit gives the same
# bytes. With all platforms there is a Homebrew formula as well.
#
# usage: release.sh [GOOS/GOARCH...]    all platforms and the packages; or these platforms alone
#
#   DOWNLOAD_URL   where the archives will lie, for the formula
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/tool.sh
tool cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod v1.9.0

platforms=("$@")
[ $# -gt 0 ] || platforms=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64)
version=$(scripts/version.sh binary)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
out=dist/release
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d dist/release-work.XXXXXX)
trap 'rm -rf "$work"' EXIT

scripts/binary.sh "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$work/teller"
mkdir "$work/same"
"$work/teller" man "$work/same/man"
mkdir "$work/same/completions"
for shell in bash zsh fish powershell; do "$work/teller" completion $shell >"$work/same/completions/knowledged.$shell"; done
cp README.md README.zh-CN.md NOTICE "$work/same/"
cp -r --parents embedding/model/MODEL_CARD.md embedding/model/licences web/static/licences "$work/same/" # where NOTICE has them
cp config/example.yaml "$work/same/config.example.yaml"

for platform in "${platforms[@]}"; do
  os=${platform%/*} arch=${platform#*/}
  name=knowledged_${version}_${os}_$arch
  program=knowledged
  [ "$os" != windows ] || program=knowledged.exe
  cp -r "$work/same" "$work/$name"
  scripts/binary.sh "$os" "$arch" "$work/$name/$program"
  scripts/licences.py "$platform" >"$work/$name/third-party.txt"
  if [ "$os" = windows ]; then
    find "$work/$name" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
    (cd "$work" && python3 -c 'import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
    for file in sorted(os.path.join(d, f) for d, _, fs in os.walk(sys.argv[2]) for f in fs): z.write(file)' archive.zip "$name")
    mv "$work/archive.zip" "$out/$name.zip"
  else
    tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u=rwX -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
  fi
  GOOS=$os GOARCH=$arch CGO_ENABLED=0 .cache/bin/cyclonedx-gomod app -json -noserial -main cmd/knowledged -output "$out/$name.cdx.json" . 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
  scripts/licences.py --sbom "$out/$name.cdx.json" "$version" "$SOURCE_DATE_EPOCH" "$platform"
  rm -r "${work:?}/$name"
done
if [ $# = 0 ]; then
  scripts/package.sh all | while read -r package; do mv "$package" "$out/"; done
  formula=$(cat packaging/homebrew/knowledged.rb)
  formula=${formula//@VERSION@/$version} formula=${formula//@URL@/${DOWNLOAD_URL:-https://downloads.knowledged.invalid/$version}}
  for platform in darwin_arm64 darwin_amd64 linux_arm64 linux_amd64; do
    sum=$(sha256sum "$out/knowledged_${version}_$platform.tar.gz")
    formula=${formula//@SHA256_$platform@/${sum%% *}}
  done
  printf '%s\n' "$formula" >"$out/knowledged.rb"
fi
(cd "$out" && sha256sum -- * >SHA256SUMS)
ls "$out"
