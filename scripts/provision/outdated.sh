# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# A root directory takes gigabytes, and each change of its list makes a new one. Sourced by provision.sh.

# Removes root directories other than this one and the one made last before, unless something still runs in them,
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
