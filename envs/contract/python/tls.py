"""TLS by OpenSSL, for programs that are configured by its names."""

from .environment import Environment, NotSupported, Refusal

# Names of option `cipher` and, beside `default`, of RFC 8446, appendix B.4.
CIPHERS = {
    "default": "",
    "aes128": "TLS_AES_128_GCM_SHA256",
    "aes256": "TLS_AES_256_GCM_SHA384",
    "chacha20": "TLS_CHACHA20_POLY1305_SHA256",
}
GROUPS = ("X25519", "P-256", "P-384", "P-521", "X25519MLKEM768")

# What makes OpenSSL, which looks once when it is loaded, compute AES without the processor's instructions.
# x86 (OPENSSL_ia32cap(3)): AES-NI and PCLMULQDQ are bits 57 and 33 of the first word, their wide forms VAES
# and VPCLMULQDQ bits 41 and 42 of the second. ARMv8 (crypto/arm_arch.h): bit 0, NEON, alone, so neither AES
# nor PMULL. On another processor neither variable means anything.
X86_MASK = "OPENSSL_ia32cap"
X86_AES = (0x200000200000000, 0x60000000000)
ARM_WITHOUT_AES = {"OPENSSL_armcap": "0x1"}


def cipher(env: Environment) -> str:
    """Return OpenSSL's name for option `cipher`, empty for its own order. May raise Refusal."""
    return CIPHERS[env.option_supported("cipher", CIPHERS)]


def groups(env: Environment) -> str:
    """Return option `group`: names of groups, separated by colons. May raise Refusal."""
    value = env.option("group")
    for name in value.split(":"):
        if name not in GROUPS:
            raise NotSupported(f"OPTION_GROUP {value} is not supported; use {' or '.join(GROUPS)}")
    return value


def aes_variables(env: Environment) -> dict[str, str]:
    """Return what option `aes_acceleration` adds to the environment of OpenSSL. May raise Refusal."""
    if env.option_switch("aes_acceleration"):
        return {}
    return {X86_MASK: without_aes(env.optional(X86_MASK) or "")} | ARM_WITHOUT_AES


def without_aes(mask: str) -> str:
    """Return OpenSSL's mask for x86 that hides AES and what `mask` hides already. May raise Refusal."""
    words = mask.split(":")
    words += [""] * (len(X86_AES) - len(words))
    try:
        return ":".join([*map(_hidden, words, X86_AES), *words[len(X86_AES) :]])
    except ValueError:
        raise Refusal(f"{X86_MASK} {mask} is no mask") from None


def _hidden(word: str, bits: int) -> str:
    """Return a word with further bits hidden: after ~ it has those that are, else those that are not."""
    if not word:
        return f"~{bits:#x}"
    if word.startswith("~"):
        return f"~{int(word[1:], 0) | bits:#x}"
    return f"{int(word, 0) & ~bits:#x}"
