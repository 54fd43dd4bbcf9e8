#!/bin/bash
# Build page-client into $OUT/bin. Needs gcc, pkg-config and the headers of libcurl and OpenSSL.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to build into}"

if ! curl-config --features | grep -qx HTTP3; then
  echo "build.sh: this libcurl has no HTTP/3; install libcurl4-openssl-dev from backports" >&2
  exit 1
fi
read -ra flags <<<"$(pkg-config --cflags --libs libcurl libcrypto libssl)"
mkdir -p "$OUT/bin"
gcc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$OUT/bin/page-client" \
  "$here"/{main,settings,page,moves,transfer}.c "$here"/contract/*.c "${flags[@]}"
