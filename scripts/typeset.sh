#!/usr/bin/env bash
# typeset.sh PAPER FRAGMENTS OUTPUT — build the appendix with latexmk, in a scratch folder.
#
# The same input gives the same bytes: the date of the document is that of the data (SOURCE_DATE_EPOCH,
# written by R/run_appendix.R), not that of the build.
set -euo pipefail

paper=$1 fragments=$2 output=$3
scratch=$(mktemp -d "$(dirname "$output")/.typeset.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

cp "$paper"/*.tex "$scratch"/
cp -r "$fragments"/. "$scratch"/
for study in "$fragments"/*/; do
  printf '\\study{%s}\n' "$(basename "$study")"
done >"$scratch/studies.tex"
export SOURCE_DATE_EPOCH FORCE_SOURCE_DATE=1
SOURCE_DATE_EPOCH=$(cat "$scratch"/*/epoch | sort -n | tail -n 1)
(cd "$scratch" && latexmk -pdf -interaction=nonstopmode -halt-on-error appendix.tex)
mv "$scratch/appendix.pdf" "$output"
