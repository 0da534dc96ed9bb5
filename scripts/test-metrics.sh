#!/usr/bin/env bash
# Prometheus's own promtool judges what /metrics gives and the alert rules. It comes with Debian's package prometheus.
# usage: scripts/test-metrics.sh [BIN]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:-bin/knowledged}")
command -v promtool >/dev/null || { echo "FAIL: promtool is missing: install the package prometheus"; exit 1; }

promtool check rules packaging/prometheus/alerts.yml
(cd packaging/prometheus && promtool test rules alerts_test.yml)

dir=$(mktemp -d)
# The dashboard's queries, with its variables filled in, as rules: promtool reads queries nowhere else.
python3 - packaging/grafana/knowledged.json >"$dir/dashboard.yml" <<'PY'
import json, sys
queries = [t["expr"] for p in json.load(open(sys.argv[1]))["panels"] for t in p.get("targets", [])]
assert len(queries) > 20, queries
fill = lambda q: q.replace("$instance", ".*").replace("$__rate_interval", "5m")
rules = [{"record": f"panel:query:{i}", "expr": fill(q)} for i, q in enumerate(queries)]
print(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
PY
promtool check rules "$dir/dashboard.yml" || { echo "FAIL: a query of the dashboard"; rm -rf "$dir"; exit 1; }
flags=(--base knowledge_base --socket "$dir/s" --state "$dir/state")
"$bin" run "${flags[@]}" --http off 2>"$dir/log" &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait $daemon 2>/dev/null; rm -rf "$dir"' EXIT
timeout 30 bash -c "until '$bin' status ${flags[*]@Q} --wait >/dev/null 2>&1; do sleep 0.1; done"
"$bin" lookup "${flags[@]}" ERR_TIMEOUT >/dev/null
"$bin" lookup "${flags[@]}" "two customers buy the last item" >/dev/null
curl --silent --fail --unix-socket "$dir/s" http://localhost/metrics >"$dir/metrics"
promtool check metrics <"$dir/metrics" >"$dir/lint" 2>&1 || { cat "$dir/lint"; echo "FAIL: promtool check metrics"; exit 1; }
if [ -s "$dir/lint" ]; then cat "$dir/lint"; echo "FAIL: promtool has something to say"; exit 1; fi
grep -q '^knowledged_lookups_total{decision="unique_match",found="true",l1="skipped"} 1$' "$dir/metrics" || { echo "FAIL: the lookup is not counted"; exit 1; }
echo "ok   promtool: alerts, their tests, $(grep -c '^# TYPE knowledged_' "$dir/metrics") metrics"
