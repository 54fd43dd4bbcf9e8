# The program behind `nix run`.
{
  environment,
  source,
  tools,
  writeShellApplication,
}:
writeShellApplication {
  name = "howquick";
  runtimeInputs = tools;
  runtimeEnv = environment // {
    HOWQUICK_SOURCE = "${source}";
  };
  text = builtins.readFile ./artifact.sh;
}
