#!/usr/bin/env bash
# The packages as their own tools see them: lintian, dpkg-deb, rpm, and tar for apk. What installing does is
# scripts/test-systemd.sh's.
#
# usage: scripts/test-packages.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
same() { cmp -s "$1" "$2" || fail "$1 is not $2"; }
has() { grep -e "$@" >/dev/null; }

# Versions grow as work goes on, in each format's own order.
later() { dpkg --compare-versions "$(scripts/version.sh deb "$2")" gt "$(scripts/version.sh deb "$1")" || fail "dpkg does not take $2 for later than $1"; }
later v0.0.0-9-gabc v0.0.0-10-gabc
later v0.0.0-10-gabc v1.2.0-rc1-0-gabc
later v1.2.0-rc1-0-gabc v1.2.0-rc2-0-gabc
later v1.2.0-rc2-3-gabc v1.2.0-0-gabc
later v1.2.0-0-gabc v1.2.0-1-gabc
later v1.2.0-1-gabc v1.2.1-0-gabc
[ "$(scripts/version.sh apk v1.2.0-rc2-3-gabc)" = 1.2.0_rc2_p3 ] || fail "apk: $(scripts/version.sh apk v1.2.0-rc2-3-gabc)"
! scripts/version.sh apk v1.2.0-beautiful1-0-gabc 2>"$work/err" || fail "apk takes any stage"
! scripts/version.sh deb nonsense 2>"$work/err" || fail "nonsense is a version"

scripts/package.sh all >"$work/packages"
mapfile -t packages <"$work/packages"
[ ${#packages[@]} = 6 ] || fail "not six packages: ${packages[*]}"

# checked ROOT ARCHITECTURE PLACE_OF_ZSH: what is the same in all formats.
checked() {
  local root=$1 machine=$2 zsh=$3 page
  same "$root/etc/knowledged/config.yaml" packaging/config.yaml
  [ "$(stat -c %a "$root/usr/bin/knowledged")" = 755 ] || fail "$root: the binary's mode"
  readelf -h "$root/usr/bin/knowledged" | has "Machine: .*$machine" || fail "$root: not for $machine"
  ! readelf -d "$root/usr/bin/knowledged" | has NEEDED || fail "$root: the binary needs libraries"
  for page in knowledged knowledged-lookup knowledged-service-install; do
    gzip -dc "$root/usr/share/man/man1/$page.1.gz" | has '^\.TH "KNOWLEDGED' || fail "$root: man page $page"
  done
  bash -n "$root/usr/share/bash-completion/completions/knowledged"
  [ -s "$root/usr/share/fish/vendor_completions.d/knowledged.fish" ] && [ -s "$root$zsh/_knowledged" ] || fail "$root: completions"
  same "$root/usr/share/doc/knowledged/examples/config.yaml" config/example.yaml
  gzip -dc "$root/usr/share/doc/knowledged/third-party.txt.gz" | has '^github.com/blevesearch/bleve/v2 .*: Apache-2.0' || fail "$root: third-party licences"
}
# systemd_files ROOT
systemd_files() {
  local file
  for file in system/knowledged.service system/knowledged.socket user/knowledged.service user/knowledged.socket; do
    same "$1/usr/lib/systemd/$file" packaging/systemd/$file
  done
  for file in sysusers.d/knowledged.conf tmpfiles.d/knowledged.conf sysctl.d/60-knowledged.conf; do same "$1/usr/lib/$file" packaging/$file; done
}

machines=("X86-64" "AArch64")
for i in 0 1; do
  deb=${packages[i]} rpm=${packages[i + 2]} apk=${packages[i + 4]} machine=${machines[i]}
  lintian --allow-root --fail-on error,warning "$deb" || fail "lintian: $deb"
  dpkg-deb -R "$deb" "$work/deb$i"
  checked "$work/deb$i" "$machine" /usr/share/zsh/vendor-completions
  systemd_files "$work/deb$i"
  [ "$(cat "$work/deb$i/DEBIAN/conffiles")" = /etc/knowledged/config.yaml ] || fail "conffiles of $deb: $(cat "$work/deb$i/DEBIAN/conffiles")"
  dpkg --validate-version "$(dpkg-deb -f "$deb" Version)"
  for script in postinst prerm postrm; do same "$work/deb$i/DEBIAN/$script" packaging/scripts/deb/$script; done

  rpm -K --nosignature "$rpm" | has 'digests OK' || fail "digests of $rpm"
  [ "$(rpm -qpc "$rpm")" = /etc/knowledged/config.yaml ] || fail "configuration of $rpm: $(rpm -qpc "$rpm")"
  rpm -qp --qf '[%{FILENAMES} %{FILEFLAGS:fflags}\n]' "$rpm" | has '^/etc/knowledged/config.yaml cn$' || fail "$rpm would replace a configuration that was changed"
  ! rpm -qpl "$rpm" | has '^/usr\(/bin\|/lib\|/share\)\?$' || fail "$rpm owns folders of the system"
  for script in PREIN:pre POSTIN:post PREUN:preun POSTUN:postun; do
    rpm -qp --qf "%{${script%:*}}" "$rpm" >"$work/script"
    same "$work/script" "packaging/scripts/rpm/${script#*:}"
  done
  mkdir "$work/rpm$i"
  rpm2archive - <"$rpm" | tar -xzf - -C "$work/rpm$i"
  checked "$work/rpm$i" "$machine" /usr/share/zsh/site-functions
  systemd_files "$work/rpm$i"

  mkdir "$work/apk$i"
  tar -xzf "$apk" -C "$work/apk$i" 2>"$work/err" || fail "$apk: $(cat "$work/err")"
  checked "$work/apk$i" "$machine" /usr/share/zsh/site-functions
  same "$work/apk$i/etc/init.d/knowledged" packaging/openrc/knowledged
  has "^pkgver = $(scripts/version.sh apk)-r1\$" <"$work/apk$i/.PKGINFO" || fail "$apk: $(grep pkgver "$work/apk$i/.PKGINFO")"
  [ ! -e "$work/apk$i/usr/lib/systemd" ] || fail "$apk has units for systemd"
  for script in pre-install post-install post-upgrade pre-deinstall; do same "$work/apk$i/.$script" packaging/scripts/apk/$script; done
done
for script in packaging/scripts/*/* packaging/openrc/knowledged; do dash -n "$script"; done

# The same commit, checked out in two folders, gives the same bytes.
for copy in one another/folder; do
  git clone -q . "$work/$copy"
  mkdir "$work/$copy/.cache"
  cp -r .cache/bin "$work/$copy/.cache/bin"
  for kind in deb rpm apk; do (cd "$work/$copy" && scripts/package.sh $kind amd64 >>"$work/made"); done
done
while read -r made; do same "$work/one/$made" "$work/another/folder/$made"; done <"$work/made"
echo "packages: six, as their tools want them, and the same bytes each time"
