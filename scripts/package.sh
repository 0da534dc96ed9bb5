#!/usr/bin/env bash
# The packages of Linux distributions, into dist/; prints their paths. The same commit gives the same bytes.
#
# usage: package.sh deb|rpm|apk amd64|arm64     one
#        package.sh all                         six
#
#   VERSION      what git says (scripts/version.sh); in this format's own spelling
#   MAINTAINER   who answers for the packages
set -euo pipefail
cd "$(dirname "$0")/.."
MAINTAINER=${MAINTAINER:-the maintainers of knowledged <maintainers@knowledged.invalid>}
NFPM_VERSION=v2.45.2
mkdir -p dist
nfpm=.cache/bin/nfpm

if [ "${1:-}" = all ]; then
  PACKAGE_MADE=$(mktemp -d dist/made.XXXXXX)
  export PACKAGE_MADE
  trap 'rm -rf "$PACKAGE_MADE"' EXIT
  for kind in deb rpm apk; do
    for arch in amd64 arm64; do "$0" "$kind" "$arch"; done
  done
  exit
fi
kind=$1 arch=$2

. scripts/tool.sh
tool nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm $NFPM_VERSION

export VERSION=${VERSION:-$(scripts/version.sh "$kind")}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
export SOURCE_DATE_EPOCH MAINTAINER ARCH=$arch

stage=$(mktemp -d dist/stage.XXXXXX)
trap 'rm -rf "$stage"' EXIT
made=${PACKAGE_MADE:-$stage/made} # what packages of several formats have in common
mkdir -p "$made"
root=$stage/root doc=/usr/share/doc/knowledged
put() { install -D -m "$1" "$3" "$root$2"; }
put_gz() { install -d "$(dirname "$root$1")"; gzip -9nc "$2" >"$root$1"; }

binary=$made/linux_$arch
[ -e "$binary" ] || scripts/binary.sh linux "$arch" "$binary"
put 755 /usr/bin/knowledged "$binary"

# Pages and completions are the same for all platforms: this machine's binary writes them.
teller=$made/$(go env GOHOSTOS)_$(go env GOHOSTARCH)
[ -e "$teller" ] || scripts/binary.sh "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$teller"
"$teller" man "$stage/man"
for page in "$stage"/man/*; do put_gz "/usr/share/man/man1/${page##*/}.gz" "$page"; done
zsh=/usr/share/zsh/site-functions
[ "$kind" != deb ] || zsh=/usr/share/zsh/vendor-completions
for shell in bash zsh fish; do "$teller" completion $shell >"$stage/$shell"; done
put 644 /usr/share/bash-completion/completions/knowledged "$stage/bash"
put 644 $zsh/_knowledged "$stage/zsh"
put 644 /usr/share/fish/vendor_completions.d/knowledged.fish "$stage/fish"

put 644 /etc/knowledged/config.yaml packaging/config.yaml
case $kind in
  deb | rpm)
    for unit in system/knowledged.service system/knowledged.socket user/knowledged.service user/knowledged.socket; do
      put 644 /usr/lib/systemd/$unit packaging/systemd/$unit
    done
    put 644 /usr/lib/sysusers.d/knowledged.conf packaging/sysusers.d/knowledged.conf
    put 644 /usr/lib/tmpfiles.d/knowledged.conf packaging/tmpfiles.d/knowledged.conf
    put 644 /usr/lib/sysctl.d/60-knowledged.conf packaging/sysctl.d/60-knowledged.conf
    for example in backoff.conf examples/home-folder.conf examples/other-folder.conf examples/remote.conf; do
      put 644 $doc/examples/"${example##*/}" packaging/systemd/$example
    done
    ;;
  apk)
    put 755 /etc/init.d/knowledged packaging/openrc/knowledged
    put 644 /usr/lib/sysctl.d/60-knowledged.conf packaging/sysctl.d/60-knowledged.conf
    ;;
  *) echo "package.sh: $kind is none of deb, rpm, apk" >&2; exit 2 ;;
esac

put 644 $doc/examples/config.yaml config/example.yaml
put 644 $doc/examples/alerts.yml packaging/prometheus/alerts.yml
put 644 $doc/examples/grafana.json packaging/grafana/knowledged.json
put 644 $doc/copyright packaging/copyright
[ -e "$made/third-party.txt" ] || scripts/licences.py linux/amd64 linux/arm64 >"$made/third-party.txt"
put_gz $doc/third-party.txt.gz "$made/third-party.txt"
put_gz $doc/model/MODEL_CARD.md.gz embedding/model/MODEL_CARD.md
tail -n +1 embedding/model/licences/* >"$stage/notices.txt"
put_gz $doc/model/notices.txt.gz "$stage/notices.txt"

# Between releases the changelog starts with what this is.
cat >"$stage/changelog.yaml" <<YAML
- semver: "$VERSION"
  date: $MTIME
  packager: $MAINTAINER
  deb: {urgency: medium, distributions: [unstable]}
  changes:
    - note: "made from commit $(git rev-parse --short HEAD)"
YAML
[ ! -e packaging/changelog.yaml ] || cat packaging/changelog.yaml >>"$stage/changelog.yaml"


if [ "$kind" = deb ]; then
  # A Go program without cgo is one file that needs no library: what lintian takes for an error is the point of it.
  printf 'knowledged: statically-linked-binary [usr/bin/knowledged]\n' >"$stage/overrides"
  put 644 /usr/share/lintian/overrides/knowledged "$stage/overrides"
fi

# In an apk the scripts have the times of their files, which differ from clone to clone.
cp -r packaging/scripts "$stage/scripts"
find "$stage/scripts" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +

{
  sed "s|packaging/scripts/|$stage/scripts/|g" packaging/nfpm.yaml
  printf "changelog: %s\ncontents:\n" "$stage/changelog.yaml"
  if [ "$kind" = rpm ]; then # who does not own a folder leaves it behind
    for dir in /etc/knowledged $doc $doc/examples $doc/model; do echo "  - {dst: $dir, type: dir}"; done
  fi
  find "$root" -type f | sort | while read -r file; do
    type=
    case ${file#"$root"} in /etc/*) type=", type: config|noreplace" ;; esac # dpkg: conffile; apk protects /etc by itself
    echo "  - {src: $file, dst: ${file#"$root"}$type, file_info: {mode: 0$(stat -c %a "$file")}}"
  done
} >"$stage/nfpm.yaml"
$nfpm package --config "$stage/nfpm.yaml" --packager "$kind" --target dist/ >"$stage/log" || { cat "$stage/log" >&2; exit 1; }
sed -n 's/^created package: //p' "$stage/log"
