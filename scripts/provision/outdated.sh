# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# What is of no use any more. Sourced by provision.sh.

# Programs remember where they were built, and manifests name it: what was to be found elsewhere is built anew. A cache
# folder that does not say was found where it is kept.
leave_other_place() {
  local said of
  said=$(cat "$cache/place" 2>/dev/null || true)
  [[ $said != "$place" ]] || return 0
  of=${said:-$cache}
  if [[ $of != "$place" ]]; then
    [[ -z $(ls -A "$cache/programs") ]] || say "the environment is now found in $place: building its programs anew."
    rm -rf "$cache"/{programs,work,known}/* "$cache"/manifest-*.json
  fi
  printf '%s\n' "$place" >"$cache/place"
}

# A root directory takes gigabytes, and each change of its list makes a new one. This
# removes root directories other than this one and the one made last before, unless something still runs in them,
# and whatever was built in a root directory that is gone. Manifests stay: results refer to them.
remove_outdated() {
  local old ready_file prefix previous='' candidates
  mapfile -t candidates < <(ls -1td "$cache"/roots/*)
  for old in "${candidates[@]}"; do
    [[ $old != "$root" ]] || continue
    # The first that is met is the newest of the others.
    if [[ -z $previous && $old != *.unfinished ]]; then
      previous=$old
    else
      remove_unless_in_use "$old"
    fi
  done
  for ready_file in "$cache"/known/*; do
    (read_ready "$ready_file") || rm -f "$ready_file"
  done
  for prefix in "$cache"/programs/*; do
    [[ -d $cache/roots/$(cat "$prefix/.complete" 2>/dev/null) ]] || rm -rf "$prefix"
  done
}

# Who is inside holds a shared lock on the folder; see enter.
remove_unless_in_use() {
  local folder
  exec {folder}<"$1"
  if flock --exclusive --nonblock "$folder"; then
    say "removing an outdated root directory, $1"
    rm -rf "$1"
  fi
  exec {folder}<&-
}
