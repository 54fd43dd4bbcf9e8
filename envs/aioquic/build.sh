#!/bin/bash
# Install aioquic at the locked versions into a Python environment in $OUT. Needs python3 with venv.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to build into}" "${CACHE:?CACHE: folder to keep downloads in}"

python3 -m venv --clear "$OUT"
PIP_CACHE_DIR="$CACHE/pip" "$OUT/bin/python" -m pip --quiet --disable-pip-version-check \
  install --require-hashes --only-binary :all: --requirement "$here/requirements.lock"
# Nothing is installed here after this.
"$OUT/bin/python" -m pip --quiet --disable-pip-version-check uninstall --yes pip
