# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# What is built from locks: programs under test (envs/) and parts of the environment itself (environment/). Sourced by
# provision.sh.

declare -A program_hash

# in_root PROGRAM…: runs it inside the finished root directory, with the caller's way to the registries.
in_root() {
  local ca=/etc/ssl/certs/ca-certificates.crt
  perl "$here/namespace.pl" -- bash "$here/inside.sh" "$root" --bind="$repo" --bind="$cache" --place="$cache=$place" "${client_settings[@]}" -- \
    /usr/bin/env -i "${passed_on[@]}" "${registry_settings[@]}" PATH="$system_path" HOME="$place/home" LC_ALL=C.UTF-8 TZ=UTC \
    SSL_CERT_FILE="$ca" NODE_EXTRA_CA_CERTS="$ca" "$@"
}

# Settings of package clients that the caller has made, as options of inside.sh and as variables. They are seen
# while building, and never copied.
read_client_settings() {
  local pair from to name home=${HOME:-/root}
  client_settings=()
  registry_settings=()
  for pair in .npmrc=home/.npmrc .config/pip/pip.conf=home/.config/pip/pip.conf .pip/pip.conf=home/.pip/pip.conf \
    .config/go/env=home/.config/go/env .cargo/config.toml=downloads/cargo/config.toml; do
    from=$home/${pair%=*} to=${pair#*=}
    [[ -f $from ]] || continue
    mkdir -p "$cache/${to%/*}"
    [[ -e $cache/$to ]] || : >"$cache/$to"
    client_settings+=(--file="$from=$place/$to")
  done
  for name in PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT GOPROXY GOSUMDB GONOSUMDB GOPRIVATE \
    NPM_CONFIG_REGISTRY npm_config_registry CARGO_NET_GIT_FETCH_WITH_CLI CARGO_HTTP_PROXY; do
    [[ -z ${!name+set} ]] || registry_settings+=("$name=${!name}")
  done
}

# Where the sources of a program are; no name is in both folders.
folder_of() {
  local folder=$repo/environment/$1
  [[ -d $folder ]] || folder=$repo/envs/$1
  printf '%s' "$folder"
}

# Hash of a program's folder and of the contract that is linked into it. What it declares builds nothing.
source_hash() {
  local folder
  folder=$(folder_of "$1")
  (cd "${folder%/*}" && list_files "$1" | grep -zv '/endpoint\.yaml$' | xargs -0 sha256sum | hash_text)
}

# Sets $programs, those the workflow and the selected studies need, and their hashes.
programs_needed() {
  read_client_settings
  mapfile -t programs < <(in_root python3 "$here/select_programs.py" "$repo" "${ENTER_PROGRAMS:-}" "$emulator")
  ((${#programs[@]} > 0)) || fail "the programs that the studies need could not be determined; see above."
  local name
  for name in "${programs[@]}"; do
    program_hash[$name]=$(printf '%s' "$(source_hash "$name")" "${root##*/}" | hash_text)
  done
}

# prefix_of NAME FOLDER: where a program is, with the cache folder at FOLDER; what the distribution has stays where it is.
prefix_of() {
  if [[ -e $(folder_of "$1")/build.sh ]]; then
    printf '%s' "$2/programs/$1-${program_hash[$1]}"
  else
    printf /usr
  fi
}

is_built() { [[ $(prefix_of "$1" "$cache") == /usr || -e $(prefix_of "$1" "$cache")/.complete ]]; }

# Builds what is missing side by side, compiled programs first since they take longest. Those that share a folder of
# what they have in common are built one after the other.
build_programs() {
  local name row jobs=${ENTER_JOBS:-$(nproc)} missing=() sharing='' long=() short=()
  for name in "${programs[@]}"; do
    is_built "$name" && continue
    missing+=("$name")
    case $(<"$(folder_of "$name")/build.sh") in
      *SHARED_TARGET*) sharing+=" $name" ;;
      *cargo* | *'make linux'*) long+=("$name") ;;
      *) short+=("$name") ;;
    esac
  done
  ((${#missing[@]} > 0)) || return 0
  need_space $((700 * ${#missing[@]})) "building ${missing[*]}"
  local active=0
  for row in ${sharing:+"$sharing"} "${long[@]}" "${short[@]}"; do
    if ((active >= jobs)); then
      wait -n || exit 1
      active=$((active - 1))
    fi
    build_row "$row" &
    active=$((active + 1))
  done
  while ((active > 0)); do
    wait -n || exit 1
    active=$((active - 1))
  done
}

# build_row NAMES: one after the other.
build_row() {
  local name names
  read -r -a names <<<"$1"
  for name in "${names[@]}"; do part "$name" build_program "$name"; done
}

# In its place, since programs may remember where they were built; complete when it says so.
build_program() {
  local name=$1 prefix
  local work=$cache/work/$name downloads=$place/downloads
  prefix=$(prefix_of "$name" "$cache")
  rm -rf "$prefix" "$work/source"
  mkdir -p "$prefix" "$work/source" "$work/kept" "$cache/downloads"/{cargo,npm,pip,go}
  # Fresh times (--touch): build tools tell by them what is new, and those of a checkout say nothing.
  (cd "$(folder_of "$name")" && list_files . | tar --create --dereference --null --files-from=- --file=-) |
    tar --extract --touch --no-same-owner --file=- --directory="$work/source"
  in_root /usr/bin/env --chdir="$place/work/$name/source" OUT="$(prefix_of "$name" "$place")" CACHE="$place/work/$name/kept" \
    SHARED_TARGET="$place/work/shared-target" CARGO_HOME="$downloads/cargo" npm_config_cache="$downloads/npm" PIP_CACHE_DIR="$downloads/pip" \
    GOPATH="$downloads/go" GOCACHE="$place/work/shared-go" MAKEFLAGS="-j$(nproc)" bash ./build.sh
  sync -f "$prefix"
  printf '%s\n' "${root##*/}" >"$prefix/.complete"
  sync "$prefix/.complete" "$prefix" "$cache/programs"
}

# Sets $manifest, the file that says what the environment consists of.
write_manifest() {
  local name lines=
  for name in "${programs[@]}"; do
    lines+=$name$'\t'$(prefix_of "$name" "$place")$'\t'${program_hash[$name]}$'\t'$(folder_of "$name")$'\n'
  done
  manifest=$(in_root python3 "$here/write_manifest.py" "$cache" "$suite" /etc/howquick/packages.tsv "$lines")
  [[ -f $manifest ]] || fail "the manifest was not written; see above."
}
