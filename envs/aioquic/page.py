"""The client's side of one HTTP/3 connection: requests, times, hashes."""

import asyncio
import time
from hashlib import sha256

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, QuicEvent
from contract import Refusal
from contract.timing import ObjectTiming, Timing


class LoadError(Refusal):
    """The page could not be loaded."""


class Request:
    """One object: times are seconds since the connection's start; `priority` is the field of RFC 9218."""

    def __init__(self, path: str, *, hashed: bool, priority: str | None = None) -> None:
        self.path, self.priority = path, priority
        self.status = self.size = 0
        self.start_s = self.first_byte_s = self.end_s = 0.0
        self._digest = sha256() if hashed else None

    def take(self, body: bytes) -> None:
        """Note some bytes of the body."""
        self.size += len(body)
        if self._digest is not None:
            self._digest.update(body)

    def timing(self) -> ObjectTiming:
        """Return what TIMING has of it."""
        return ObjectTiming(
            path=self.path,
            status=self.status,
            size=self.size,
            sha256=self._digest.hexdigest() if self._digest else None,
            start_s=self.start_s,
            first_byte_s=self.first_byte_s,
            end_s=self.end_s,
        )


class PageClient(QuicConnectionProtocol):
    """One connection that fetches groups of objects."""

    def __init__(self, quic: QuicConnection, address: tuple[str, int], authority: str) -> None:
        super().__init__(quic)
        self._address = address
        self._authority = authority.encode()
        self._http: H3Connection | None = None
        self._streams: dict[int, Request] = {}
        self._done: asyncio.Future[None] | None = None
        self._handshake: HandshakeCompleted | None = None
        self._handshake_s: float | None = None
        self._unix_start = self._origin = 0.0

    def _now_s(self) -> float:
        return time.perf_counter() - self._origin

    def start(self) -> None:
        """Start the clock and send the first flight."""
        self._unix_start, self._origin = time.time(), time.perf_counter()
        # Nothing is sent before the first request is queued: it may go with the first flight as early data.
        self.connect(self._address, transmit=False)
        self._http = H3Connection(self._quic)

    async def fetch(self, requests: list[Request]) -> None:
        """Request all objects at once and return when all are complete. Raises LoadError."""
        assert self._http is not None
        if not requests:
            return
        self._done = self._loop.create_future()
        for request in requests:
            stream = self._quic.get_next_available_stream_id()
            self._streams[stream] = request
            # The HTML's clock starts with the connection.
            request.start_s = self._now_s() if stream > 0 else 0.0
            headers = [
                (b":method", b"GET"), (b":scheme", b"https"), (b":authority", self._authority),
                (b":path", request.path.encode()), (b"user-agent", b"howquick"),
            ]  # fmt: skip
            if request.priority is not None:
                headers.append((b"priority", request.priority.encode()))
            self._http.send_headers(stream, headers, end_stream=True)
        self.transmit()
        await self._done

    def finish(self) -> None:
        """Close the connection without waiting for the peer."""
        self._done = None
        self.close()

    def quic_event_received(self, event: QuicEvent) -> None:
        """Note the handshake, hand the rest to HTTP/3."""
        if isinstance(event, HandshakeCompleted):
            self._handshake, self._handshake_s = event, self._now_s()
        elif isinstance(event, ConnectionTerminated):
            reason = event.reason_phrase or f"error {event.error_code:#x}"
            self._fail(f"connection closed: {reason}")
        if self._http is not None:
            for http_event in self._http.handle_event(event):
                self._note(http_event)

    def error_received(self, exc: Exception) -> None:
        """Fail if nothing listens at the other end."""
        if self._handshake is None:
            self._fail(f"no connection to {self._address[0]}:{self._address[1]}: {exc}")

    def _note(self, event: H3Event) -> None:
        if not isinstance(event, HeadersReceived | DataReceived):
            return
        request = self._streams.get(event.stream_id)
        if request is None:
            return
        if isinstance(event, HeadersReceived):
            request.first_byte_s = self._now_s()
            request.status = int(dict(event.headers).get(b":status", b"0"))
        else:
            request.take(event.data)
        if event.stream_ended:
            self._complete(event.stream_id)

    def _complete(self, stream: int) -> None:
        request = self._streams.pop(stream)
        request.end_s = self._now_s()
        if request.status != 200:
            self._fail(f"{request.path}: status {request.status}")
        elif not self._streams and self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _fail(self, reason: str) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(LoadError(reason))

    def timing(self, requests: list[Request]) -> Timing:
        """Return TIMING (docs/formats.md, section 2) of a page that was loaded."""
        assert self._handshake is not None
        assert self._handshake_s is not None
        return Timing(
            protocol="h3",
            start=self._unix_start,
            handshake_s=self._handshake_s,
            resumed=self._handshake.session_resumed,
            early_data=self._handshake.early_data_accepted,
            objects=tuple(request.timing() for request in requests),
        )
