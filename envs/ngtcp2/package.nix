{
  cProgram,
  nghttp3,
  ngtcp2,
  openssl,
}:
cProgram ./. [
  nghttp3
  ngtcp2
  openssl
]
