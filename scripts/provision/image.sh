# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# An image is the whole environment in one file, environment-HASH.tar.gz, for machines that do not see the cache folder
# of the one that built it; scripts/howquick/workflow/image.py packs it. Sourced by provision.sh.

# Moves what the image has and the cache lacks into the cache. The manifest comes last: it says that the rest is there.
unpack_image() {
  local image=${HOWQUICK_IMAGE:-} folder=$cache/work/image hash megabytes part
  [[ -n $image ]] || return 0
  hash=${image##*/environment-}
  [[ ! -f $cache/manifest-${hash%.tar.gz}.json ]] || return 0
  [[ -r $image ]] || fail "HOWQUICK_IMAGE: $image cannot be read on $(uname -n). It must be on a file system that this machine sees."
  megabytes=$(($(stat --format=%s "$image") / 1000000))
  # Programs and libraries shrink to a third; the image itself need not be on the same disk.
  need_space $((4 * megabytes)) "the environment"
  say "unpacking the environment from $image: once on this machine."
  rm -rf "$folder"
  mkdir -p "$folder"
  # Names of owners mean nothing here, and an ordinary user could not give files away.
  tar --extract --gzip --no-same-owner --preserve-permissions --file="$image" --directory="$folder" ||
    fail "HOWQUICK_IMAGE: $image could not be unpacked; see above. Remove it, and the next start on the login node packs it anew."
  sync -f "$folder"
  for part in "$folder"/{roots,programs}/* "$folder"/manifest-*.json; do
    [[ -e $cache/${part#"$folder"/} ]] || mv "$part" "$cache/${part#"$folder"/}"
  done
  rm -rf "$folder"
}
