# What the flake uses of nixpkgs' lib. The folder `lib` beside this file, if there is one, takes its place.
let
  inherit (builtins)
    attrNames
    concatMap
    concatStringsSep
    listToAttrs
    parseDrvName
    ;
in
rec {
  inherit concatMap;
  concatStrings = concatStringsSep "";
  escapeShellArgs = concatStringsSep " ";
  filterAttrs =
    keep: set:
    listToAttrs (
      concatMap (
        name:
        if keep name set.${name} then
          [
            {
              inherit name;
              value = set.${name};
            }
          ]
        else
          [ ]
      ) (attrNames set)
    );
  fetchers.proxyImpureEnvVars = [
    "http_proxy"
    "https_proxy"
    "no_proxy"
  ];
  genAttrs =
    names: make:
    listToAttrs (
      map (name: {
        inherit name;
        value = make name;
      }) names
    );
  getName = package: (parseDrvName package.name).name;
  getVersion = package: (parseDrvName package.name).version;
  mapAttrsToList = make: set: map (name: make name set.${name}) (attrNames set);
  optionals = condition: list: if condition then list else [ ];
}
