{ goProgram }:
goProgram ./. {
  packages = [
    "server"
    "client"
  ];
  shared.contract = ../contract/go;
  vendorHash = null;
}
