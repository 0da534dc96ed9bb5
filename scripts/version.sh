#!/usr/bin/env bash
# The version of this tree by git, as each format of package writes it: dpkg, rpm and apk sort it as git does.
#
#   git                  binary              deb and rpm           apk
#   v1.2.3               1.2.3               1.2.3                 1.2.3
#   v1.2.3-rc1           1.2.3-rc1           1.2.3~rc1             1.2.3_rc1
#   v1.2.3-5-gabcdef0    1.2.3+5.gabcdef0    1.2.3+5.gabcdef0      1.2.3_p5
#   no tag, 400 commits  0.0.0+400.gabcdef0  0.0.0+400.gabcdef0    0.0.0_p400
#
# usage: version.sh binary|deb|rpm|apk [DESCRIPTION]    DESCRIPTION is what git describe --tags --long says
set -euo pipefail
kind=$1
described=${2:-}
if [ -z "$described" ]; then
  cd "$(dirname "$0")/.."
  described=$(git describe --tags --long --match 'v[0-9]*' --dirty 2>/dev/null) ||
    described="v0.0.0-$(git rev-list --count HEAD)-g$(git describe --always --dirty)"
fi
pattern='^v([0-9]+\.[0-9]+\.[0-9]+)(-([a-z]+)\.?([0-9]+))?-([0-9]+)-g([0-9a-f]+)(-dirty)?$'
[[ $described =~ $pattern ]] || { echo "version.sh: $described is no tag like v1.2.3 or v1.2.3-rc1 and what follows it" >&2; exit 1; }
base=${BASH_REMATCH[1]} stage=${BASH_REMATCH[3]} stage_number=${BASH_REMATCH[4]}
commits=${BASH_REMATCH[5]} commit=${BASH_REMATCH[6]} dirty=${BASH_REMATCH[7]}
after=
if [ "$commits" != 0 ] || [ -n "$dirty" ]; then after="+$commits.g$commit${dirty/-/.}"; fi
case $kind in
  binary) echo "$base${stage:+-$stage$stage_number}$after" ;;
  deb | rpm) echo "$base${stage:+~$stage$stage_number}$after" ;;
  apk)
    case $stage in '' | alpha | beta | pre | rc) ;; *) echo "version.sh: apk knows alpha, beta, pre and rc, not $stage" >&2; exit 1 ;; esac
    echo "$base${stage:+_$stage$stage_number}${after:+_p$commits}"
    ;;
  *) echo "version.sh: $kind is no kind of package" >&2; exit 2 ;;
esac
