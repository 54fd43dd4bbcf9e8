"""The knobs of endpoint.yaml, which nghttp and nghttpd are both told."""

from dataclasses import dataclass

from contract import Environment
from contract.tls import CIPHERS, aes_variables, cipher

# RFC 9113, section 6.9.2: the largest window is 2^31-1 bytes.
LEAST_BITS, MOST_BITS = 1, 30


@dataclass(frozen=True)
class Options:
    """What both programs are told; each uses its part."""

    windows: tuple[str, ...]  # arguments of either program
    suites: str
    verify: bool
    max_streams: int
    aes: dict[str, str]  # variables of either program


def read_options(env: Environment) -> Options:
    """Read all knobs. May raise Refusal."""
    bits = [
        env.option_number(f"{what}_window_bits", LEAST_BITS, MOST_BITS)
        for what in ("stream", "connection")
    ]
    options = Options(
        windows=(f"--window-bits={bits[0]}", f"--connection-window-bits={bits[1]}"),
        suites=cipher(env) or ":".join(CIPHERS[name] for name in ("aes256", "chacha20", "aes128")),
        verify=env.option_switch("verify"),
        max_streams=env.option_number("max_streams", 1, 1 << 20),
        aes=aes_variables(env),
    )
    env.check_options()
    return options
