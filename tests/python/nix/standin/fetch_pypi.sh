# shellcheck shell=bash disable=SC2154 # the arguments of fetchPypi are variables
# Has pip fetch the one file that fetchPypi names; runs inside build.sh.
client=(python3 -m venv client)
"${client[@]}"
options=(--quiet --disable-pip-version-check --no-deps --dest files)
if [[ $format == wheel ]]; then
  options+=(--only-binary :all: --python-version 3.13 --implementation cp --abi "$abi" --abi cp313 --abi none)
  for tag in ${platform//./ }; do options+=(--platform "$tag"); done
else
  options+=(--no-binary :all:)
fi
client/bin/python -m pip download "${options[@]}" "$pname==$version"
cp files/* "$out"
