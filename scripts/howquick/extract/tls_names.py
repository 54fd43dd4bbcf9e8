"""IANA's names of TLS code points (RFC 8446, B.4 and 4.2.7), as far as they are in use."""

from __future__ import annotations

_CIPHERS = {
    0x1301: "TLS_AES_128_GCM_SHA256",
    0x1302: "TLS_AES_256_GCM_SHA384",
    0x1303: "TLS_CHACHA20_POLY1305_SHA256",
}
_GROUPS = {
    23: "P-256", 24: "P-384", 25: "P-521", 29: "X25519", 30: "X448",
    4587: "SecP256r1MLKEM768", 4588: "X25519MLKEM768",
}  # fmt: skip


def cipher_name(code: int | None) -> str | None:
    """Name of a cipher suite; its number in hex where it has none here."""
    return None if code is None else _CIPHERS.get(code, f"0x{code:04x}")


def group_name(code: int | None) -> str | None:
    """Name of a key exchange group; its number where it has none here."""
    return None if code is None else _GROUPS.get(code, str(code))
