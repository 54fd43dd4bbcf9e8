# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# What the host must offer before anything is built: one sentence with the remedy for each lack. Sourced by enter.

check_host() {
  case $architecture in
    x86_64 | aarch64) ;;
    *) fail "this machine is $architecture; the environment exists for x86_64 and aarch64 only." ;;
  esac
  local tool
  for tool in apt-get apt-config dpkg-deb; do
    command -v "$tool" >/dev/null || fail "this is not Debian or Ubuntu ($tool is missing): use Nix instead, \"nix develop\" in this folder."
  done
  for tool in perl flock findmnt mount tar xargs sha256sum; do
    command -v "$tool" >/dev/null || fail "$tool is missing: install the Debian package that has it (perl-base, util-linux, mount, tar, findutils or coreutils)."
  done
  check_cache
  check_namespaces
}

check_cache() {
  mkdir -p "$cache" 2>/dev/null || true
  [[ -w $cache ]] || fail "the cache folder $cache is not writable: set HOWQUICK_CACHE to a folder that is."
  local probe=$cache/.probe.$$
  printf '#!/bin/sh\n' >"$probe" 2>/dev/null || fail "nothing can be written to the cache folder $cache (is the disk full?): make room, or set HOWQUICK_CACHE to another folder."
  chmod +x "$probe"
  if ! "$probe" 2>/dev/null; then
    rm -f "$probe"
    fail "programs cannot be run from the cache folder $cache (its file system is mounted noexec): set HOWQUICK_CACHE to a folder elsewhere."
  fi
  rm -f "$probe"
}

check_namespaces() {
  local why
  why=$("${namespace[@]}" -- true 2>&1) && return
  if ((EUID == 0)); then
    fail "root may not make namespaces here (${why#enter: }): in a container, start it with --privileged or with --cap-add SYS_ADMIN and unconfined seccomp and AppArmor."
  elif [[ $(setting kernel/unprivileged_userns_clone) == 0 ]]; then
    fail "user namespaces are switched off: \"sudo sysctl -w kernel.unprivileged_userns_clone=1\", or run enter as root."
  elif [[ $(setting kernel/apparmor_restrict_unprivileged_userns) == 1 ]]; then
    fail "AppArmor forbids user namespaces: \"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\", or run enter as root."
  elif [[ $(setting user/max_user_namespaces) == 0 ]]; then
    fail "user namespaces are switched off: \"sudo sysctl -w user.max_user_namespaces=10000\", or run enter as root."
  fi
  fail "this system does not let you make user namespaces (${why#enter: }): ask its administrator to allow them, or run enter as root."
}

setting() { cat "/proc/sys/$1" 2>/dev/null || true; }
