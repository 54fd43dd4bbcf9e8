# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# What a part's log says about why it failed: one sentence with the remedy. Sourced by provision.sh.

# why_it_failed LOG: the first cause that is found counts, so those that bring others about come first.
why_it_failed() {
  local log=$1 what
  if what=$(first 'No space left on device|Disk quota exceeded'); then
    echo "the disk is full: make room in $cache, or set HOWQUICK_CACHE to a folder elsewhere; then start again."
  elif what=$(first 'THESE PACKAGES DO NOT MATCH THE HASHES|checksum for .* changed between lock files|EINTEGRITY|checksum mismatch|Hash Sum mismatch'); then
    echo "a download is not what it should be ($what): start again; if it stays so, a registry or a proxy has altered it."
  elif what=$(first 'Temporary failure (in name resolution|resolving .*)|Could not resolve .*|(Could|Unable to|Couldn.t) connect to .*|Cannot initiate the connection .*|Connection (failed|refused|timed out).*|Network is unreachable|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|ECONNREFUSED|Failed to establish a new connection|no such host|spurious network error.*'); then
    echo "a mirror or registry cannot be reached ($what): check the network and http_proxy, https_proxy, then start again; what was downloaded is kept."
  elif what=$(first 'NO_PUBKEY [0-9A-F]+|is not signed|Release file .* is (expired|not valid yet)'); then
    echo "the mirror's signature cannot be verified ($what): check this machine's clock, and renew its package debian-archive-keyring."
  elif what=$(first 'Unable to locate package [^ ]+|Package .[^ ]+. has no installation candidate|Couldn.t find any package by .*'); then
    echo "the mirror has no such package ($what): correct its name in environment/debian/packages.txt."
  elif what=$(first '(Version|Release) .[^ ]+. for .[^ ]+. was not found'); then
    echo "the mirror has this version no longer ($what): change it in environment/debian/packages.txt."
  elif what=$(first 'No matching distribution found for .*|failed to select a version for .*|no matching package named .*|ETARGET|E404|unknown revision .*|is yanked'); then
    echo "a version in the lock is gone from its registry ($what): renew this part's lock."
  elif what=$(first '^Killed|out of memory|Cannot allocate memory|signal: 9'); then
    echo "it was killed, probably for lack of memory: close other programs, or set ENTER_JOBS=1."
  elif what=$(first '.*(Failed to fetch|failed to download).*'); then
    echo "a download failed ($what): start again; what was downloaded is kept."
  else
    echo "its last words are above."
  fi
}

# The first match in the log; fails if there is none.
first() {
  local match
  match=$(grep -oE -m 1 "$1" "$log" | head -n 1 | cut -c 1-160)
  [[ -n $match ]] && printf '%s' "$match"
}
