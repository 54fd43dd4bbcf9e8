# `nix flake check`: what needs no network, and the whole workflow in a virtual machine.
{
  environment,
  lib,
  runCommand,
  source,
  testers,
  tools,
}:
let
  # Commands in a writable copy of the project.
  check =
    name: commands:
    runCommand "howquick-${name}" (environment // { nativeBuildInputs = tools; }) ''
      cp -r ${source} tree
      chmod -R u+w tree
      cd tree
      export HOME=$TMPDIR
      ${commands}
      touch $out
    '';
  pytest = name: arguments: check name "pytest -p no:cacheprovider ${lib.escapeShellArgs arguments}";
in
{
  format = check "format" ''
    find . -name '*.nix' -print0 | xargs -0 nixfmt --check
    ruff format --check scripts envs tests nix
    snakefmt --check Snakefile rules
  '';
  lint = check "lint" ''
    deadnix --fail .
    statix check .
    ruff check nix
    mypy nix
    pytest -p no:cacheprovider tests/python/test_style.py
  '';
  schemas = pytest "schemas" [
    "tests/python/programs/test_endpoint_schema.py"
    "tests/python/study/test_study_refusals.py"
  ];
  locks = pytest "locks" [ "tests/python/nix/test_locks.py" ];
  smoke = import ./smoke.nix {
    inherit
      environment
      source
      testers
      tools
      ;
  };
}
