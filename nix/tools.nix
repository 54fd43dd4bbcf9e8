# What is on PATH, the workflow's own Python first. The names are those of
# environment/debian/packages.txt, as nixpkgs has them.
{
  lib,
  pkgs,
  programs,
  statistics,
  typesetting,
}:
[ programs.workflow ]
++ [
  statistics
  typesetting
  pkgs.librsvg
  pkgs.poppler-utils
]
++ lib.concatMap (program: program.onPath or [ program ]) (builtins.attrValues programs)
++ [
  pkgs.ethtool
  pkgs.iperf3
  pkgs.iproute2
  pkgs.iputils
  pkgs.libcap
  pkgs.openssl
  pkgs.tcpdump
  pkgs.wireshark-cli
]
++ [
  pkgs.bash
  pkgs.coreutils
  pkgs.diffutils
  pkgs.file
  pkgs.findutils
  pkgs.gawk
  pkgs.git
  pkgs.gnugrep
  pkgs.gnused
  pkgs.gnutar
  pkgs.gzip
  pkgs.jq
  pkgs.less
  pkgs.procps
  pkgs.psmisc
  pkgs.util-linux
  pkgs.which
  pkgs.xz
  pkgs.zstd
]
++ [
  pkgs.deadnix
  pkgs.nixfmt
  pkgs.shellcheck
  pkgs.statix
]
