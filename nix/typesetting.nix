# TeX with what paper/ uses.
{ texliveSmall }:
texliveSmall.withPackages (
  packages:
  builtins.attrValues {
    inherit (packages)
      booktabs
      caption
      geometry
      hyperref
      latexmk
      lm
      microtype
      needspace
      tools
      ;
  }
)
