#!/bin/bash
# Install what the report's page draws long series with, at the locked version, into $OUT. Needs node and npm.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to build into}" "${CACHE:?CACHE: folder to keep downloads in}"

mkdir -p "$OUT"
cp "$here/package.json" "$here/package-lock.json" "$OUT/"
npm ci --prefix "$OUT" --cache "$CACHE/npm" --ignore-scripts --no-audit --no-fund --loglevel=error
