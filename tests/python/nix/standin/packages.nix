# Packages are empty folders; builders take the same arguments as those of nixpkgs and run the
# host's tools. Beside a file called `hollow` what they make is empty as well. Rust programs always
# are: only their sources and locks are looked at.
{ lib, system }:
let
  # Arguments that are no variables of a build.
  aside = [
    "cargoLock"
    "env"
    "meta"
    "passthru"
  ];
  build =
    script: arguments:
    derivation (
      removeAttrs arguments aside
      // arguments.env or { }
      // {
        inherit script system;
        builder = "/bin/bash";
        args = [ ./build.sh ];
      }
    )
    // arguments.passthru or { };
  empty = name: build "mkdir $out" { inherit name; } // { tools = empty "${name}-tools"; };
  hollow = arguments: empty arguments.name // arguments.passthru or { };
  program = if builtins.pathExists ./hollow then _: hollow else build;

  mkDerivation = program ''
    ''${postPatch:+eval "$postPatch"}
    eval "$buildPhase"
  '';
  runCommand =
    name: arguments: commands:
    build commands (arguments // { inherit name; });
  write = name: text: build ''printf %s "$text" >$out'' { inherit name text; };
  crates = lock: (builtins.fromTOML (builtins.readFile lock)).package;
  # importCargoLock fetches by the checksums of the lock.
  isFetchable = crate: !(crate ? source) || crate ? checksum;
in
lib.genAttrs (import ./names.nix) empty
// {
  inherit lib runCommand;
  stdenv = {
    inherit mkDerivation;
    hostPlatform = {
      inherit system;
      isx86_64 = system == "x86_64-linux";
    };
    cc.cc.lib = empty "gcc-lib";
  };
  stdenvNoCC = { inherit mkDerivation; };
  mkShell =
    arguments:
    build "mkdir $out" (
      {
        name = "nix-shell";
        outputs = [ "out" ];
      }
      // arguments
    );

  buildGoModule =
    arguments:
    let
      # null: the module needs no other.
      modules =
        if arguments.vendorHash == null then
          null
        else
          build
            ''
              ''${postPatch:+eval "$postPatch"}
              go mod vendor
              cp -r vendor $out
            ''
            {
              name = "go-modules";
              inherit (arguments) src postPatch;
              impureEnvVars = [ "GOPROXY" ];
              outputHashMode = "recursive";
              outputHash = arguments.vendorHash;
            };
    in
    program ''
      ''${postPatch:+eval "$postPatch"}
      [ -z "$modules" ] || cp -r $modules vendor
      for package in $subPackages; do
        GOBIN=$out/bin go install -mod=vendor -trimpath "-ldflags=$ldflags" "./$package"
      done
    '' (arguments // { inherit modules; });

  rustPlatform = {
    bindgenHook = empty "bindgen-hook";
    buildRustPackage =
      arguments:
      assert builtins.all isFetchable (crates arguments.cargoLock.lockFile);
      build ''
        ''${postPatch:+eval "$postPatch"}
        mkdir $out
      '' { inherit (arguments) name src postPatch; }
      // arguments.passthru;
  };

  fetchPypi =
    file:
    build (builtins.readFile ./fetch_pypi.sh) (
      file
      // {
        name = if file.format == "wheel" then "wheel.whl" else "source.tar.gz";
        outputHash = file.sha256;
        outputHashAlgo = "sha256";
        impureEnvVars = [ "PIP_INDEX_URL" ];
      }
    );
  fetchurl =
    file:
    build "false" {
      inherit (file) name;
      outputHash = file.sha256;
      outputHashAlgo = "sha256";
    };
  linkFarm =
    name: entries:
    build
      ''
        mkdir $out
        paste -d ' ' <(tr ' ' '\n' <<<$paths) <(tr ' ' '\n' <<<$names) | while read -r path file; do
          ln -s "$path" "$out/$file"
        done
      ''
      {
        inherit name;
        names = map (entry: entry.name) entries;
        paths = map (entry: entry.path) entries;
      };

  makeFontsConf =
    { fontDirectories }:
    write "fonts.conf" (toString fontDirectories);
  writeText = write;
  writeShellApplication =
    {
      name,
      runtimeInputs,
      runtimeEnv,
      text,
    }:
    build ''
      mkdir -p $out/bin
      printf %s "$text" >$out/bin/$name
      chmod +x $out/bin/$name
    '' (runtimeEnv // { inherit name runtimeInputs text; });

  rPackages = lib.genAttrs [
    "boot"
    "coin"
    "data_table"
    "diptest"
    "ggplot2"
    "jsonlite"
    "lintr"
    "patchwork"
    "processx"
    "rpart"
    "svglite"
    "testthat"
  ] empty;
  rWrapper.override =
    { packages }:
    build "mkdir $out" {
      name = "R";
      inherit packages;
    };
  texliveSmall.withPackages =
    choose:
    build "mkdir $out" {
      name = "texlive";
      packages = choose (
        lib.genAttrs [
          "booktabs"
          "caption"
          "geometry"
          "hyperref"
          "latexmk"
          "lm"
          "microtype"
          "needspace"
          "tools"
        ] empty
      );
    };
  testers.runNixOSTest =
    {
      name,
      nodes,
      testScript,
    }:
    let
      machine = nodes.machine { pkgs = lib.genAttrs (import ./names.nix) empty; };
    in
    build "mkdir $out" {
      inherit name testScript;
      settings = builtins.toJSON (removeAttrs machine [ "environment" ]);
      packages = machine.environment.systemPackages;
    };
}
