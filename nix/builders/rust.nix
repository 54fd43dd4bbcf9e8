# rustProgram FOLDER { nativeLibraries ? false, shared ? { } }: its programs, from the crates that
# Cargo.lock names. nativeLibraries: a crate builds a C or C++ library (BoringSSL, AWS-LC) and bindings
# to it; shared: links of the folder that lead out of it, and where to.
{
  copyShared,
  pkgs,
  sourceOf,
  nameOf,
  ...
}:
folder:
{
  nativeLibraries ? false,
  shared ? { },
}:
pkgs.rustPlatform.buildRustPackage {
  name = nameOf folder;
  src = sourceOf folder;
  postPatch = copyShared shared;
  cargoLock.lockFile = folder + "/Cargo.lock";
  nativeBuildInputs = pkgs.lib.optionals nativeLibraries [
    pkgs.cmake
    # BoringSSL's crate patches its sources with it.
    pkgs.git
    pkgs.rustPlatform.bindgenHook
  ];
  # cmake is for the crates, not for this folder.
  dontUseCmakeConfigure = true;
  # The programs' tests need a network of their own; the project's tests make one.
  doCheck = false;
  passthru.onPath = [ ];
}
