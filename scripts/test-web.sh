#!/usr/bin/env bash
# The web page in a real Chromium, with axe-core from npm for what people with a keyboard, a screen reader or weak eyes need.
# axe-core is kept in .cache/web. Arguments go to the tests: scripts/test-web.sh -shots DIR takes pictures of every page.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=$PWD/.cache/web
wanted=axe-core@4.14.1
if [ "$(cat "$cache/installed" 2>/dev/null)" != "$wanted" ]; then
  mkdir -p "$cache"
  npm install --prefix "$cache" --no-audit --no-fund "$wanted" >"$cache/install.log" 2>&1 || { cat "$cache/install.log"; echo "FAIL: npm install $wanted"; exit 1; }
  echo "$wanted" >"$cache/installed"
fi
go test -count=1 -timeout 10m -tags real -run Real ./web -axe "$cache/node_modules/axe-core/axe.min.js" "$@"
