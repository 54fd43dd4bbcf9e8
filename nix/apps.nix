# `nix run`: the artifact run. Arguments go to snakemake.
{ artifact }:
{
  default = {
    type = "app";
    program = "${artifact}/bin/howquick";
    meta.description = "Measure, analyse and build the appendix";
  };
}
