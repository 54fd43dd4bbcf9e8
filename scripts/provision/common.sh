# shellcheck shell=bash disable=SC2034 # variables for the one who sources this
# What enter and the provisioning share. Expects $repo; sets:
#   cache         where everything is kept
#   architecture  the machine's
#   namespace     command that runs another one in private namespaces; see namespace.pl
#   system_path   PATH of the root directory

cache=${HOWQUICK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/howquick}
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
