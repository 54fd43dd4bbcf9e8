# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# What a part's log says about why it failed: one sentence with the remedy. Sourced by provision.sh.

# why_it_failed LOG
why_it_failed() {
  local log=$1 what
  if grep -qiE 'No space left on device|Disk quota exceeded' "$log"; then
    echo "the disk is full: make room in $cache or point HOWQUICK_CACHE to a roomier folder, then start again."
  elif what=$(first "$log" 'Unable to locate package [^ ]+|Package .[^ ]+. has no installation candidate|Couldn.t find any package by [^ ]+ .[^ ]+.'); then
    echo "the mirror does not have a package that envs/debian/packages.txt asks for ($what): correct the name there."
  elif what=$(first "$log" 'Version .[^ ]+. for .[^ ]+. was not found|Release .[^ ]+. for .[^ ]+. was not found'); then
    echo "the mirror no longer has a version that envs/debian/packages.txt asks for ($what): change it there."
  elif what=$(first "$log" 'THESE PACKAGES DO NOT MATCH THE HASHES|checksum for .* changed between lock files|EINTEGRITY|checksum mismatch|Hash Sum mismatch|Hash mismatch'); then
    echo "a download is not what the lock says ($what): try again; if it stays so, the registry or a proxy altered it, do not use it."
  elif what=$(first "$log" 'No matching distribution found for .*|failed to select a version for .*|no matching package named .*|ETARGET|E404|unknown revision .*|is yanked'); then
    echo "a version in the lock is gone from its registry ($what): renew the lock of this part (its README or build.sh tells how)."
  elif what=$(first "$log" 'NO_PUBKEY [0-9A-F]+|is not signed|Release file .* is (expired|not valid yet)'); then
    echo "the mirror's signature cannot be verified ($what): check this machine's clock and its debian-archive-keyring."
  elif what=$(first "$log" 'Temporary failure (in name resolution|resolving .*)|Could not resolve .*|Could not connect to .*|Cannot initiate the connection .*|Unable to connect .*|Connection (failed|refused|timed out).*|Network is unreachable|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|ECONNREFUSED|[Ff]ailed to (establish a new connection|fetch|download).*|no such host|spurious network error.*'); then
    echo "a mirror or registry cannot be reached ($what): check the network and the proxy variables (http_proxy, https_proxy), then start again; what was downloaded is kept."
  elif grep -qE 'Killed|out of memory|Cannot allocate memory' "$log"; then
    echo "it was killed, probably for lack of memory: close other programs or try ENTER_JOBS=1."
  else
    echo "see the log."
  fi
}

first() { grep -oE -m 1 "$2" "$1" | head -n 1 | cut -c 1-160; }
