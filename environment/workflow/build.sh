#!/usr/bin/env bash
# Installs the locks into a virtual environment at $OUT.
set -euo pipefail
: "${OUT:?OUT: folder to build into}"

python3 -m venv "$OUT"
install=("$OUT/bin/pip" install --disable-pip-version-check --no-input --require-hashes)
"${install[@]}" --only-binary :all: --requirement build-requirements.lock
# Without isolation, so that nothing is fetched that the locks do not name.
"${install[@]}" --no-build-isolation --requirement requirements.lock
