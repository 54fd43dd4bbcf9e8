"""Client of the QUIC Interop Runner's test cases http3, transfer, resumption and zerortt, on aioquic."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import QuicEvent, StreamDataReceived, StreamReset

TICKETS: list[object] = []


class Download(QuicConnectionProtocol):
    """One connection that fetches URLs into /downloads."""

    def __init__(self, quic: QuicConnection, *, http3: bool, **more: Any) -> None:
        super().__init__(quic, **more)
        self.bodies: dict[int, bytearray] = defaultdict(bytearray)
        self.names: dict[int, Path] = {}
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.h3 = H3Connection(quic) if http3 else None

    def begin(self, urls: list[str]) -> None:
        """Ask for all URLs."""
        for url in urls:
            parts = urlsplit(url)
            stream = self._quic.get_next_available_stream_id()
            self.names[stream] = Path("/downloads") / Path(parts.path).name
            if self.h3:
                pairs = {":method": "GET", ":scheme": "https"}
                pairs |= {":authority": parts.netloc, ":path": parts.path}
                self.h3.send_headers(
                    stream, [(k.encode(), v.encode()) for k, v in pairs.items()], end_stream=True
                )
            else:
                line = f"GET {parts.path}\r\n".encode()
                self._quic.send_stream_data(stream, line, end_stream=True)

    def quic_event_received(self, event: QuicEvent) -> None:
        """Collect bodies."""
        if isinstance(event, StreamReset):
            self._fail("stream was reset")
        if not self.h3:
            if isinstance(event, StreamDataReceived):
                self._take(event.stream_id, event.data, event.end_stream)
            return
        for part in self.h3.handle_event(event):
            if isinstance(part, DataReceived):
                self._take(part.stream_id, part.data, part.stream_ended)
            elif isinstance(part, HeadersReceived) and dict(part.headers).get(b":status") != b"200":
                self._fail("status is not 200")

    def _fail(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError(reason))

    def _take(self, stream: int, data: bytes, ended: bool) -> None:
        if stream not in self.names:
            return
        self.bodies[stream] += data
        if ended:
            self.names.pop(stream).write_bytes(self.bodies.pop(stream))
            if not self.names and not self.done.done():
                self.done.set_result(None)


async def fetch(urls: list[str], http3: bool, early: bool) -> None:
    """Fetch all URLs on one connection; keeps the session ticket."""
    where = urlsplit(urls[0])
    with Path(os.environ["SSLKEYLOGFILE"]).open("a") as keys:
        configuration = QuicConfiguration(
            is_client=True, alpn_protocols=["h3" if http3 else "hq-interop"],
            server_name=where.hostname, verify_mode=ssl.CERT_NONE, secrets_log_file=keys,
            session_ticket=TICKETS[-1] if TICKETS else None,
        )  # fmt: skip
        async with connect(
            where.hostname, where.port, configuration=configuration,
            create_protocol=partial(Download, http3=http3),
            session_ticket_handler=TICKETS.append, wait_connected=not early,
        ) as client:  # fmt: skip
            client.begin(urls)
            client.transmit()
            await asyncio.wait_for(client.done, 60)


async def main() -> None:
    """Do what TESTCASE says."""
    urls, testcase = os.environ["REQUESTS"].split(), os.environ["TESTCASE"]
    if testcase in ("http3", "transfer"):
        await fetch(urls, testcase == "http3", early=False)
        return
    await fetch(urls[:1], False, early=False)
    await fetch(urls[1:], False, early=testcase == "zerortt")


asyncio.run(main())
