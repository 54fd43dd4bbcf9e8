#!/usr/bin/env bash
# provision.sh REPO CACHE READY EMULATOR
#
# Builds what the environment lacks and writes READY, which says where its pieces are. EMULATOR: whether an emulator of links
# is wanted ("wanted" or nothing), whatever the studies say. Runs as root of private
# namespaces (namespace.pl), so that nothing of it outlives an interrupted start. Each part is whole or absent.
set -euo pipefail
repo=$1
export HOWQUICK_CACHE=$2
ready=$3
emulator=$4

here=$repo/scripts/provision
cd / # visible everywhere, unlike the folder of the caller
# shellcheck source=scripts/provision/common.sh
source "$here/common.sh"
# shellcheck source=scripts/provision/progress.sh
source "$here/progress.sh"
# shellcheck source=scripts/provision/failures.sh
source "$here/failures.sh"
# shellcheck source=scripts/provision/debian.sh
source "$here/debian.sh"
# shellcheck source=scripts/provision/programs.sh
source "$here/programs.sh"
# shellcheck source=scripts/provision/image.sh
source "$here/image.sh"
# shellcheck source=scripts/provision/outdated.sh
source "$here/outdated.sh"

wait_for_others() {
  exec {lock}>>"$cache/lock"
  flock --nonblock "$lock" && return
  say "another start is building in $cache; waiting for it."
  flock "$lock"
}

# need_space MEGABYTES WHAT
need_space() {
  local free
  free=$(df -Pk "$cache" | awk 'NR == 2 {print int($4 / 1024)}')
  ((free >= $1)) || fail "too little disk for $2: about $1 MB are needed in $cache, $free MB are free. Make room, or set HOWQUICK_CACHE to a folder elsewhere."
}

mount -t proc proc /proc || fail "cannot mount /proc in a private namespace; in a container, start it with an unmasked /proc."
mkdir -p "$cache"/{apt,downloads,home,known,logs,programs,roots,work}
wait_for_others
# The one waited for may have built just this.
if read_ready "$ready"; then exit 0; fi
read_passed_on
start_progress

leave_other_place
unpack_image
root=$cache/roots/$(debian_hash)
if [[ ! -d $root ]]; then
  say "building the environment in $cache: once, some minutes; later starts find it there."
  need_space 4500 "the Debian packages"
  debian_root "$root"
fi
programs_needed
build_programs
write_manifest
stop_progress

{
  printf 'root %s\n' "$root"
  printf 'workflow %s\n' "$cache/programs/workflow-${program_hash[workflow]}"
  printf 'manifest %s\n' "$manifest"
} >"$ready.unfinished"
# File and folders on the disk, in this order: after a power cut it names nothing that is not there.
sync "$ready.unfinished" "$cache/roots" "$cache/programs" "$cache"
mv "$ready.unfinished" "$ready"
sync "$cache/known"
remove_outdated
