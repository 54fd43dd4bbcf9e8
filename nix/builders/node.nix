# nodeProgram FOLDER { hash, uses ? [ ] }: what `npm ci` installs from the folder's lock, as its
# build.sh does it. uses: what else it finds by PATH.
{
  pkgs,
  sourceOf,
  nameOf,
  ...
}:
folder:
{
  hash,
  uses ? [ ],
}:
pkgs.stdenvNoCC.mkDerivation {
  name = nameOf folder;
  src = sourceOf folder;
  nativeBuildInputs = [
    pkgs.cacert
    pkgs.nodejs_22
  ];
  impureEnvVars = pkgs.lib.fetchers.proxyImpureEnvVars ++ [
    "NODE_EXTRA_CA_CERTS"
    "npm_config_registry"
  ];
  # npm's note of what it did depends on its version and on the registry that was asked.
  buildPhase = ''
    runHook preBuild
    HOME=$TMPDIR OUT=$out CACHE=$TMPDIR bash ./build.sh
    rm $out/node_modules/.package-lock.json
    runHook postBuild
  '';
  dontInstall = true;
  # What is fetched must not name paths of the store.
  dontFixup = true;
  outputHashMode = "recursive";
  outputHash = hash;
  passthru.onPath = [ pkgs.nodejs_22 ] ++ uses;
}
