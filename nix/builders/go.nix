# goProgram FOLDER { packages, vendorHash, shared ? { } }: its main packages. vendorHash is that of
# what `go mod vendor` writes; shared: links of the folder that lead out of it, and where to.
{
  copyShared,
  pkgs,
  sourceOf,
  nameOf,
}:
folder:
{
  packages,
  vendorHash,
  shared ? { },
}:
pkgs.buildGoModule {
  name = nameOf folder;
  src = sourceOf folder;
  postPatch = copyShared shared;
  inherit vendorHash;
  subPackages = packages;
  env.CGO_ENABLED = 0;
  ldflags = [ "-s" ];
  passthru.onPath = [ ];
}
