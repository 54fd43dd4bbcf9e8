# shellcheck shell=bash
# What enter and the provisioning share. Expects $repo.

cache=${HOWQUICK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/howquick}
[[ $cache == /* ]] || cache=$PWD/$cache
architecture=$(uname -m)

say() { printf 'enter: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

# Hash of names and contents of all files below the given paths. What builds and tools leave behind does not count;
# the rule is a fixed one and not .gitignore's, so that a tarball and a clone agree.
hash_files() {
  find "$@" \( -name .git -o -name target -o -name node_modules -o -name __pycache__ -o -name '.*_cache' \) -prune \
    -o -type f ! -name '*.pyc' ! -name '*~' ! -name '.*.swp' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | hash_text
}

hash_text() {
  local sum
  sum=$(sha256sum)
  printf '%s' "${sum:0:16}"
}

# Namespaces for an ordinary user need a user namespace; root does without.
namespace() {
  local user=()
  ((EUID == 0)) || user=(--user)
  perl "$repo/scripts/provision/namespace.pl" "${user[@]}" "$@"
}

# Variables of the caller that reach the environment; everything else is left outside.
passed_on() {
  local name
  for name in TERM COLORTERM NO_COLOR CI {http,https,ftp,no,all}_proxy {HTTP,HTTPS,FTP,NO,ALL}_PROXY \
    "${!HOWQUICK_@}" "${!ENTER_@}" "${!SNAKEMAKE_@}"; do
    [[ -z ${!name+set} ]] || printf '%s=%s\0' "$name" "${!name}"
  done
}
