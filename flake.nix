{
  description = "howquick: is QUIC faster than TCP? Measures a paper's study again and rebuilds its appendix";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      projects = nixpkgs.lib.genAttrs systems (
        system:
        import ./nix {
          inherit nixpkgs;
          pkgs = nixpkgs.legacyPackages.${system};
          source = self;
        }
      );
      of = output: builtins.mapAttrs (_: project: project.${output}) projects;
    in
    {
      packages = of "packages";
      devShells = of "devShells";
      apps = of "apps";
      checks = of "checks";
      formatter = of "formatter";
    };
}
