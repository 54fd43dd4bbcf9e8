#!/bin/bash
# Build link-emulator. OUT: where it is installed. CACHE: folder kept between builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export CARGO_TARGET_DIR="$CACHE/target"
cargo build --release --locked
install -D -m 755 "$CARGO_TARGET_DIR/release/link-emulator" "$OUT/bin/link-emulator"
