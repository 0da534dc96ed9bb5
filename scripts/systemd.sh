#!/usr/bin/env bash
# A machine with a real systemd as PID 1, for tests: a minimal Debian in a container that systemd-nspawn boots within
# seconds. The image is made once and kept in .cache/systemd; each machine is a copy of its own. Needs root, on Linux.
#
# usage: systemd.sh with COMMAND...   boot a fresh machine, run COMMAND with MACHINE set, throw the machine away
#        systemd.sh in COMMAND...     run COMMAND in the machine MACHINE, as root
#        systemd.sh reboot            reboot it, and wait until it is up
#        systemd.sh image             only make the image
#
#   MACHINE           folder of the machine; its files are in $MACHINE/root
#   SYSTEMD_SUITE     [bookworm]  Debian release
#   SYSTEMD_CACHE     [.cache/systemd]
#   SYSTEMD_MIRROR    [http://deb.debian.org/debian]
set -euo pipefail

SUITE=${SYSTEMD_SUITE:-bookworm} # systemd 252; trixie has 257, which knows more
PACKAGES=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,procps,curl
ROOT=$(cd "$(dirname "$0")/.." && pwd -P)
CACHE=${SYSTEMD_CACHE:-$ROOT/.cache/systemd}
MIRROR=${SYSTEMD_MIRROR:-http://deb.debian.org/debian}
IMAGE=$CACHE/$SUITE
STAMP="$SUITE $PACKAGES"

log() { printf 'systemd: %s\n' "$*" >&2; }
die() { log "$*"; exit 1; }

# able says why this machine cannot, instead of leaving it to an error somewhere below.
able() {
  [ "$(uname -s)" = Linux ] || die "needs Linux"
  [ "$(id -u)" = 0 ] || die "needs root: it boots a container"
  local tool
  for tool in systemd-nspawn mmdebstrap nsenter; do
    command -v $tool >/dev/null || die "no $tool here: apt-get install systemd-container mmdebstrap util-linux"
  done
  [ -d /sys/fs/cgroup/systemd ] || [ -f /sys/fs/cgroup/cgroup.controllers ] || die "no cgroups are mounted at /sys/fs/cgroup: systemd cannot run"
}

image() {
  mkdir -p "$CACHE"
  (
    flock -w 900 9 || die "another process has been making the image for 15 minutes"
    [ "$(cat "$IMAGE.made" 2>/dev/null)" = "$STAMP" ] && exit
    log "making the image of $SUITE in $CACHE"
    rm -rf "$IMAGE" "$IMAGE.made"
    mmdebstrap --quiet --variant=minbase --include="$PACKAGES" \
      --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/knowledged/*' \
      "$SUITE" "$IMAGE" "$MIRROR" >"$CACHE/log" 2>&1 || { cat "$CACHE/log" >&2; die "the image could not be made; is $MIRROR within reach?"; }
    chroot "$IMAGE" dpkg-query -W >"$IMAGE.packages"
    echo "$STAMP" >"$IMAGE.made"
  ) 9>"$CACHE/.lock"
}

# leader is the container's PID 1 as this machine numbers it: below nspawn, or below its helper while it starts.
leader() {
  local top pid
  top=$(cat "$MACHINE/nspawn")
  for pid in $(pgrep -P "$top") $(pgrep -P "$(pgrep -d, -P "$top" || echo "$top")"); do
    if grep -qs '^NSpid:.*[[:space:]]1$' "/proc/$pid/status"; then
      echo "$pid"
      return
    fi
  done
  return 1
}

# up waits until systemd has started what it starts.
up() {
  local pid state
  for _ in $(seq 240); do
    pid=$(leader || true)
    if [ -n "$pid" ] && [ -S "/proc/$pid/root/run/dbus/system_bus_socket" ]; then
      state=$(within "$pid" systemctl is-system-running --wait 2>/dev/null || true)
      case $state in running | degraded) return ;; esac
    fi
    on || break
    sleep 0.25
  done
  tail -n 20 "$MACHINE/console" >&2
  die "systemd did not come up within a minute: state ${state:-none}"
}

within() { # PID COMMAND...
  local pid=$1; shift
  nsenter -t "$pid" -m -u -i -n -p -C -r -w env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"
}

boot() {
  MACHINE=$(mktemp -d /var/tmp/knowledged-machine.XXXXXX)
  export MACHINE
  trap 'halt' EXIT
  trap 'exit 130' INT TERM
  cp -a --reflink=auto "$IMAGE" "$MACHINE/root"
  power_on
}

power_on() {
  setsid systemd-nspawn --quiet -D "$MACHINE/root" --boot --register=no --keep-unit --private-network --machine="${MACHINE##*.}" --hostname=kd --console=pipe \
    </dev/null >"$MACHINE/console" 2>&1 9>&- &
  echo $! >"$MACHINE/nspawn"
  up
}

# on: the container runs. Who ends while nobody waits for it stays as a zombie.
on() { case $(ps -o stat= -p "$(cat "$MACHINE/nspawn")" 2>/dev/null) in '' | Z*) false ;; esac; }

# off waits until the container has ended.
off() {
  for _ in $(seq 240); do
    on || return 0
    sleep 0.25
  done
  return 1
}

halt() {
  local pid
  trap - EXIT
  pid=$(leader || true)
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true # nothing of it is wanted any more, an orderly end neither
  off || kill -KILL "$(cat "$MACHINE/nspawn")" 2>/dev/null || true
  rm -rf "$MACHINE"
}

case ${1:-} in
  image) able; image ;;
  with)
    shift
    able
    image
    boot
    "$@"
    ;;
  in)
    shift
    pid=$(leader) || die "the machine is not running"
    within "$pid" "$@"
    ;;
  reboot)
    old=$(leader) || die "the machine is not running"
    # The container goes down as a machine does. nspawn's own way to start it again needs systemd outside as well.
    within "$old" systemctl reboot --no-block 2>/dev/null || true # it may go down before it has answered
    off || die "the machine did not go down within a minute"
    power_on
    ;;
  *) sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
