#!/bin/bash
# Build the server and the client into $OUT/bin. Needs gcc, pkg-config and the headers of OpenSSL.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to install into}"

read -ra flags <<<"$(pkg-config --cflags --libs libssl libcrypto) -pthread"
mkdir -p "$OUT/bin"
cd "$here"
for program in server client; do
  sources=(settings.c secure.c contract/*.c "$program.c")
  [[ $program == server ]] || sources+=(link.c load.c)
  gcc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$OUT/bin/$program" "${sources[@]}" "${flags[@]}"
done
