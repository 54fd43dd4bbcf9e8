#!/bin/sh
# mmdebstrap runs this before the packages' own scripts. It cannot mount /dev itself where only one user is mapped.
set -eu
for device in null zero full random urandom tty; do
  [ -e "$1/dev/$device" ] || : >"$1/dev/$device"
  mount --bind "/dev/$device" "$1/dev/$device"
done
