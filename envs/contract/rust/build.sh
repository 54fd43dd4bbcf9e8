#!/bin/bash
# Build the server and the client into $OUT/bin; $CACHE keeps what a later build can use again. Who builds several, one
# after the other, may name a folder for all of them, SHARED_TARGET: what they have in common is then compiled once.
# Needs cargo, a C and a C++ compiler, cmake and libclang (the TLS library and its bindings are built too).
# Each program in Rust has a link to this script, which builds the folder that the link is in.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to install into}" "${CACHE:?CACHE: folder for intermediate files}"

target=${SHARED_TARGET:-$CACHE/target}
CARGO_TARGET_DIR="$target" cargo build --release --locked --manifest-path "$here/Cargo.toml"
mkdir -p "$OUT/bin"
for program in server client; do
  install --mode=755 "$target/release/$program" "$OUT/bin/$program"
  # The names of functions stay: profiles tell by them where time goes.
  strip --strip-debug "$OUT/bin/$program"
done
