# shellcheck shell=bash disable=SC2034 # variables for the one who sources this
# What enter and the provisioning share. Expects $repo; sets:
#   cache         where everything is kept
#   place         where that is found inside, the same for everybody: programs see their paths, and what they then do
#                 decides bits in virtual time (docs/virtual-time.md)
#   architecture  the machine's
#   namespace     command that runs another one in private namespaces; see namespace.pl
#   system_path   PATH of the root directory

place=/root/.cache/howquick
cache=${HOWQUICK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/howquick}
# Who was inside before, as jobs on a cluster, says both.
[[ $cache != "$place" || -z ${HOWQUICK_KEPT-} ]] || cache=$HOWQUICK_KEPT
[[ $cache == /* ]] || cache=$PWD/$cache
[[ ! -d $cache ]] || cache=$(cd -P -- "$cache" && pwd)
architecture=$HOSTTYPE
namespace=(perl "$repo/scripts/provision/namespace.pl")
# Root does without a user namespace.
((EUID == 0)) || namespace+=(--user)
system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

say() { printf 'enter: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

# Files below the given paths, separated by zero bytes, without what builds and tools leave behind. The rule is a
# fixed one and not .gitignore's, so that a tarball and a clone agree.
# Links between the folders of envs/ count as what they point to. What only Nix reads (nix/) and
# what was measured of a program are left out: a change there builds nothing anew here.
list_files() {
  find -L "$@" \( -name .git -o -name target -o -name node_modules -o -name __pycache__ -o -name '.*_cache' \) -prune \
    -o -type f ! -name package.nix ! -name wheels.json ! -name log_cost.json ! -name '*.pyc' ! -name '*~' ! -name '.*.swp' -print0 | LC_ALL=C sort -z
}

# Hash of names and contents of all files below the given paths.
hash_files() { list_files "$@" | xargs -0 sha256sum | hash_text; }

hash_text() {
  local sum
  sum=$(sha256sum)
  printf '%s' "${sum:0:16}"
}

# Sets $passed_on: the caller's variables that reach the environment. Everything else stays outside.
read_passed_on() {
  local name
  passed_on=()
  for name in TERM COLORTERM NO_COLOR CI {http,https,ftp,no,all}_proxy {HTTP,HTTPS,FTP,NO,ALL}_PROXY \
    "${!HOWQUICK_@}" "${!ENTER_@}" "${!SNAKEMAKE_@}"; do
    [[ -z ${!name+set} ]] || passed_on+=("$name=${!name}")
  done
}

# check_owner: ends with a sentence unless the cache folder is the caller's alone. What is in it is run, so nobody else
# may have put it there, nor be able to put another folder in its place.
check_owner() {
  local folder owner mode map foreign=0
  # In a user namespace that knows few users the host's root, to whom / belongs, is nobody.
  read -r -a map </proc/self/uid_map
  [[ ${map[*]} == "0 0 4294967295" ]] || foreign=$(</proc/sys/kernel/overflowuid)
  [[ -d $cache ]] || (umask 077 && mkdir -p "$cache") 2>/dev/null ||
    fail "the cache folder $cache is not writable: set HOWQUICK_CACHE to a folder that is."
  cache=$(cd -P -- "$cache" && pwd) || fail "the cache folder $cache cannot be entered: set HOWQUICK_CACHE to a folder of your own."
  folder=$cache
  while :; do
    read -r owner mode < <(stat --format='%u %a' "$folder")
    if ((owner != EUID)) && { [[ $folder == "$cache" ]] || ((owner != 0 && owner != foreign)); }; then
      fail "$folder belongs to $(stat --format=%U "$folder"), and what is in the cache folder $cache is run as you: set HOWQUICK_CACHE to a folder of your own."
    fi
    # In a folder with the sticky bit (/tmp) nobody can take away what is another's.
    if ((8#$mode & 8#022)) && { [[ $folder == "$cache" ]] || ((!(8#$mode & 8#1000))); }; then
      fail "others can write to $folder, and what is in the cache folder $cache is run as you: \"chmod go-w $folder\", or set HOWQUICK_CACHE to a folder of your own."
    fi
    [[ $folder != / ]] || break
    folder=${folder%/*}
    folder=${folder:-/}
  done
}

# is_emulator_wanted COMMAND…: says "wanted" where COMMAND may measure shaped links by the machine's own clock: the tests, what
# asks for that clock, and targets and programs that always take it. Who wanted it once keeps it, so that what is there does
# not depend on the last command.
is_emulator_wanted() {
  local word wanted=${ENTER_EMULATOR:-}
  for word in "$@"; do
    case $word in
      *clock=real* | pytest | aa | arms | bench | interference | */bench.py | */calibrate.py | */check_program.py) wanted=yes ;;
    esac
  done
  [[ ! -e $cache/emulator ]] || wanted=yes
  [[ -n $wanted ]] || return 0
  # Whoever builds says it if the folder cannot be written.
  { : >>"$cache/emulator"; } 2>/dev/null || true
  printf wanted
}

# read_ready FILE: sets $root, $workflow and $manifest from what provision.sh wrote; false for a file that does not
# describe what is there, such as an empty one that a power cut left. It is read and never run.
read_ready() {
  local name value
  root='' workflow='' manifest=''
  [[ -f $1 ]] || return
  while read -r name value; do
    case $name in
      root) root=$value ;;
      workflow) workflow=$value ;;
      manifest) manifest=$value ;;
      *) return 1 ;;
    esac
  done <"$1"
  [[ ${root##*/} != .* && ${workflow##*/} != .* && ${root%/*} == "$cache/roots" && ${workflow%/*} == "$cache/programs" && ${manifest%/*} == "$cache" ]] &&
    [[ -d $root && -f $manifest && -d $workflow ]]
}
