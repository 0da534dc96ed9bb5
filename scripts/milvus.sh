#!/usr/bin/env bash
# Runs the real Milvus for tests, without containers: the standalone server out of the PyPI wheel `milvus`, pinned by hash,
# with its embedded etcd, rocksmq and local storage. It is installed once (246 MB) below .cache/milvus; data lies beside it.
#
# usage: milvus.sh start|stop|kill|status|wipe    one server a data folder; start prints HOST:PORT and nothing else
#        milvus.sh with COMMAND...                start empty, run COMMAND with MILVUS_ADDRESS=HOST:PORT, stop
#
#   MILVUS_CACHE  [.cache/milvus]              MILVUS_PORT     gRPC port  [29630]
#   MILVUS_DATA   [$MILVUS_CACHE/data-$PORT]   MILVUS_TIMEOUT  seconds until it has to be healthy  [180]
#   MILVUS_AUTH=1 asks for root:Milvus         MILVUS_TLS_CERT, MILVUS_TLS_KEY  PEM pair: TLS, no client certificates
#   MILVUS_SET    lines of `key.of.milvus.yaml=value` that differ from the wheel's own settings
set -euo pipefail

VERSION=2.3.5
SHA256=69515a0630ce29fd10e101fa442afea8ca1387b93a456cd9bd41fdf3deb93d04
ROOT=$(cd "$(dirname "$0")/.." && pwd -P)
CACHE=${MILVUS_CACHE:-$ROOT/.cache/milvus}
PORT=${MILVUS_PORT:-29630}
DATA=${MILVUS_DATA:-$CACHE/data-$PORT}
TIMEOUT=${MILVUS_TIMEOUT:-180}
PYTHON=${PYTHON:-python3}

log() { printf 'milvus: %s\n' "$*" >&2; }
die() { log "$*"; exit 1; }

case $PORT in '' | *[!0-9]*) die "MILVUS_PORT is not a number: $PORT" ;; esac
mkdir -p "$CACHE" "$DATA"
CACHE=$(cd "$CACHE" && pwd -P) DATA=$(cd "$DATA" && pwd -P)
DIST=$CACHE/server-$VERSION
SERVER=$DIST/bin/milvus
PIDFILE=$DATA/pid
PORTS=$DATA/ports # "PORT METRICS_PORT" of the last start

# alive sets PID to this data folder's server, or fails. A process that only has got its number is never signalled.
alive() {
  PID=$(cat "$PIDFILE" 2>/dev/null) && [ -n "$PID" ] && kill -0 "$PID" 2>/dev/null &&
    [ "$(readlink "/proc/$PID/exe" 2>/dev/null)" = "$SERVER" ] &&
    case $(ps -o stat= -p "$PID" 2>/dev/null) in Z*) false ;; esac
}

# healthy: /healthz says so and the gRPC port takes connections.
healthy() {
  [ -f "$PORTS" ] && "$PYTHON" - "$PORTS" 2>/dev/null <<'PY'
import socket, sys, urllib.request
port, metrics = map(int, open(sys.argv[1]).read().split())
plain = urllib.request.build_opener(urllib.request.ProxyHandler({}))
assert b"OK" in plain.open("http://127.0.0.1:%d/healthz" % metrics, timeout=5).read()
socket.create_connection(("127.0.0.1", port), 2).close()
PY
}

install() {
  [ -f "$DIST/.ok" ] && return
  [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || die "the pinned wheel is for linux x86_64 only"
  (
    flock -w 900 9
    [ -f "$DIST/.ok" ] && exit
    log "installing Milvus $VERSION into $CACHE"
    tmp=$(mktemp -d "$CACHE/.tmp.XXXXXX")
    trap 'rm -rf "$tmp"' EXIT
    echo "milvus==$VERSION --hash=sha256:$SHA256" >"$tmp/requirements.txt"
    "$PYTHON" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
      --platform manylinux2014_x86_64 -d "$tmp" -r "$tmp/requirements.txt" >&2
    "$PYTHON" - "$tmp" >&2 <<'PY'
import glob, lzma, os, sys, zipfile
tmp = sys.argv[1]
out = os.path.join(tmp, "dist")
os.makedirs(os.path.join(out, "bin"))
wheel = zipfile.ZipFile(glob.glob(os.path.join(tmp, "*.whl"))[0])
for name in wheel.namelist():
    base = os.path.basename(name)
    if name.startswith("milvus/data/bin/") and name.endswith(".lzma"):
        path = os.path.join(out, "bin", base[:-5])
        with open(path, "wb") as f:
            f.write(lzma.decompress(wheel.read(name)))
        os.chmod(path, 0o755)
    elif base in ("config.yaml.template", "glog.conf"):
        with open(os.path.join(out, base), "wb") as f:
            f.write(wheel.read(name))
PY
    touch "$tmp/dist/.ok"
    rm -rf "$DIST"
    mv "$tmp/dist" "$DIST"
  ) 9>"$CACHE/.lock"
}

# configure writes the configuration, with free ports for what Milvus runs inside, and $PORTS.
configure() {
  "$PYTHON" - "$DIST" "$DATA" "$PORT" "${MILVUS_AUTH:-0}" "${MILVUS_TLS_CERT:-}" "${MILVUS_TLS_KEY:-}" "${MILVUS_SET:-}" <<'PY'
import os, re, shutil, socket, sys
dist, data, port, auth, cert, key, settings = sys.argv[1:]
port = int(port)

def free(p):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("", p))
        except OSError:
            return False
        return True

if not free(port):
    sys.exit("milvus: port %d is taken" % port)
ports = iter(p for p in range(port + 1, min(port + 2000, 65536)) if free(p))
values = {name: next(ports) for name in (
    "etcd_port", "root_coord_port", "proxy_internal_port", "query_coord_port", "query_node_port", "index_coord_port",
    "index_node_port", "data_coord_port", "data_node_port")}
peer, metrics = next(ports), next(ports)
for sub in ("configs", "logs", "data", "run"):
    os.makedirs(os.path.join(data, sub), exist_ok=True)
values.update(
    proxy_port=port, etcd_log_level="error", etcd_log_path=data + "/logs/etcd.log", etcd_data_dir=data + "/data/etcd",
    local_storage_dir=data + "/data", rocksmq_data_dir=data + "/data/rocksmq", system_log_path="",
    server_pem_path=cert or "server.pem", server_key_path=key or "server.key", ca_pem_path="ca.pem",
    authorization_enabled=str(auth == "1").lower(), tls_mode=int(bool(cert)))
text = open(dist + "/config.yaml.template").read()
text = re.sub(r"\{\{(.*?)\}\}", lambda m: str(values[re.split(r"[(:]", m.group(1).strip())[0].strip()]), text)
text = re.sub(r"(?m)^(\s+)ip:(\s.*)?$", r"\1ip: 127.0.0.1", text)  # nothing on the network's own address
text = re.sub(r"(?m)^  level: info #.*$", "  level: warn", text)
text = re.sub(r"(?m)^(\s+)gracefulStopTimeout: .*$", r"\1gracefulStopTimeout: 2", text)
# The parts of a server that was killed count as running until their sessions have run out.
text = re.sub(r"(?m)^    ttl: 30 ", "    ttl: 5 ", text)
# The embedded etcd takes its ports from a file of its own only; without one always 2379 and 2380.
text = text.replace("\n  use:\n    embed: true", "\n  config:\n    path: %s/configs/etcd.yaml\n  use:\n    embed: true" % data, 1)

def put(lines, keys, value):
    """Sets one scalar; the template has every section, so the key is found by its indented path."""
    at, depth = -1, 0
    for k in keys:
        for i in range(at + 1, len(lines)):
            indent = len(lines[i]) - len(lines[i].lstrip())
            if re.match(r"%s:" % re.escape(k), lines[i].lstrip()) and indent == depth * 2:
                at = i
                break
        else:
            sys.exit("milvus: no setting " + ".".join(keys))
        depth += 1
    lines[at] = " " * (2 * (depth - 1)) + keys[-1] + ": " + value

lines = text.split("\n")
for line in filter(None, map(str.strip, settings.split("\n"))):
    name, value = line.split("=", 1)
    put(lines, name.strip().split("."), value.strip())
with open(data + "/configs/milvus.yaml", "w") as f:
    f.write("\n".join(lines))
with open(data + "/configs/etcd.yaml", "w") as f:
    f.write("""\
name: default
listen-client-urls: http://127.0.0.1:{client}
advertise-client-urls: http://127.0.0.1:{client}
listen-peer-urls: http://127.0.0.1:{peer}
initial-advertise-peer-urls: http://127.0.0.1:{peer}
initial-cluster: default=http://127.0.0.1:{peer}
data-dir: {data}/data/etcd
log-level: error
log-outputs: ["{data}/logs/etcd.log"]
quota-backend-bytes: 4294967296
auto-compaction-mode: revision
auto-compaction-retention: '1000'
""".format(client=values["etcd_port"], peer=peer, data=data))
shutil.copy(dist + "/glog.conf", data + "/configs/glog.conf")
with open(data + "/ports", "w") as f:
    f.write("%d %d\n" % (port, metrics))
PY
}

launch() {
  (
    cd "$DATA"
    export DEPLOY_MODE=STANDALONE METRICS_PORT="$(cut -d' ' -f2 "$PORTS")" MILVUS_RUN_DIR=$DATA/run \
      LD_LIBRARY_PATH=$DIST/bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    exec 9>&-
    setsid "$SERVER" run standalone </dev/null >logs/milvus.log 2>&1 &
    echo $! >"$PIDFILE"
  )
}

# start: after a kill -9 on a busy machine the server may panic once on what it finds of itself in etcd. Where it is served
# for real a supervisor starts it again; so does this.
start() {
  local attempts=1
  if alive; then
    [ "$(cut -d' ' -f1 "$PORTS")" = "$PORT" ] || die "$DATA is served on another port by process $PID"
  else
    install
    configure
    launch
  fi
  local end=$((SECONDS + TIMEOUT))
  until healthy; do
    alive || {
      log "the server ended while starting: $(grep -m1 -E 'panic|FATAL|fatal' "$DATA/logs/milvus.log" || tail -n 1 "$DATA/logs/milvus.log")"
      [ $attempts -lt 3 ] || { tail -n 20 "$DATA/logs/milvus.log" >&2; die "three times; log: $DATA/logs/milvus.log"; }
      attempts=$((attempts + 1))
      sleep 2
      launch
    }
    [ "$SECONDS" -lt "$end" ] || die "not healthy after $TIMEOUT s; log: $DATA/logs/milvus.log"
    sleep 0.2
  done
  echo "127.0.0.1:$PORT"
}

# stop [SIGNAL] waits for the end; after 30 s it is SIGKILL.
stop() {
  alive || { rm -f "$PIDFILE"; return 0; }
  kill "-${1:-TERM}" "$PID"
  for _ in $(seq 150); do
    alive || { rm -f "$PIDFILE"; return 0; }
    sleep 0.2
  done
  log "no end within 30 s: SIGKILL"
  kill -KILL "$PID"
  rm -f "$PIDFILE"
}

case ${1:-} in
  start) start ;;
  stop) stop TERM ;;
  kill) stop KILL ;;
  status)
    alive || { echo stopped; exit 3; }
    healthy || { echo "process $PID is not healthy"; exit 1; }
    echo "127.0.0.1:$(cut -d' ' -f1 "$PORTS"), process $PID, healthy"
    ;;
  wipe)
    ! alive || die "stop it first"
    rm -rf "$DATA"
    ;;
  with)
    shift
    alive || rm -rf "$DATA/data" # left by an earlier run
    address=$(start)
    trap 'stop TERM' EXIT
    export MILVUS_CACHE=$CACHE MILVUS_PORT=$PORT MILVUS_DATA=$DATA MILVUS_ADDRESS=$address
    "$@"
    ;;
  *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
