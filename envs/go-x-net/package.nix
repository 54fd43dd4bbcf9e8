{ goProgram }:
goProgram ./. {
  packages = [
    "server"
    "client"
  ];
  shared.contract = ../quic-go/contract;
  vendorHash = "sha256-HkrG21FhtDDh/DL+cKN6pP0fPkVeubNN9bivoruP+EY=";
}
