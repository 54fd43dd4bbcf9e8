# R with the packages that R/ and tests/testthat name, and no others (tests/python/nix compares).
{ rWrapper, rPackages }:
rWrapper.override {
  packages = builtins.attrValues {
    inherit (rPackages)
      boot
      coin
      data_table
      diptest
      ggplot2
      jsonlite
      lintr
      patchwork
      processx
      rpart
      svglite
      testthat
      ;
  };
}
