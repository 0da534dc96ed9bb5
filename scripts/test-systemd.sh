#!/usr/bin/env bash
# The service on a machine with a real systemd: installed, asked by users who may and may not, killed, hung, reloaded,
# socket-activated, rebooted, upgraded, removed. Everything a unit claims is made to happen.
#
# usage: scripts/systemd.sh with scripts/test-systemd.sh BIN [deb]
#        deb: two packages are built, installed and upgraded to; without, `knowledged service install` of BIN
set -euo pipefail
cd "$(dirname "$0")/.."
BIN=$(realpath "$1") DEB='' NEWER=''
package() { # VERSION: prints the path
  local made
  made=$(VERSION=$1 BINARY_VERSION=$1 scripts/package.sh deb "$(go env GOARCH)") && mv "$made" "$MACHINE/" && echo "$MACHINE/${made##*/}"
}
if [ "${2:-}" = deb ]; then
  DEB=$(package 1.0.0)
  NEWER=$(package 99.9.9)
fi
root=$MACHINE/root
config=$root/etc/knowledged/config.yaml

on() { scripts/systemd.sh in "$@"; }
as() { local who=$1; shift; on runuser -u "$who" -- "$@"; }
start=$SECONDS
step() { echo "-- $* ($((SECONDS - start)) s)"; }
fail() {
  echo "FAIL: $*"
  on systemctl status knowledged.service knowledged.socket --no-pager -l || true
  on journalctl --no-pager -n 60 -o cat || true
  exit 1
}
# until_ SECONDS WHAT COMMAND...: waits until the command succeeds.
until_() {
  local end=$((SECONDS + $1)) what=$2; shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || fail "$what: not in time"
    sleep 0.1
  done
}
# has reads all of its input, unlike grep -q: who writes to a pipe that was closed fails.
has() { grep -e "$@" >/dev/null; }
shows() { on systemctl show "${3:-knowledged.service}" --property="$1" --value | grep -x -- "$2" >/dev/null; }
logged() { on journalctl -u knowledged.service -o cat --no-pager | has "$1"; }
# finds USER QUERY PATH: the user's lookup has this document as its unique match.
finds() { as "$1" knowledged lookup "$2" | has "$3  .high confidence, unique match"; }
# answers: the same, while the first scan may be under way: then nothing is sure yet.
answers() { as "$1" knowledged lookup "$2" | has "$3  "; }
# asks is a client that reads no configuration.
asks() { as alice curl -s --max-time "$1" --unix-socket /run/knowledged/knowledged.sock "http://kd$2"; }
drop_in() { # NAME LINE...
  local file=$root/etc/systemd/system/knowledged.service.d/$1.conf; shift
  mkdir -p "$(dirname "$file")"
  printf '%s\n' '[Service]' "$@" >"$file"
  on systemctl daemon-reload
}
no_drop_in() { rm -f "$root/etc/systemd/system/knowledged.service.d/$1.conf"; on systemctl daemon-reload; }

# guide HEADING N: runs the Nth block of commands below a heading of the guide, word by word, as root in a clone.
guide() {
  local commands
  commands=$(awk -v heading="$1" -v n="$2" '
    /^#/ { below = ($0 == heading) }
    below && /^```sh$/ { inside = (++i == n); next }
    /^```$/ { inside = 0 }
    inside { sub(/^sudo /, ""); gsub(/&& sudo /, "\\&\\& "); print }' docs/operations.md)
  [ -n "$commands" ] || fail "the guide has no block $2 below $1"
  on sh -exc "cd /root/clone; $commands"
}

# What packages and `service install` do each in their way.
installs() {
  if [ -n "$DEB" ]; then
    cp "$DEB" "$root/root/knowledged.deb"
    on dpkg -i /root/knowledged.deb
    ! on knowledged service install 2>"$MACHINE/err" || fail "service install writes over the package's units"
    grep -q 'a package has installed' "$MACHINE/err" || fail "service install: $(cat "$MACHINE/err")"
  else
    guide '## Install as a service' 1 | tee "$MACHINE/install.log"
    grep -q '^written  *.*/knowledged.service$' "$MACHINE/install.log" || fail "install did not say what it wrote"
  fi
}
upgrades() {
  if [ -n "$NEWER" ]; then
    cp "$NEWER" "$root/root/knowledged.deb"
    on dpkg -i /root/knowledged.deb
  else
    CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=99.9.9' -o "$MACHINE/newer" ./cmd/knowledged
    install -m 755 "$MACHINE/newer" "$root/usr/local/bin/knowledged"
    on knowledged service install | tee "$MACHINE/install.log"
    grep -q '^unchanged  *.*/knowledged.service$' "$MACHINE/install.log" || fail "a second install rewrote what was as it should be"
    on knowledged service restart
  fi
}
removes() {
  if [ -n "$DEB" ]; then
    on dpkg --purge knowledged
    [ ! -e "$root/etc/knowledged" ] || fail "purge leaves /etc/knowledged"
    [ ! -e "$root/var/lib/knowledged" ] || fail "purge leaves the state"
  else
    guide '### Remove' 1 | tee "$MACHINE/uninstall.log"
    for left in /etc/knowledged/config.yaml /srv/knowledge_base /var/lib/knowledged; do
      grep -q "^left  *$left\$" "$MACHINE/uninstall.log" || fail "uninstall does not say that it left $left"
      [ -e "$root$left" ] || fail "uninstall took $left away"
    done
    on knowledged service uninstall | has '^nothing was installed' || fail "a second uninstall found something"
    ! on knowledged service start 2>"$MACHINE/err" || fail "a service that is not installed starts"
    grep -q 'not installed' "$MACHINE/err" || fail "start does not say that nothing is installed: $(cat "$MACHINE/err")"
  fi
}

step "install"
on useradd --create-home alice
on useradd --create-home bob
mkdir -p "$root/root/clone/bin"
cp "$BIN" "$root/root/clone/bin/knowledged"
cp -r knowledge_base "$root/root/clone/"
chmod 700 "$root/root/clone" # as home folders are: other accounts may not look into it, and do what the guide has them do
installs
until_ 10 "the service is active" shows ActiveState active
shows UnitFileState enabled || fail "the service does not start with the machine"
shows UnitFileState enabled knowledged.socket || fail "the socket is not enabled"
shows NotifyAccess main || fail "Type=notify is not in force"
rated=$(sed -n 's/.*rates it \([0-9.]*\) of 10.*/\1/p' docs/operations.md)
on systemd-analyze security knowledged --no-pager | has "exposure level for knowledged.service: $rated " || fail "the guide rates the sandbox $rated: $(on systemd-analyze security knowledged --no-pager | tail -1)"
problems=$(on systemd-analyze verify --man=no knowledged.service knowledged.socket 2>&1) && [ -z "$problems" ] || fail "systemd-analyze verify: $problems"
if logged '"level":"\(WARN\|ERROR\)"'; then fail "the daemon complains of its sandbox"; fi

step "documents saved by people and by the API"
guide '## Install as a service' 2
until_ 10 "a saved document is found" finds alice ERR_TIMEOUT knowledge_base/api/payment-errors.md
as alice sh -c 'printf -- "---\ntitle: Gift cards\nkeywords: [GC-7]\nsummary: how they work\n---\n\ntext\n" >~/gift.md; knowledged docs put ~/gift.md --category shop' >/dev/null
finds alice GC-7 knowledge_base/shop/gift.md || fail "an uploaded document is not found"
as alice sh -c 'echo >>/srv/knowledge_base/api/rate-limits.md' || fail "a member cannot edit what the guide has root copy"
as alice sh -c 'printf -- "---\ntitle: Vouchers\nkeywords: [VO-1]\nsummary: how they work\n---\n\ntext\n" >~/voucher.md; knowledged docs put ~/voucher.md --category api && knowledged docs rm api/voucher.md' >/dev/null || fail "no upload into a folder that root has copied"
[ "$(on stat -c '%U:%G %a' /srv/knowledge_base/shop/gift.md)" = "knowledged:knowledged 660" ] || fail "members of the group cannot edit an upload: $(on ls -l /srv/knowledge_base/shop)"

step "who may ask"
[ "$(on stat -c '%U:%G %a' /run/knowledged/knowledged.sock)" = "knowledged:knowledged 660" ] || fail "socket: $(on ls -l /run/knowledged)"
code=0; as bob knowledged lookup GC-7 >"$MACHINE/out" 2>&1 || code=$?
[ $code = 4 ] || fail "bob got exit code $code: $(cat "$MACHINE/out")"
grep -q 'may not use.*socket' "$MACHINE/out" && grep -q '^hint: .*usermod' "$MACHINE/out" || fail "bob is not told why: $(cat "$MACHINE/out")"
if as bob cat /srv/knowledge_base/shop/gift.md >/dev/null 2>&1; then fail "bob reads the documents around the daemon"; fi
[ "$(as bob curl -s -o /dev/null -w '%{http_code}' 'http://127.0.0.1:7420/v1/lookup?query=GC-7')" = 403 ] || fail "bob gets in by the port"
on knowledged lookup GC-7 | has gift.md || fail "root gets no answer"
as alice knowledged doctor >"$MACHINE/out" 2>&1 || fail "a member's doctor: $(cat "$MACHINE/out")"
grep -q '^ok  *state folder  *not looked at' "$MACHINE/out" || fail "a member's doctor takes a state folder of theirs for the daemon's: $(cat "$MACHINE/out")"

code=0; on knowledged run >"$MACHINE/out" 2>&1 || code=$?
[ $code = 5 ] && grep -q "another knowledged is running as pid $(on systemctl show knowledged.service --property=MainPID --value)\$" "$MACHINE/out" || fail "a second daemon: exit code $code, $(cat "$MACHINE/out")"
code=0; as alice knowledged service stop >"$MACHINE/out" 2>&1 || code=$?
[ $code = 1 ] && grep -q '^hint: sudo knowledged service stop' "$MACHINE/out" || fail "alice stops the machine's service: exit code $code, $(cat "$MACHINE/out")"

step "kill -9"
on systemctl kill --kill-whom=main --signal=KILL knowledged.service
answers alice GC-7 knowledge_base/shop/gift.md || fail "no answer after kill -9" # the socket has it wait
shows NRestarts 1 || fail "not restarted once"
on systemctl kill --signal=ABRT knowledged.service # as a panic and the watchdog end it
until_ 20 "restarted after a crash" shows NRestarts 2 # by systemd, not by a lookup: nobody asks
until_ 20 "active after a crash" shows ActiveState active

step "a hang ends at the watchdog"
drop_in watchdog WatchdogSec=2s TimeoutAbortSec=2s
on systemctl restart knowledged.service
was=$(on systemctl show knowledged.service --property=MainPID --value)
sleep 5 # more than two intervals: a daemon that works is left alone
shows MainPID "$was" || fail "the watchdog ended a daemon that worked"
on kill -STOP "$was"
until_ 20 "restarted" shows NRestarts 1
until_ 20 "active after a hang" shows ActiveState active
answers alice GC-7 knowledge_base/shop/gift.md || fail "no answer after a hang"
on journalctl -u knowledged.service -o cat --no-pager | grep -i "with result .watchdog" >/dev/null || fail "the journal does not name the watchdog"
no_drop_in watchdog

step "reload"
on systemctl restart knowledged.service
cp "$config" "$MACHINE/config"
printf 'lookup:\n  top_k: 1\nwatch:\n  mode: poll\n' >>"$config"
was=$(on systemctl show knowledged.service --property=MainPID --value)
guide '## Reload' 1
until_ 10 "the reload is over" logged 'configuration read again'
until_ 10 "active again" shows ActiveState active
logged '"level":"WARN".*wait for a restart.*"settings":"watch.mode"' || fail "what waits for a restart is not named"
[ "$(as alice knowledged lookup --json timeout | grep -c '"ranks"')" = 1 ] || fail "top_k is not in force"
printf 'lookup: {top_k: many}\n' >"$config"
if on systemctl reload knowledged.service 2>/dev/null; then fail "a broken configuration reloads"; fi
on systemctl kill --signal=HUP knowledged.service
until_ 10 "the fault is named" logged '"level":"ERROR".*config.yaml","line":1,"setting":"lookup.top_k"'
asks 5 "/v1/lookup?query=GC-7" | has shop/gift.md || fail "no answer after a broken reload"
shows MainPID "$was" || fail "reloading has restarted the daemon"

step "a configuration that is at fault is no reason to try again"
if on systemctl restart knowledged.service 2>/dev/null; then fail "it starts with a broken configuration"; fi
shows ActiveState failed && shows NRestarts 0 && shows ExecMainStatus 2 || fail "not failed with exit code 2 at the first attempt"
code=0; on knowledged service status >"$MACHINE/out" 2>&1 || code=$?
[ $code = 4 ] && grep -q 'failed (exit-code)' "$MACHINE/out" || fail "status: exit code $code, $(cat "$MACHINE/out")"
# Whoever asks now starts it in vain, until systemd has had enough. That must not need a reboot.
asks 60 /healthz >/dev/null || true
cp "$MACHINE/config" "$config"
on knowledged service start
answers alice GC-7 knowledge_base/shop/gift.md || fail "no answer after the configuration was mended"
sleep 3 # systemd counts a socket's triggers over two seconds, and a restart of the socket does not make it forget those above

step "socket activation"
on systemctl stop knowledged.service 2>/dev/null
shows ActiveState inactive || fail "not stopped"
answers alice GC-7 knowledge_base/shop/gift.md || fail "a lookup does not start the daemon"
shows ActiveState active || fail "not active"
on knowledged service stop
if as alice knowledged lookup GC-7 2>&1 | has 'high confidence' && shows ActiveState active; then fail "service stop left the socket open"; fi
on knowledged service start
on knowledged service status | has '^listening: true' || fail "status: $(on knowledged service status)"

step "a first scan that takes longer than the start may"
on systemctl stop knowledged.socket knowledged.service
rm -rf "$root/var/lib/knowledged/"*
mkdir "$root/srv/knowledge_base/many"
python3 - "$root/srv/knowledge_base/many" <<'PY'
import sys
words = "gateway timeout retry invoice refund settlement ledger account quota limit token session cache replica shard".split()
for i in range(6000):
    body = "\n\n".join("## Part %d\n\n%s" % (j, " ".join(words[(i * 7 + j * 3 + k) % len(words)] + str((i * k) % 97) for k in range(60))) for j in range(4))
    open("%s/d%05d.md" % (sys.argv[1], i), "w").write("---\ntitle: Document %d\nkeywords: [many-%d]\nsummary: one of many\n---\n\n%s\n" % (i, i, body))
PY
drop_in slow TimeoutStartSec=2s
on systemctl start knowledged.service || fail "the scan ran into the start timeout"
ready() { [ "$(asks 5 /readyz)" = ready ]; }
if ready; then fail "the scan was over at once: it proves nothing"; fi
on systemctl show knowledged.service --property=StatusText --value | has 'first scan under way' || fail "the status line does not tell of the scan"
until_ 120 "the scan is done" ready
finds alice many-5999 knowledge_base/many/d05999.md || fail "not all is found after the scan"
rm -rf "$root/srv/knowledge_base/many"
no_drop_in slow

step "drop-ins: documents in a home folder and in another place"
examples=packaging/systemd/examples
as alice mkdir -m 700 /home/alice/notes
as alice sh -c 'printf -- "---\ntitle: At home\nkeywords: [HOME-1]\nsummary: at home\n---\n\ntext\n" >~/notes/home.md; chmod 644 ~/notes/home.md'
on chmod 700 /home/alice
on chown alice:knowledged /home/alice/notes
on chmod 2770 /home/alice/notes
drop_ins=$root/etc/systemd/system/knowledged.service.d
mkdir -p "$drop_ins"
cp $examples/home-folder.conf "$drop_ins/"
sed -i 's#/srv/knowledge_base#/home/alice/notes#' "$config"
on systemctl daemon-reload
on systemctl restart knowledged.service
until_ 10 "a document at home is found" finds alice HOME-1 notes/home.md
as alice sh -c 'printf -- "---\ntitle: Two\nkeywords: [HOME-2]\nsummary: two\n---\n\ntext\n" >~/notes/two.md'
until_ 10 "a save at home is noticed" finds alice HOME-2 notes/two.md
as alice knowledged docs rm notes/two.md >/dev/null && [ ! -e "$root/home/alice/notes/two.md" ] || fail "a document at home cannot be deleted"
rm "$drop_ins/home-folder.conf"
on install -d -o knowledged -g knowledged -m 2770 /data/notes
sed -i 's#/home/alice/notes#/data/notes#' "$config"
cp $examples/other-folder.conf "$drop_ins/"
on systemctl daemon-reload
on systemctl restart knowledged.service
as alice sh -c 'knowledged docs put ~/gift.md' >/dev/null || fail "no upload to another place"
answers alice GC-7 notes/gift.md || fail "not found in another place"
rm "$drop_ins/other-folder.conf"
cp "$MACHINE/config" "$config"
cp $examples/remote.conf "$drop_ins/"
on systemctl daemon-reload
on systemctl restart knowledged.service
shows IPAddressAllow '127.0.0.0/8 ::1/128 192.0.2.10/32' || shows IPAddressAllow '.*192.0.2.10/32.*' || fail "remote.conf: $(on systemctl show knowledged.service --property=IPAddressAllow)"
rm "$drop_ins/remote.conf"
mkdir -p "$root/etc/systemd/system/knowledged.socket.d"
printf '[Socket]\nListenStream=\nListenStream=/run/knowledged/other.sock\n' >"$root/etc/systemd/system/knowledged.socket.d/other.conf"
on systemctl daemon-reload
on knowledged service stop
on knowledged service start
logged '"level":"WARN".*ipc.socket' || fail "nothing is said of a socket that is not the configured one"
on knowledged lookup --socket /run/knowledged/other.sock GC-7 | has gift.md || fail "no answer by another socket"
rm -r "$root/etc/systemd/system/knowledged.socket.d"
on systemctl daemon-reload
on knowledged service stop
on knowledged service start

step "a token for the port, as the guide says"
guide '### Who may do what' 1
sed -i 's/# token_file:/token_file:/' "$config"
on systemctl reload knowledged.service
token=$(on cat /etc/knowledged/token)
port() { as bob curl -s -o /dev/null -w '%{http_code}' "$@" 'http://127.0.0.1:7420/v1/lookup?query=GC-7'; }
until_ 10 "the token is in force" bash -c "[ \$(scripts/systemd.sh in curl -s -o /dev/null -w '%{http_code}' 'http://127.0.0.1:7420/v1/lookup?query=GC-7') = 401 ]"
[ "$(port -H "Authorization: Bearer $token")" = 200 ] || fail "the token does not open the port"
if as bob cat /etc/knowledged/token >/dev/null 2>&1; then fail "bob reads the token"; fi

step "logs, as the guide says"
id=$(as alice knowledged lookup --json GC-7 | sed -n 's/^ *"requestId": "\(.*\)",$/\1/p')
[ -n "$id" ] || fail "no requestId"
on journalctl --unit knowledged --output cat | has "\"msg\":\"lookup\",\"requestId\":\"$id\"" || fail "requestId $id is not in the journal"
guide '## Logs' 2 >"$MACHINE/out" || fail "the guide's commands for logs: $(cat "$MACHINE/out")"
grep -q '"level":"ERROR"' "$MACHINE/out" || fail "no errors are shown: $(cat "$MACHINE/out")"
as alice knowledged lookup GC-7 >/dev/null
until_ 10 "stages of a lookup are logged" logged '"level":"DEBUG","msg":"[^"]*","requestId"'
cp "$MACHINE/config" "$config"
on systemctl reload knowledged.service

step "troubleshooting, as the guide says"
guide '## Troubleshooting' 1 >"$MACHINE/out" 2>&1 || fail "doctor: $(cat "$MACHINE/out")"
grep -q '^ok  *state folder  */var/lib/knowledged/' "$MACHINE/out" || fail "doctor looks at another state folder: $(cat "$MACHINE/out")"
guide '### Not visible after a save' 1 >"$MACHINE/out" 2>&1 || fail "not visible: $(cat "$MACHINE/out")"
! as alice knowledged docs show ignored.txt >"$MACHINE/out" 2>&1 && grep -q 'no document "ignored.txt"' "$MACHINE/out" || fail "docs show: $(cat "$MACHINE/out")"

step "without the socket unit the daemon opens its own, for nobody else"
on systemctl stop knowledged.socket knowledged.service
unit=$root$(on systemctl show knowledged.socket --property=FragmentPath --value)
mv "$unit" "$MACHINE/knowledged.socket"
on systemctl daemon-reload
on systemctl start knowledged.service
[ "$(on stat -c '%U %a' /run/knowledged/knowledged.sock)" = "knowledged 600" ] || fail "socket: $(on ls -l /run/knowledged)"
on knowledged lookup GC-7 | has gift.md || fail "root gets no answer by the daemon's own socket"
on systemctl stop knowledged.service
mv "$MACHINE/knowledged.socket" "$unit"
on systemctl daemon-reload
on systemctl start knowledged.service
answers alice GC-7 knowledge_base/shop/gift.md || fail "no answer by systemd's socket again"

step "reboot"
scripts/systemd.sh reboot
shows ActiveState active || fail "not up after a reboot"
answers alice GC-7 knowledge_base/shop/gift.md || fail "no answer after a reboot"

step "upgrade"
id() { as alice knowledged lookup --json GC-7 | sed -n 's/.*"docId": "\([^"]*\)".*/\1/p' | head -1; }
before=$(id)
[ -n "$before" ] || fail "no docId"
upgrades
until_ 10 "the newer one answers" finds alice GC-7 knowledge_base/shop/gift.md
as alice knowledged status --json | has '"version": "99.9.9"' || fail "the old one still runs"
[ "$(id)" = "$before" ] || fail "an upgrade changed docIds"

step "backup and restore, as the guide says"
guide '## Back up and restore' 1 | has '^exported' || fail "the guide's export"
guide '## Back up and restore' 2 | has '^imported' || fail "the guide's import"
until_ 20 "it answers from the backup" finds alice GC-7 knowledge_base/shop/gift.md
[ "$(id)" = "$before" ] || fail "docIds after a restored backup"
rm "$root/var/lib/knowledged/backup.tar.gz" # purging the package would leave a backup, and say so

step "a user's own service"
on useradd --create-home carol
on loginctl enable-linger carol
uid=$(on id -u carol)
until_ 20 "carol's systemd runs" on test -S "/run/user/$uid/bus"
carol() { as carol env XDG_RUNTIME_DIR="/run/user/$uid" HOME=/home/carol "$@"; }
as carol sh -c 'mkdir ~/notes; printf -- "---\ntitle: Carol\nkeywords: [CAROL-1]\nsummary: hers\n---\n\ntext\n" >~/notes/carol.md'
carol knowledged service install --user --base /home/carol/notes >"$MACHINE/out" || fail "install --user: $(cat "$MACHINE/out")"
sed -i 's/^knowledge:/ipc: {http: off}\n&/' "$root/home/carol/.config/knowledged/config.yaml"
carol knowledged service start --user
carol knowledged lookup CAROL-1 | has 'notes/carol.md  ' || fail "carol gets no answer"
[ "$(on stat -c '%U %a' "/run/user/$uid/knowledged/knowledged.sock")" = "carol 600" ] || fail "carol's socket: $(on ls -l "/run/user/$uid/knowledged")"
carol systemctl --user show knowledged.service --property=WantedBy --value | has default.target || fail "not wanted by default.target"
carol systemctl --user stop knowledged.service 2>/dev/null
carol knowledged lookup CAROL-1 | has "notes/carol.md  " || fail "carol's lookup does not start her daemon"
carol systemctl --user reload knowledged.service || fail "carol's daemon does not reload"
scripts/systemd.sh reboot
until_ 20 "carol's daemon is up after a reboot" carol systemctl --user is-active knowledged.service
carol knowledged service uninstall --user | has '^left  */home/carol/notes$' || fail "uninstall --user does not say what it left"
[ -e "$root/home/carol/notes/carol.md" ] || fail "uninstall --user took the documents"

step "remove"
removes
[ -e "$root/srv/knowledge_base/shop/gift.md" ] || fail "the documents are gone"
[ "$(on systemctl list-unit-files --no-legend 'knowledged*' | wc -l)" = 0 ] || fail "units are left: $(on systemctl list-unit-files 'knowledged*')"
if on systemctl --failed --no-legend | has knowledged; then fail "a failed unit is left"; fi
step "done"
