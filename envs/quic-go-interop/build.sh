#!/bin/bash
# Build quic-go's own end point for the interop runner, as it stands in the module, into $OUT/bin.
# Needs Go. The caller says by GOPATH and GOCACHE where modules and objects are kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
: "${OUT:?OUT: folder to install into}" "${CACHE:?CACHE: folder for intermediate files}"
mkdir -p "$OUT/bin"
interop=github.com/quic-go/quic-go/interop
GOTOOLCHAIN=local CGO_ENABLED=0 go build -trimpath -mod=readonly -buildvcs=false -ldflags=-w -o "$OUT/bin/" \
	"$interop/server" "$interop/client" ./version
