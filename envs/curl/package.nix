{
  cProgram,
  curl,
  openssl,
}:
cProgram ./. [
  curl
  openssl
]
