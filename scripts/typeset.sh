#!/usr/bin/env bash
# typeset.sh PAPER OUTPUT STUDY… — build the appendix with latexmk, in a scratch folder. STUDY: folder with the
# fragments of one study; they appear in this order.
#
# The same input gives the same bytes: the date of the document is that of the data (SOURCE_DATE_EPOCH,
# written by R/run_appendix.R), not that of the build.
set -euo pipefail

paper=$1 output=$2
shift 2
scratch=$(mktemp -d "$(dirname "$output")/.typeset.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

cp "$paper"/*.tex "$scratch"/
for study in "$@"; do
  cp -r "$study" "$scratch"/
  printf '\\study{%s}\n' "$(basename "$study")"
done >"$scratch/studies.tex"
# All studies were analysed in one environment: what it consists of is said once.
printf '\\environment{%s}\n' "$(basename "$1")" >>"$scratch/studies.tex"
export SOURCE_DATE_EPOCH FORCE_SOURCE_DATE=1
SOURCE_DATE_EPOCH=$(cat "$scratch"/*/epoch | sort -n | tail -n 1)
(cd "$scratch" && latexmk -pdf -interaction=nonstopmode -halt-on-error appendix.tex)
mv "$scratch/appendix.pdf" "$output"
