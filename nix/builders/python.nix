# pythonProgram FOLDER: a virtual environment, made by the folder's build.sh from the very files
# that its requirements.lock names. wheels.json (nix/lock_wheels.py) says which of them this system
# takes; pip compares their hashes with the lock's once more.
{
  pkgs,
  sourceOf,
  nameOf,
  ...
}:
folder:
let
  lock = builtins.fromJSON (builtins.readFile (folder + "/wheels.json"));
  chosen = lock.${pkgs.stdenv.hostPlatform.system};
  # PEP 427 for wheels.
  fileName =
    file:
    if file.format == "wheel" then
      "${file.pname}-${file.version}-${file.python}-${file.abi}-${file.platform}.whl"
    else
      "${file.pname}-${file.version}.tar.gz";
  files = pkgs.linkFarm "${nameOf folder}-files" (
    map (file: {
      name = fileName file;
      path = pkgs.fetchPypi file;
    }) chosen
  );
in
pkgs.stdenv.mkDerivation {
  name = nameOf folder;
  src = sourceOf folder;
  nativeBuildInputs = [
    pkgs.autoPatchelfHook
    pkgs.python313
  ];
  # What manylinux wheels expect of the system.
  buildInputs = [
    pkgs.stdenv.cc.cc.lib
    pkgs.zlib
  ];
  env = {
    PIP_NO_INDEX = "1";
    PIP_FIND_LINKS = "${files}";
  };
  buildPhase = ''
    runHook preBuild
    HOME=$TMPDIR OUT=$out CACHE=$TMPDIR bash ./build.sh
    runHook postBuild
  '';
  dontInstall = true;
  # Stripping breaks libraries that were put into a wheel.
  dontStrip = true;
  passthru.onPath = [ ];
}
