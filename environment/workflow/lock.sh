#!/usr/bin/env bash
# Renews the locks from requirements.in and build-requirements.in with pip-tools, inside the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" --quiet install pip-tools
for name in build-requirements requirements; do
  "$tools/bin/pip-compile" --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
    --no-emit-options --no-header --annotation-style line --output-file "$name.lock" "$name.in"
done
