#!/bin/sh
# mmdebstrap runs this before anything is downloaded: what is downloaded goes to the cache and is found there again.
set -eu
mkdir -p "$1/var/cache/apt/archives"
mount --bind "$ARCHIVES" "$1/var/cache/apt/archives"
