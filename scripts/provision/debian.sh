# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# The root directory: Debian trixie, made by mmdebstrap, filled by the apt inside it. Sourced by provision.sh.

readonly suite=trixie

# What the root directory depends on.
debian_hash() {
  local files
  files=$(cd "$repo" && hash_files environment/debian/packages.txt scripts/provision/{debian.sh,install_packages.sh,fakeids.pl,base_hooks})
  printf '%s %s %s' "$suite" "$architecture" "$files" | hash_text
}

# debian_root ROOT: makes ROOT, whole or not at all. Downloaded packages stay in the cache between attempts.
debian_root() {
  local root=$1 unfinished=$1.unfinished
  mkdir -p "$cache/apt/archives/partial" "${root%/*}"
  rm -rf "$unfinished"
  host_apt_settings >"$cache/apt/host.conf"
  find_mmdebstrap
  part debian-base make_base "$unfinished"
  part debian-download in_new_root "$unfinished" download
  part debian-install in_new_root "$unfinished" install
  rm -f "$cache/apt/host.conf"
  tidy_from_outside "$unfinished"
  sync -f "$unfinished"
  mv "$unfinished" "$root"
}

# What must not be done from within, where folders of the host are mounted.
tidy_from_outside() {
  local root=$1 file
  # In a folder of an ordinary host nothing may lend rights.
  find "$root" -type f -perm /6000 -exec chmod a-s {} +
  find "$root/dev" ! -type d -delete
  # Places for the host's own files; see inside.sh.
  for file in resolv.conf hosts pip.conf; do
    rm -f "$root/etc/$file"
    : >"$root/etc/$file"
  done
}

# How this host reaches its mirrors: proxies, timeouts, certificate checks. The mirror itself is mmdebstrap's default.
host_apt_settings() {
  apt-config dump | grep -E '^Acquire::(http|https|Check|Retries|ForceIPv|AllowInsecure)' || true
}

# Sets $mmdebstrap (a command) and $keyring, the host's or ones unpacked into the cache.
find_mmdebstrap() {
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mmdebstrap=(mmdebstrap)
  if [[ -f $keyring ]] && mmdebstrap --version >/dev/null 2>&1; then return; fi
  local tools=$cache/tools
  [[ -e $tools/complete ]] || part mmdebstrap unpack_mmdebstrap "$tools"
  keyring=$tools$keyring
  mmdebstrap=(env "PERL5LIB=$(perl_folders "$tools")" perl "$tools/usr/bin/mmdebstrap")
}

# mmdebstrap and the Perl modules it needs, from the host's own mirrors, with apt's state kept in the cache: nothing
# is installed on the host.
unpack_mmdebstrap() {
  local tools=$1 deb
  local state=$tools/apt
  rm -rf "$tools"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/debs"
  local options=(-o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache" -o "Dir::State::status=/var/lib/dpkg/status"
    -o APT::Sandbox::User=root -o Acquire::Languages=none -o APT::Update::Error-Mode=any -o APT::Update::Post-Invoke= -o APT::Update::Post-Invoke-Success=)
  apt-get "${options[@]}" update
  (
    cd "$state/debs" || exit
    # shellcheck disable=SC2046 # package names
    apt-get "${options[@]}" download mmdebstrap debian-archive-keyring $(perl_packages "${options[@]}")
  )
  for deb in "$state"/debs/*.deb; do dpkg-deb -x "$deb" "$tools"; done
  rm -rf "$state"
  touch "$tools/complete"
}

# perl_packages APT-OPTION…: the modules that perl-base lacks, of its own version (5.36, 5.40, …).
perl_packages() {
  apt-cache "$@" depends --important perl | sed -nE 's/^.*Depends: ((libperl|perl-modules-)5[^ ]*)$/\1/p' | sort -u
}

perl_folders() {
  local folder list=
  for folder in "$1"/usr/share/perl/5.*.* "$1"/usr/lib/*/perl/5.*.*; do
    [[ -d $folder ]] && list+=${list:+:}$folder
  done
  printf '%s' "$list"
}

# The smallest system that has apt.
make_base() {
  local root=$1
  ARCHIVES=$cache/apt/archives perl "$here/fakeids.pl" "${mmdebstrap[@]}" \
    --mode=root --variant=apt --format=directory --hook-dir="$here/base_hooks" \
    --keyring="$keyring" --aptopt='APT::Sandbox::User "root"' --aptopt="$cache/apt/host.conf" \
    --include=mount --skip=check/signed-by,chroot/mount/dev,chroot/mount/sys,essential/unlink,cleanup/apt/cache "$suite" "$root"
}

# in_new_root ROOT STEP: a step of install_packages.sh, with the root directory writable.
in_new_root() {
  perl "$here/namespace.pl" -- perl "$here/fakeids.pl" bash "$here/inside.sh" "$1" --writable --bind="$repo" --bind="$cache" -- \
    /usr/bin/env -i "${passed_on[@]}" PATH="$system_path" LC_ALL=C.UTF-8 HOME=/root APT_CONFIG="$cache/apt/host.conf" \
    bash "$here/install_packages.sh" "$2" "$suite" "$repo/environment/debian/packages.txt" "$cache/apt/archives"
}
