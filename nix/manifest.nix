# The environment's manifest, of the same form as scripts/provision/write_manifest.py writes: what
# is installed and where. Paths of the store name their content's origin, so their hashes stand for
# what is installed.
{
  folders,
  lib,
  nixpkgs,
  programs,
  tools,
  writeText,
}:
let
  locks = [
    "Cargo.lock"
    "go.sum"
    "package-lock.json"
    "requirements.lock"
    "build-requirements.lock"
    "source.json"
  ];
  hashOf =
    paths:
    let
      names = builtins.concatStringsSep "\n" (map toString paths);
    in
    builtins.substring 0 16 (builtins.hashString "sha256" (builtins.unsafeDiscardStringContext names));
  locksOf =
    name:
    let
      path = lock: folders.${name} + "/${lock}";
      present = builtins.filter (lock: builtins.pathExists (path lock)) locks;
    in
    lib.genAttrs present (lock: builtins.hashFile "sha256" (path lock));
  describe = name: program: {
    prefix = "${program}";
    hash = hashOf [ program ];
    locks = locksOf name;
  };
in
writeText "howquick-manifest.json" (
  builtins.toJSON {
    way = "nix";
    hash = hashOf (builtins.attrValues programs ++ tools);
    nixpkgs = {
      revision = nixpkgs.rev or "unknown";
      packages = builtins.listToAttrs (
        map (tool: {
          name = lib.getName tool;
          value = lib.getVersion tool;
        }) tools
      );
    };
    programs = builtins.mapAttrs describe programs;
  }
)
