# cProgram FOLDER { libraries, shared ? { } }: what the folder's build.sh makes with these libraries. shared:
# links of the folder that lead out of it, and where to.
{
  copyShared,
  pkgs,
  sourceOf,
  nameOf,
}:
folder:
{
  libraries,
  shared ? { },
}:
pkgs.stdenv.mkDerivation {
  name = nameOf folder;
  src = sourceOf folder;
  postPatch = copyShared shared;
  nativeBuildInputs = [ pkgs.pkg-config ];
  buildInputs = libraries;
  buildPhase = ''
    runHook preBuild
    OUT=$out bash ./build.sh
    runHook postBuild
  '';
  dontInstall = true;
  passthru.onPath = [ ];
}
