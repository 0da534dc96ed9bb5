#!/usr/bin/env bash
# schemathesis, from PyPI, asks a real daemon everything that openapi.json promises, with good input and bad, and compares
# the answers with it. All checks are on. Left out are only the streams, which it would wait for to end: /mcp (its own
# protocol, tested by test-mcp.sh) and /v1/events. What OpenAPI cannot say is in openapi_hooks.py and schemathesis.toml.
# It is kept in .cache/schemathesis.
# usage: scripts/test-openapi.sh [BIN [ARG...]]   ARGs go to schemathesis
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:-bin/knowledged}"); shift || true
version=4.32.5
cache=$PWD/.cache/schemathesis

if [ "$(cat "$cache/installed" 2>/dev/null)" != $version ]; then
  python3 -m venv "$cache/py"
  "$cache/py/bin/pip" install --quiet "schemathesis==$version" || { echo "FAIL: schemathesis $version cannot be installed"; exit 1; }
  echo $version >"$cache/installed"
fi

dir=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cp -r knowledge_base "$dir/kb"
echo secret >"$dir/token"
flags=(--base "$dir/kb" --socket "$dir/s" --state "$dir/state")
KNOWLEDGED_IPC_TOKEN_FILE=$dir/token "$bin" run "${flags[@]}" --http "127.0.0.1:$port" --log-format json 2>"$dir/log" &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait $daemon 2>/dev/null; rm -rf "$dir"' EXIT
timeout 30 bash -c "until '$bin' status ${flags[*]@Q} --wait >/dev/null 2>&1; do sleep 0.1; done"

hooks=$PWD/scripts
(cd "$dir" && PYTHONPATH=$hooks SCHEMATHESIS_HOOKS=openapi_hooks "$cache/py/bin/schemathesis" --config-file "$hooks/schemathesis.toml" run "http://127.0.0.1:$port/openapi.json" --checks all \
  --header 'Authorization: Bearer secret' --exclude-path /mcp --exclude-path /v1/events \
  --max-examples 60 --seed 7420 --request-timeout 20 --no-color "$@") || { grep -E '"level":"ERROR"' "$dir/log" | head -5; echo "FAIL: schemathesis"; exit 1; }
if grep -E '"level":"ERROR"' "$dir/log"; then echo "FAIL: the daemon complains"; exit 1; fi
"$bin" status "${flags[@]}" >/dev/null || { echo "FAIL: the daemon is gone"; exit 1; }
echo "ok   schemathesis $version"
