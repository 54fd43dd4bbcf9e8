{ goProgram }:
goProgram ./. {
  packages = [
    "server"
    "client"
  ];
  shared.contract = ../contract/go;
  vendorHash = "sha256-A9NLBD8DB1gw3uLm6M0i5KmKDsWw9eNYsAmIk5ViyeA=";
}
