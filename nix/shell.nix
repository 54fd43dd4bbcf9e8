# `nix develop`: the environment in which snakemake and pytest run.
{
  environment,
  mkShell,
  tools,
}:
mkShell (environment // { packages = tools; })
