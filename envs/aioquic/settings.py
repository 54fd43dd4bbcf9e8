"""What server and client share: the environment of docs/formats.md, section 2, as a configuration."""

import socket

from aioquic.h3.connection import H3_ALPN
from aioquic.quic.configuration import QuicConfiguration
from contract import Ability, Environment, Settings
from qlog import StreamingLogger

ABLE = {"h3": Ability(("cold", "resumed", "0rtt"), ("cubic", "reno"))}
# The kernel grants what net.core.rmem_max allows.
SOCKET_BUFFER_BYTES = 4 << 20
IDLE_TIMEOUT_S = 600.0
LARGEST_WINDOW = 1 << 40
# RFC 9000, section 14: the smallest that QUIC may use, and what UDP over IPv4 can carry.
LEAST_UDP_PAYLOAD, LARGEST_UDP_PAYLOAD = 1200, 65507


def configuration(env: Environment, settings: Settings, *, is_client: bool) -> QuicConfiguration:
    """Return the configuration both roles share. Raises Refusal or OSError."""
    limits = {
        "max_data": env.option_number("initial_max_data", 1, LARGEST_WINDOW),
        "max_stream_data": env.option_number("initial_max_stream_data", 1, LARGEST_WINDOW),
        "max_datagram_size": env.option_number(
            "max_udp_payload", LEAST_UDP_PAYLOAD, LARGEST_UDP_PAYLOAD
        ),
    }
    env.check_options()
    return QuicConfiguration(
        is_client=is_client,
        alpn_protocols=H3_ALPN,
        congestion_control_algorithm=settings.congestion_control,
        idle_timeout=IDLE_TIMEOUT_S,
        quic_logger=StreamingLogger(settings.qlog) if settings.qlog else None,
        secrets_log_file=settings.keys.open("a", buffering=1) if settings.keys else None,
        **limits,
    )


def enlarge_buffer(udp: socket.socket) -> None:
    """Ask for room for a burst: a Python process may not read for some milliseconds."""
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
