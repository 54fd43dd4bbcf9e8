{ goProgram }:
goProgram ./. {
  packages = [
    "server"
    "client"
  ];
  vendorHash = "sha256-+BbXm0Mcnsp9BWuGxZh2cGkleILHcdeoIKQhdW2nB/E=";
}
