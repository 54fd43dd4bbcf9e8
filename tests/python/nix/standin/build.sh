# shellcheck shell=bash disable=SC2154 # the attributes of a derivation are variables
# The builder of every derivation: runs $script in a writable copy of $src, with the host's tools.
set -euo pipefail
export PATH=/usr/local/bin:/usr/bin:/bin HOME=$NIX_BUILD_TOP LC_ALL=C.UTF-8
export GOTOOLCHAIN=local GOPATH=$NIX_BUILD_TOP/go GOCACHE=$NIX_BUILD_TOP/go-cache
runHook() { :; }
cd "$NIX_BUILD_TOP"
if [[ -n ${src:-} ]]; then
  cp -r "$src" source
  chmod -R u+w source
  cd source
fi
eval "$script"
