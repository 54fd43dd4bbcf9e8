#!/bin/bash
# Build the server and the client into $OUT/bin; $CACHE keeps what a later build can use again.
# Needs Go. The caller says by GOPATH and GOCACHE where modules and objects are kept.
# Each program in Go has a link to this script, which builds the folder that the link is in.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to install into}" "${CACHE:?CACHE: folder for intermediate files}"

cd "$here"
mkdir -p "$OUT/bin"
# The newest Go there is builds; none is fetched.
GOTOOLCHAIN=local CGO_ENABLED=0 go build -trimpath -mod=readonly -buildvcs=false -ldflags=-w -o "$OUT/bin/" ./server ./client
