{
  description = "Stands in for nixpkgs: only what the flake asks for, made with the host's tools";

  outputs =
    _:
    let
      lib = import ./lib.nix;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs systems (system: import ./packages.nix { inherit lib system; });
    };
}
