{ goProgram }:
let
  interop = "vendor/github.com/quic-go/quic-go/interop";
in
goProgram ./. {
  packages = [
    "${interop}/server"
    "${interop}/client"
    "version"
  ];
  vendorHash = "sha256-JY8u/s4r0BOXVBcizJQpfYqPl7TZYCDrqG7xsQm2FHA=";
}
