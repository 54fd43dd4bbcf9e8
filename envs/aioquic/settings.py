"""What server and client share: the environment of docs/formats.md, section 2, as a configuration."""

import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

from aioquic.h3.connection import H3_ALPN
from aioquic.quic.configuration import QuicConfiguration
from qlog import StreamingLogger

# The kernel grants what net.core.rmem_max allows.
SOCKET_BUFFER_BYTES = 4 << 20
IDLE_TIMEOUT_S = 600.0


def refuse(status: int, reason: str) -> NoReturn:
    """Print why this does not work and end the process at once with ``status``."""
    print(f"aioquic: {reason}", file=sys.stderr, flush=True)
    sys.exit(status)


def check_supported(env: dict[str, str]) -> None:
    """Exit with 127 for a protocol, congestion control or connection that aioquic does not have."""
    for name, known in (
        ("PROTOCOL", ("h3",)),
        ("CONGESTION_CONTROL", ("cubic", "reno")),
        ("CONNECTION", ("cold", "resumed", "0rtt")),
    ):
        if env.get(name) not in known:
            refuse(127, f"{name} {env.get(name)} is not supported; use {' or '.join(known)}")


def configuration(env: dict[str, str], *, is_client: bool) -> QuicConfiguration:
    """Return the configuration both roles share. Raises KeyError, ValueError or OSError."""
    qlog_folder, keys = env.get("QLOGDIR"), env.get("SSLKEYLOGFILE")
    return QuicConfiguration(
        is_client=is_client,
        alpn_protocols=H3_ALPN,
        congestion_control_algorithm=env["CONGESTION_CONTROL"],
        idle_timeout=IDLE_TIMEOUT_S,
        max_data=int(env["OPTION_CONNECTION_WINDOW_BYTES"]),
        max_stream_data=int(env["OPTION_STREAM_WINDOW_BYTES"]),
        max_datagram_size=int(env["OPTION_MAX_DATAGRAM_BYTES"]),
        quic_logger=StreamingLogger(Path(qlog_folder)) if qlog_folder else None,
        secrets_log_file=Path(keys).open("a", buffering=1) if keys else None,
    )


def enlarge_buffer(udp: socket.socket) -> None:
    """Ask for room for a burst: a Python process may not read for some milliseconds."""
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)


def environment() -> dict[str, str]:
    """Return the process's environment."""
    return dict(os.environ)
