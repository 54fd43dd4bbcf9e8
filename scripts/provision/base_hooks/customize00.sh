#!/bin/sh
# mmdebstrap runs this last.
set -eu
for device in null zero full random urandom tty; do
  umount "$1/dev/$device"
  rm "$1/dev/$device"
done
umount "$1/var/cache/apt/archives"
