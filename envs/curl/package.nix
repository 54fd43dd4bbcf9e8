{
  cProgram,
  curl,
  openssl,
}:
cProgram ./. {
  libraries = [
    curl
    openssl
  ];
  shared.contract = ../contract/c;
}
