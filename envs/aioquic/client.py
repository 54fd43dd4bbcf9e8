"""Load one page over HTTP/3 by aioquic and write TIMING.

Reads the environment of docs/formats.md, section 2.
"""

import asyncio
import gc
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.tls import SessionTicket
from page import LoadError, PageClient, Request
from qlog import StreamingLogger
from settings import check_supported, configuration, enlarge_buffer, environment, refuse

PRIME_PATIENCE_S = 30.0


async def connect(
    quic: QuicConfiguration, address: tuple[str, int], authority: str, tickets: list[SessionTicket]
) -> PageClient:
    """Open a socket and return a client that has not sent anything yet; new tickets go to ``tickets``."""
    connection = QuicConnection(configuration=quic, session_ticket_handler=tickets.append)
    # A connected socket reports that nothing listens at the other end.
    transport, client = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: PageClient(connection, address, authority), remote_addr=address
    )
    enlarge_buffer(transport.get_extra_info("socket"))
    return client


def warm_up(quic: QuicConfiguration, address: tuple[str, int]) -> None:
    """Compute a first flight and throw it away: libraries load their algorithms on first use."""
    silent = replace(quic, quic_logger=None, secrets_log_file=None)
    connection = QuicConnection(configuration=silent)
    connection.connect(address, now=0.0)
    connection.datagrams_to_send(now=0.0)


async def prime(quic: QuicConfiguration, address: tuple[str, int], authority: str) -> SessionTicket:
    """Fetch /prime on a connection of its own and return a session ticket. Raises LoadError."""
    tickets: list[SessionTicket] = []
    client = await connect(quic, address, authority, tickets)
    client.start()
    await client.fetch([Request("/prime")])
    deadline = time.monotonic() + PRIME_PATIENCE_S
    while not tickets:
        if time.monotonic() > deadline:
            raise LoadError("the server sent no session ticket")
        await asyncio.sleep(0.001)
    client.finish()
    return tickets[-1]


def wait_for_go() -> None:
    """Say that only the load is left and wait for the word. Raises LoadError."""
    print("ready", flush=True)
    if sys.stdin.readline() != "go\n":
        raise LoadError("expected the line go on standard input")


async def load(env: dict[str, str]) -> dict[str, Any]:
    """Load the page and return TIMING. Raises LoadError, KeyError, ValueError or OSError."""
    quic = configuration(env, is_client=True)
    quic.server_name = env["HOST"]
    quic.load_verify_locations(cafile=f"{env['CERTS']}/ca.pem")
    address = (env["ADDRESS"], int(env["PORT"]))
    requests = [Request(urlsplit(url).path) for url in env["REQUESTS"].split()]
    authority = urlsplit(env["REQUESTS"].split()[0]).netloc
    warm_up(quic, address)
    if env["CONNECTION"] != "cold":
        quic.session_ticket = await prime(quic, address, authority)
        if env["CONNECTION"] == "resumed":
            quic.session_ticket.max_early_data_size = None
    client = await connect(quic, address, authority, [])
    # The load is short: a collection in its middle would cost more than the memory it frees.
    gc.collect()
    gc.disable()
    wait_for_go()
    client.start()
    await client.fetch(requests[:1])
    await client.fetch(requests[1:])
    timing = client.timing(requests)
    client.finish()
    if quic.quic_logger is not None:
        cast(StreamingLogger, quic.quic_logger).flush()
    return timing


def main() -> None:
    """Check what is asked, load, write TIMING."""
    env = environment()
    check_supported(env)
    try:
        timing = asyncio.run(load(env))
        Path(env["TIMING"]).write_text(json.dumps(timing, indent=1))
    except (KeyError, ValueError, IndexError) as problem:
        refuse(1, f"environment variable missing or wrong: {problem!r}")
    except (LoadError, OSError) as problem:
        refuse(1, str(problem))


if __name__ == "__main__":
    main()
