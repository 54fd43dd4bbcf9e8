# cProgram FOLDER LIBRARIES: what the folder's build.sh makes with these libraries.
{
  pkgs,
  sourceOf,
  nameOf,
  ...
}:
folder: libraries:
pkgs.stdenv.mkDerivation {
  name = nameOf folder;
  src = sourceOf folder;
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
