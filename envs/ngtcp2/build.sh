#!/bin/bash
# Build the ngtcp2 server and client into $OUT/bin. Needs gcc, pkg-config and the headers of ngtcp2 (with
# OpenSSL), nghttp3 and OpenSSL.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to build into}"

if ! pkg-config --atleast-version=1.22 libngtcp2; then
  echo "build.sh: needs libngtcp2 1.22 or later; install libngtcp2-dev from backports" >&2
  exit 1
fi
read -ra flags <<<"$(pkg-config --cflags --libs libngtcp2 libngtcp2_crypto_ossl libnghttp3 libssl libcrypto)"
mkdir -p "$OUT/bin"
shared=("$here"/{common,settings,tls,udp,connection,callbacks,h3,hq}.c "$here"/contract/*.c)
compile() { # NAME SOURCE...
  gcc -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -o "$OUT/bin/$1" "${@:2}" "${shared[@]}" "${flags[@]}"
}
compile server "$here"/{server,content}.c
compile client "$here"/{client,load,moves,page}.c
