"""What a sampled piece of a program is for, by the names of its symbol and library.

The categories follow Jaeger et al., QUIC on the Highway (IFIP Networking 2023): packet input and output,
cryptography, and what is left of a program that moves packets: the management of connections.
"""

from __future__ import annotations

import re

CATEGORIES = ("io", "crypto", "memory", "connection", "unknown")

_IO = re.compile(
    r"send_?m?msg|recv_?m?msg|send_to|recv_from|sendto|recvfrom|epoll|syscall|\bpoll\b|\bppoll\b"
    r"|\bread\b|\bwrite\b|writev|preadv?|kevent|mio::|netpoll|PyEval_RestoreThread",
    re.IGNORECASE,
)
_CRYPTO = re.compile(
    r"aes|gcm|ghash|chacha|poly1305|\bevp_|crypto|cipher|aead|\bsha(1|256|384|512)|hkdf|hmac"
    r"|montgomery|x25519|curve25519|p256|ecp_nistz|\brsa_|asn1|x509|bn_mul|hwaes|_vaes_|aws_lc|openssl_"
    r"|header_protection|boringssl|rustls",
    re.IGNORECASE,
)
_CRYPTO_LIBRARY = re.compile(r"lib(crypto|ssl|gnutls|nettle|hogweed)\b|_rust\.abi3")
_MEMORY = re.compile(
    r"mem(cpy|move|set|cmp|clr)|malloc|calloc|realloc|\bfree\b|_int_free|alloc|copy_nonoverlapping"
    r"|runtime\.(gc|scan|mark|sweep|grey|heap|span|wb|m?alloc|find[oO]bject|typedmem)|_PyObject_G?C|\bdealloc",
    re.IGNORECASE,
)
_C_LIBRARY = re.compile(r"^(libc|ld-linux[^.]*)\b")
_HEXADECIMAL = re.compile(r"^0x[0-9a-f]+$")


def category(library: str, symbol: str) -> str:
    """One of CATEGORIES for a sample in user code.

    A symbol that is not known by name (a bare address) tells only as much as its library.
    """
    named = not _HEXADECIMAL.match(symbol) and symbol != "[unknown]"
    # Before the symbols: a library of cryptography copies and allocates for cryptography.
    if _CRYPTO_LIBRARY.search(library):
        return "crypto"
    for name, pattern in (("io", _IO), ("crypto", _CRYPTO), ("memory", _MEMORY)):
        if named and pattern.search(symbol):
            return name
    if _C_LIBRARY.match(library):
        return "memory"  # copying is what programs that move data ask it for
    if named or library.endswith(".so") or ".so." in library:
        return "connection"
    return "unknown"
