#!/usr/bin/env bash
# Real MCP clients against the built program: PyPI mcp and fastmcp, the MCP Inspector and the conformance suite from npm.
# A client that cannot be installed is a failure. They are kept in .cache/mcp.
# usage: scripts/test-mcp.sh [BIN]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:-bin/knowledged}")
cache=$PWD/.cache/mcp
python=$cache/py/bin/python

install() { # NAME COMMAND...: once, and again when what is wanted has changed
  local stamp=$cache/$1.installed; shift
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$*" ] && return
  mkdir -p "$cache"
  "$@" >"$cache/install.log" 2>&1 || { cat "$cache/install.log"; echo "FAIL: $*"; exit 1; }
  echo "$*" >"$stamp"
}
install venv python3 -m venv "$cache/py"
install pypi "$python" -m pip install --quiet mcp==2.3.0 fastmcp==4.2.3
install npm npm install --prefix "$cache" --no-audit --no-fund @modelcontextprotocol/inspector@2.12.0 node@22 @modelcontextprotocol/conformance@0.1.16
export PATH=$cache/node_modules/.bin:$PATH # its node goes before the system's: the Inspector wants 22.19

dir=$(mktemp -d)
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port/mcp
cp -r knowledge_base "$dir/kb"
mkdir "$dir/kb/my notes"
printf '# With blanks\n\nand a #.\n' >"$dir/kb/my notes/a #1?.md"
flags=(--base "$dir/kb" --socket "$dir/s" --state "$dir/state")
"$bin" run "${flags[@]}" --http "127.0.0.1:$port" 2>"$dir/log" &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait $daemon 2>/dev/null; rm -rf "$dir"' EXIT
timeout 30 bash -c "until '$bin' status ${flags[*]@Q} --wait >/dev/null 2>&1; do sleep 0.1; done"

"$python" scripts/mcp_clients.py "$bin" "$dir/kb" "$dir/s" "$dir/state" "$url"

inspect() { # WHAT PATTERN ARG...: the Inspector's output holds PATTERN
  local what=$1 pattern=$2; shift 2
  mcp-inspector --cli "$@" >"$dir/out" 2>"$dir/err" || { cat "$dir/out" "$dir/err"; echo "FAIL: Inspector $what"; exit 1; }
  grep -q -- "$pattern" "$dir/out" || { cat "$dir/out" "$dir/err"; echo "FAIL: Inspector $what: no $pattern"; exit 1; }
  if grep -qi 'warning' "$dir/err"; then cat "$dir/err"; echo "FAIL: Inspector $what warns"; exit 1; fi
  echo "ok   Inspector $what"
}
for way in stdio http; do
  to=("$bin" mcp "${flags[@]}")
  [ $way = stdio ] || to=(--transport http --server-url "$url")
  inspect "$way tools/list --strict" lookup_knowledge "${to[@]}" --method tools/list --strict
  inspect "$way tools/call" '"confidence": "high"' "${to[@]}" --method tools/call --tool-name lookup_knowledge --tool-arg query=ERR_TIMEOUT
  inspect "$way resources/list" 'kb:///my%20notes/a%20%231%3F.md' "${to[@]}" --method resources/list
  inspect "$way resources/read" '支付网关' "${to[@]}" --method resources/read --uri kb://api/payment-errors.md
  inspect "$way resources/templates/list" 'kb://{+path}' "${to[@]}" --method resources/templates/list
done

for scenario in server-initialize ping logging-set-level tools-list completion-complete resources-list prompts-list \
  server-sse-multiple-streams dns-rebinding-protection; do
  conformance server --url "$url" --scenario $scenario >"$dir/out" 2>&1 || { cat "$dir/out"; echo "FAIL: conformance $scenario"; exit 1; }
  grep -q ' 0 failed, 0 warnings' "$dir/out" || { cat "$dir/out"; echo "FAIL: conformance $scenario"; exit 1; }
  echo "ok   conformance $scenario"
done
if grep -E '"level":"(ERROR|WARN)"' "$dir/log"; then echo "FAIL: the daemon complains"; exit 1; fi
