#!/bin/bash
# Build the server and the client into $OUT/bin; $CACHE keeps what a later build can use again.
# Needs cargo, a C and a C++ compiler, cmake and libclang (the TLS library and its bindings are built too).
# Each program in Rust has a link to this script, which builds the folder that the link is in.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to install into}" "${CACHE:?CACHE: folder for intermediate files}"

CARGO_TARGET_DIR="$CACHE/target" cargo build --release --locked --manifest-path "$here/Cargo.toml"
mkdir -p "$OUT/bin"
for program in server client; do
  install --mode=755 "$CACHE/target/release/$program" "$OUT/bin/$program"
  # The names of functions stay: profiles tell by them where time goes.
  strip --strip-debug "$OUT/bin/$program"
done
