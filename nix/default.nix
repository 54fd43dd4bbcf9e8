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

  # A folder of envs/ with a package.nix is a program; nothing else has to know of it.
  folders = builtins.readDir ../envs;
  isProgram =
    name: folders.${name} == "directory" && builtins.pathExists (../envs + "/${name}/package.nix");
  names = builtins.filter isProgram (builtins.attrNames folders);
  programs = pkgs.lib.genAttrs names (name: call (../envs + "/${name}/package.nix") { });

  parts = {
    inherit nixpkgs programs source;
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
