#!/usr/bin/env bash
# install_packages.sh download|install SUITE PACKAGES ARCHIVES
#
# Runs inside the new root directory: fetches, then installs what the file PACKAGES lists, keeping the downloaded
# packages in the folder ARCHIVES. Writes /etc/howquick/packages.tsv: name, version, architecture, SHA-256 of the package.
set -euo pipefail
step=$1 suite=$2 list=$3 archives=$4

export DEBIAN_FRONTEND=noninteractive
apt() {
  apt-get -o "Dir::Cache::archives=$archives/" -o APT::Keep-Downloaded-Packages=true -o Acquire::Retries=3 \
    -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any -o Acquire::Languages=none -o Dpkg::Use-Pty=0 --yes --no-install-recommends "$@"
}

# Backports live beside the suite's main archive, on whatever mirror that came from.
add_backports() {
  local sources=/etc/apt/sources.list
  sed -n "s/^\(deb .* \)$suite\( main.*\)\$/\1$suite-backports\2/p" "$sources" >"$sources.d/backports.list"
  [[ -s $sources.d/backports.list ]] || { echo "no line for $suite main in $sources" >&2; exit 1; }
}

# What the list wants from another suite, together with what only that suite's packages need.
prefer_backports() {
  local pattern=$1
  printf 'Package: %s\nPin: release n=%s-backports\nPin-Priority: 990\n\n' "$pattern" "$suite"
}

# Manual pages and documentation stay away; licences (copyright) stay.
exclude_documentation() {
  mkdir -p /etc/dpkg/dpkg.cfg.d
  printf 'path-%s\n' 'exclude=/usr/share/man/*' 'exclude=/usr/share/info/*' 'exclude=/usr/share/doc/*' \
    'include=/usr/share/doc/*/copyright' >/etc/dpkg/dpkg.cfg.d/without-documentation
}

# Packages' scripts start no services here.
forbid_services() {
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
  chmod +x /usr/sbin/policy-rc.d
}

# The appendix is typeset by pdfLaTeX. Each of the other formats would take seconds to build, and none of them is used.
only_pdflatex() {
  local name engine
  mkdir -p /etc/texmf/web2c
  while read -r name engine; do
    printf '#! %s %s - none.ini\n' "$name" "$engine"
  done >/etc/texmf/web2c/fmtutil.cnf <<'FORMATS'
amstex pdftex
dvilualatex luatex
dvilualatex-dev luatex
dviluatex luatex
etex pdftex
latex pdftex
latex-dev pdftex
luahbtex luahbtex
lualatex luahbtex
lualatex-dev luahbtex
luatex luatex
mptopdf pdftex
pdfetex pdftex
pdflatex-dev pdftex
pdftex pdftex
tex tex
FORMATS
}

write_versions() {
  mkdir -p /etc/howquick
  # shellcheck disable=SC2016 # dpkg's own placeholders
  dpkg-query -W -f '${Package}\t${Version}\t${Architecture}\n' >/tmp/installed.$$
  cut -f 1,2,3 /tmp/installed.$$ | awk -F '\t' '{print $1 ":" $3 "=" $2}' | sed 's/:all=/=/' |
    xargs apt-cache show 2>/dev/null | awk '
      /^Package: / {name = $2} /^Version: / {version = $2} /^SHA256: / {print name "\t" version "\t" $2}' >/tmp/hashes.$$
  awk -F '\t' 'NR == FNR {hash[$1, $2] = $3; next} {print $0 "\t" hash[$1, $2]}' /tmp/hashes.$$ /tmp/installed.$$ \
    >/etc/howquick/packages.tsv
  rm -f /tmp/installed.$$ /tmp/hashes.$$
}

tidy_up() {
  apt autoclean >/dev/null
  rm -rf /usr/sbin/policy-rc.d /etc/apt/apt.conf.d/99mmdebstrap /var/lib/apt/lists/* /var/cache/apt/*.bin \
    /usr/share/man/* /usr/share/info/*
  find /usr/share/doc -type f ! -name copyright -delete
}

packages=()
preferences=
while read -r entry; do
  if [[ $entry == */$suite-backports ]]; then
    entry=${entry%/*}
    preferences+="$(prefer_backports "$entry")"$'\n\n'
  fi
  [[ $entry == *'*'* ]] || packages+=("$entry")
done < <(sed 's/#.*//' "$list" | tr -s '[:blank:]' '\n' | sed '/^$/d')

case $step in
  download)
    exclude_documentation
    forbid_services
    add_backports
    printf '%s' "$preferences" >/etc/apt/preferences.d/backports
    apt update
    apt install --download-only "${packages[@]}"
    ;;
  install)
    only_pdflatex
    apt install "${packages[@]}"
    write_versions
    tidy_up
    ;;
esac
