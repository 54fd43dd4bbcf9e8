#!/usr/bin/env bash
# howquick [ARGUMENT…]: snakemake with these arguments, in the project's folder if that is the current one, else in
# ./howquick, which is made of the flake's source the first time and kept: a second start goes on there.
set -euo pipefail
: "${HOWQUICK_SOURCE:?the folder with the source of the project}"

if [[ ! -f Snakefile || ! -d envs ]]; then
  if [[ ! -e howquick ]]; then
    unfinished=$(mktemp -d .howquick.XXXXXX)
    cp -r "$HOWQUICK_SOURCE"/. "$unfinished"
    chmod -R u+w "$unfinished"
    mv "$unfinished" howquick
  fi
  cd howquick
fi
exec snakemake --cores "$(nproc)" "$@"
