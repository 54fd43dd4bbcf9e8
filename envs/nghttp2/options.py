"""Options that nghttp and nghttpd share."""

# OPENSSL_ia32cap(3): AES-NI and PCLMULQDQ, VAES and VPCLMULQDQ left out; ARMv8 without AES and PMULL.
_SLOW = {"OPENSSL_ia32cap": "~0x200000200000000:~0x60000000000", "OPENSSL_armcap": "0x1"}


def truth(env: dict[str, str], name: str) -> bool:
    """Return a variable that is true or false. Raises KeyError, ValueError."""
    known = {"true": True, "false": False}
    if env[name].lower() not in known:
        raise ValueError(f"{name} {env[name]}: use true or false")
    return known[env[name].lower()]


def slow_aes(env: dict[str, str]) -> dict[str, str]:
    """Return the variables that keep OpenSSL from the processor's AES instructions, if that is asked."""
    return {} if truth(env, "OPTION_AES_ACCELERATION") else _SLOW
