#!/bin/bash
# Build the kernel of virtual time and its init into $OUT/bin. OUT: where it is installed. CACHE: a folder to build in.
# SOURCES: where the distribution's source package is unpacked, instead of /.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${OUT:?OUT: folder to install into}" "${CACHE:?CACHE: folder to build in}"

pinned() { jq -r ".$1" "$here/source.json"; }

fail() { printf 'kernel: %s\n' "$*" >&2; exit 1; }

# Files that user mode never compiles: two thirds of the tree, and as much of the time to write and to remove it. What
# describes options stays, since all of it is read.
without=('*/arch/[!ux]*/*.[chS]' '*/arch/[!ux]*/*.dts*' '*/drivers/[!bctn]*/*.[chS]' '*/drivers/net/*/*.[chS]' '*/sound/*.[chS]'
  '*/samples/*.[chS]' '*/tools/perf/*' '*/tools/testing/*' '*/Documentation/*/*')

# unpack TARBALL TREE
unpack() {
  local found
  [[ -f $1 ]] || fail "$1 is missing: install the package $(pinned package), $(pinned package_version)."
  found=$(sha256sum <"$1")
  # The distribution's own updates must not stop whoever comes later; the packages' versions are in every hash.
  [[ ${found%% *} == "$(pinned tarball_sha256)" ]] ||
    printf 'kernel: %s has the hash %s and is not %s %s of environment/kernel/source.json: numbers in virtual time are not to be compared with those of the pinned one.\n' \
      "$1" "${found%% *}" "$(pinned package)" "$(pinned package_version)" >&2
  mkdir -p "$2"
  tar --extract --file="$1" --directory="$2" --strip-components=1 "${without[@]/#/--exclude=}"
}

# Each line of the fragment must have come out as it stands there: what depends on something that is absent is dropped silently.
check_config() {
  local line name
  while read -r line; do
    case $line in
      CONFIG_*=*) grep -qxF "$line" .config || fail "environment/kernel/config: $line was not taken; see what it depends on." ;;
      '# CONFIG_'*' is not set')
        name=${line#\# } name=${name%% *}
        ! grep -q "^$name=" .config || fail "environment/kernel/config: $name is set all the same; see what selects it." ;;
    esac
  done <"$here/config"
}

# What could differ from one build to the next of the same source.
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' KBUILD_BUILD_USER=howquick KBUILD_BUILD_HOST=howquick KBUILD_BUILD_VERSION=1
export ARCH=um

tree=$CACHE/linux
rm -rf "$tree"
unpack "${SOURCES-}/$(pinned tarball)" "$tree"
cd "$tree"
for patch in "$here"/patches/*.patch; do
  GIT_CEILING_DIRECTORIES=$CACHE git apply "$patch" || fail "$patch does not fit this source."
done
make KCONFIG_ALLCONFIG="$here/config" allnoconfig >/dev/null
check_config
make linux
install -D --strip linux "$OUT/bin/linux"
gcc -std=c11 -O2 -Wall -Wextra -o "$OUT/bin/init" "$here/init.c"
rm -rf "$tree"
