"""Serve a folder over HTTP/3 by aioquic. Reads the environment of docs/formats.md, section 2."""

import asyncio
import gc
import os
import signal
from pathlib import Path

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import QuicServer
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent
from aioquic.tls import SessionTicket
from contract import Environment, Settings, read_settings, run
from contract.settings import read_www
from qlog import StreamingLogger
from settings import ABLE, configuration, enlarge_buffer
from urgency import read_urgency

# A connection's last event must be on disk 100 ms after the peer closed it.
QLOG_FLUSH_S = 0.05
TYPES = {".html": b"text/html", ".jpg": b"image/jpeg"}


class Content:
    """The files of a folder, in memory, by their path on the server."""

    def __init__(self, www: Path) -> None:
        files = (path for path in www.rglob("*") if path.is_file())
        self._bodies = {f"/{path.relative_to(www)}": path.read_bytes() for path in files}
        self._bodies["/prime"] = b"primed\n"

    def response(self, path: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """Return headers and body for a path."""
        body = self._bodies.get(path)
        status, body = (b"404", b"") if body is None else (b"200", body)
        kind = TYPES.get(Path(path).suffix, b"application/octet-stream")
        length = str(len(body)).encode()
        headers = [(b":status", status), (b"content-length", length), (b"content-type", kind)]
        return headers, body


class PageServer(QuicConnectionProtocol):
    """One connection: answers every request at once and leaves the order of sending to aioquic."""

    content: Content
    _http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Hand QUIC events to HTTP/3."""
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic)
        if self._http is not None:
            for http_event in self._http.handle_event(event):
                self._answer(self._http, http_event)

    def _answer(self, http: H3Connection, event: H3Event) -> None:
        if not isinstance(event, HeadersReceived):
            return
        path = dict(event.headers).get(b":path", b"").decode(errors="replace")
        headers, body = self.content.response(path)
        http.send_headers(event.stream_id, headers, end_stream=not body)
        if body:
            http.send_data(event.stream_id, body, end_stream=True)


class Tickets:
    """Session tickets, each good for one resumption."""

    def __init__(self) -> None:
        self._tickets: dict[bytes, SessionTicket] = {}

    def add(self, ticket: SessionTicket) -> None:
        """Keep a ticket that was issued."""
        self._tickets[ticket.ticket] = ticket

    def pop(self, label: bytes) -> SessionTicket | None:
        """Return the ticket of that name, once."""
        return self._tickets.pop(label, None)


async def keep_flushing(logger: StreamingLogger) -> None:
    """Write held back events every few milliseconds, for ever."""
    while True:
        await asyncio.sleep(QLOG_FLUSH_S)
        logger.flush()


async def serve(settings: Settings, quic: QuicConfiguration) -> None:
    """Serve until SIGTERM or SIGINT. Raises OSError before it serves."""
    tickets = Tickets()
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    transport, server = await loop.create_datagram_endpoint(
        lambda: QuicServer(
            configuration=quic,
            create_protocol=PageServer,
            session_ticket_fetcher=tickets.pop,
            session_ticket_handler=tickets.add,
        ),
        local_addr=(settings.address, settings.port),
    )
    enlarge_buffer(transport.get_extra_info("socket"))
    # What is loaded by now lives as long as the server: the collector need not look at it again.
    gc.freeze()
    logger = quic.quic_logger
    flusher = (
        asyncio.create_task(keep_flushing(logger)) if isinstance(logger, StreamingLogger) else None
    )
    await stopped.wait()
    if flusher:
        flusher.cancel()
    server.close()
    if isinstance(logger, StreamingLogger):
        logger.flush()


def main() -> None:
    """Check what is asked and serve."""
    env = Environment(os.environ)
    settings = read_settings(env, ABLE)
    www = read_www(env)
    read_urgency(env)  # the client's
    quic = configuration(env, settings, is_client=False)
    quic.load_cert_chain(str(settings.chain), str(settings.key))
    PageServer.content = Content(www)
    asyncio.run(serve(settings, quic))


if __name__ == "__main__":
    run("aioquic", main)
