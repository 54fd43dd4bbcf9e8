# From the very source package that Debian has, since nixpkgs has no kernel of this version. User mode exists on x86-64 only.
{
  bc,
  bison,
  dpkg,
  fetchurl,
  flex,
  git,
  jq,
  perl,
  stdenv,
}:
let
  pinned = builtins.fromJSON (builtins.readFile ./source.json);
  package = fetchurl {
    url = "mirror://debian/pool/main/l/linux/${pinned.package}_${pinned.package_version}_all.deb";
    # A name in the store has no "~".
    name = "${pinned.package}.deb";
    sha256 = pinned.package_sha256;
  };
in
if !stdenv.hostPlatform.isx86_64 then
  null
else
  stdenv.mkDerivation {
    name = "howquick-kernel";
    src = builtins.path {
      path = ./.;
      name = "source";
      filter = path: _: baseNameOf path != "package.nix";
    };
    nativeBuildInputs = [
      bc
      bison
      dpkg
      flex
      git
      jq
      perl
    ];
    buildPhase = ''
      runHook preBuild
      dpkg-deb --extract ${package} sources
      OUT=$out CACHE=$TMPDIR SOURCES=$PWD/sources bash ./build.sh
      runHook postBuild
    '';
    dontInstall = true;
    passthru.onPath = [ ];
  }
