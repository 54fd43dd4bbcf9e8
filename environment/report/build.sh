#!/bin/bash
# Bundle what the report's page uses of others, at the locked versions, into $OUT: one script, one style sheet, and
# the licences. Their types stay beside it. Needs node and npm.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to build into}" "${CACHE:?CACHE: folder to keep downloads in}"

mkdir -p "$OUT"
cp "$here"/package.json "$here"/package-lock.json "$here"/libraries.js "$here"/plot.js "$OUT/"
npm ci --prefix "$OUT" --cache "$CACHE/npm" --ignore-scripts --no-audit --no-fund --loglevel=error
cd "$OUT"
# Browsers of 2024 on: the page's own scripts need as new a one.
node node_modules/esbuild/bin/esbuild libraries.js --bundle --minify --format=iife --global-name=libraries \
  --target=es2022 --charset=utf8 --legal-comments=none --log-level=warning --outfile=bundle/libraries.js
cp node_modules/uplot/dist/uPlot.min.css bundle/libraries.css
# The bundler is another one on every processor, and nothing needs it any more.
rm -rf node_modules/esbuild node_modules/@esbuild node_modules/.bin
find node_modules -iname 'licen[cs]e*' -not -path '*/@types/*' | sort | while read -r file; do
  printf '%s\n\n' "${file#node_modules/}"
  cat "$file"
  printf '\n\n'
done >bundle/libraries.LICENSE.txt
