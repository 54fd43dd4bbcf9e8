"""Load one page over HTTP/3 by aioquic and write TIMING.

Reads the environment of docs/formats.md, section 2.
"""

import asyncio
import gc
import os
import time
from dataclasses import replace
from typing import cast

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.tls import SessionTicket
from contract import Environment, Load, Settings, read_load, read_settings, run
from contract.gate import pass_gate
from contract.timing import Timing
from page import LoadError, PageClient, Request
from qlog import StreamingLogger
from settings import ABLE, configuration, enlarge_buffer
from urgency import priority_of, read_urgency

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
    await client.fetch([Request("/prime", hashed=False)])
    deadline = time.monotonic() + PRIME_PATIENCE_S
    while not tickets:
        if time.monotonic() > deadline:
            raise LoadError("the server sent no session ticket")
        await asyncio.sleep(0.001)
    client.finish()
    return tickets[-1]


async def fetch(client: PageClient, requests: list[Request], *, sequential: bool) -> None:
    """Fetch the HTML, then all others at once; or one after the other. Raises LoadError."""
    groups = [[request] for request in requests] if sequential else [requests[:1], requests[1:]]
    for group in groups:
        await client.fetch(group)


async def load(settings: Settings, asked: Load, quic: QuicConfiguration, urgency: str) -> Timing:
    """Load the page and return TIMING. Raises Refusal or OSError."""
    address = (settings.address, settings.port)
    requests = [
        Request(path, hashed=asked.hashed, priority=priority_of(urgency, index, len(asked.paths)))
        for index, path in enumerate(asked.paths)
    ]
    warm_up(quic, address)
    if settings.connection != "cold":
        quic.session_ticket = await prime(quic, address, asked.netloc)
        if settings.connection == "resumed":
            quic.session_ticket.max_early_data_size = None
    client = await connect(quic, address, asked.netloc, [])
    # The load is short: a collection in its middle would cost more than the memory it frees.
    gc.collect()
    gc.disable()
    pass_gate()
    client.start()
    await fetch(client, requests, sequential=asked.sequential)
    timing = client.timing(requests)
    client.finish()
    if quic.quic_logger is not None:
        cast(StreamingLogger, quic.quic_logger).flush()
    return timing


def main() -> None:
    """Check what is asked, load, write TIMING."""
    env = Environment(os.environ)
    settings = read_settings(env, ABLE)
    asked = read_load(env, settings)
    urgency = read_urgency(env)
    quic = configuration(env, settings, is_client=True)
    quic.server_name = settings.host
    quic.load_verify_locations(cafile=str(settings.authority))
    asyncio.run(load(settings, asked, quic, urgency)).write(asked.timing)


if __name__ == "__main__":
    run("aioquic", main)
