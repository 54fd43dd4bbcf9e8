#!/usr/bin/env bash
# Installs requirements.lock into a virtual environment at $OUT.
set -euo pipefail
: "${OUT:?OUT: folder to build into}"

python3 -m venv "$OUT"
"$OUT/bin/pip" install --disable-pip-version-check --no-input --require-hashes --only-binary :all: --requirement requirements.lock
# Ready to import for everybody, also where the folder is read-only.
"$OUT/bin/python" -m compileall -q "$OUT/lib" || true
