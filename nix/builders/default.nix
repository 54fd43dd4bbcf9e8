# One function for each ecosystem: it takes the folder of a program and makes its prefix. `onPath`
# of the result is what must be found by PATH when the program runs; of a package of nixpkgs, which
# has none, that is the package.
pkgs:
let
  # What no build reads stays outside, so that editing it builds nothing anew.
  unread = [
    "endpoint.yaml"
    "log_cost.json"
    "package.nix"
    "node_modules"
    "target"
    "__pycache__"
  ];
  sourceOf =
    folder:
    builtins.path {
      path = folder;
      name = "source";
      filter = path: _: !builtins.elem (baseNameOf path) unread;
    };
  # Shell text: puts copies in place of links that lead out of a folder.
  copyShared =
    shared:
    pkgs.lib.concatStrings (
      pkgs.lib.mapAttrsToList (link: target: ''
        rm ${link}
        cp -r ${sourceOf target} ${link}
        chmod -R u+w ${link}
      '') shared
    );
  withSource =
    file:
    import file {
      inherit copyShared pkgs sourceOf;
      nameOf = folder: "howquick-${baseNameOf folder}";
    };
in
{
  cProgram = withSource ./c.nix;
  goProgram = withSource ./go.nix;
  nodeProgram = withSource ./node.nix;
  pythonProgram = withSource ./python.nix;
  rustProgram = withSource ./rust.nix;
}
