{ goProgram }:
goProgram ./. {
  packages = [
    "server"
    "client"
  ];
  shared.contract = ../contract/go;
  vendorHash = "sha256-HkrG21FhtDDh/DL+cKN6pP0fPkVeubNN9bivoruP+EY=";
}
