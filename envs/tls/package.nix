{ cProgram, openssl }:
cProgram ./. {
  libraries = [ openssl ];
  shared.contract = ../contract/c;
}
