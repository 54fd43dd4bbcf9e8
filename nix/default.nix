# Everything the flake offers, for one system. pkgs: nixpkgs of that system; nixpkgs: its flake, for
# the revision; source: the project's tree.
{
  pkgs,
  nixpkgs,
  source,
}:
let
  # As callPackage gives a function what it asks for, and adds nothing to what it makes.
  call =
    file: own:
    let
      function = import file;
    in
    function (builtins.intersectAttrs (builtins.functionArgs function) (scope // own));
  scope = pkgs // import ./builders pkgs // { inherit pkgs; };

  # A folder of envs/ with a package.nix is a program under test, and one of environment/ a part of
  # the environment; nothing else has to know of it.
  foldersIn =
    top:
    let
      isPackage = name: builtins.pathExists (top + "/${name}/package.nix");
      names = builtins.filter isPackage (builtins.attrNames (builtins.readDir top));
    in
    pkgs.lib.genAttrs names (name: top + "/${name}");
  folders = foldersIn ../environment // foldersIn ../envs;
  # null: what this system cannot have.
  programs = pkgs.lib.filterAttrs (_: program: program != null) (
    builtins.mapAttrs (_: folder: call (folder + "/package.nix") { }) folders
  );

  parts = {
    inherit
      folders
      nixpkgs
      programs
      source
      ;
    statistics = call ./statistics.nix { };
    typesetting = call ./typesetting.nix { };
    tools = call ./tools.nix parts;
    manifest = call ./manifest.nix parts;
    environment = call ./environment.nix parts;
    artifact = call ./artifact.nix parts;
  };
in
{
  packages = programs // {
    inherit (parts) manifest statistics typesetting;
    default = parts.artifact;
  };
  devShells.default = call ./shell.nix parts;
  apps = call ./apps.nix parts;
  checks = call ./checks.nix parts;
  formatter = pkgs.nixfmt-tree;
}
