{
  chromium,
  nodeProgram,
  nss,
}:
nodeProgram ./. {
  hash = "sha256-QmRTczch+rWEvjvrC0Hxzh55c23gqjCSc+L9n0Uy5BA=";
  uses = [
    chromium
    nss.tools
  ];
}
