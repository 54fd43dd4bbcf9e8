{
  cProgram,
  nghttp3,
  ngtcp2,
  openssl,
}:
cProgram ./. {
  libraries = [
    nghttp3
    ngtcp2
    openssl
  ];
  shared.contract = ../contract/c;
}
