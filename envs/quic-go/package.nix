{ goProgram }:
goProgram ./. {
  packages = [
    "server"
    "client"
  ];
  shared.contract = ../contract/go;
  vendorHash = "sha256-+BbXm0Mcnsp9BWuGxZh2cGkleILHcdeoIKQhdW2nB/E=";
}
