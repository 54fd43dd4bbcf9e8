"""HTTP/2 frames as they became complete at the client, from its decrypted capture."""

from __future__ import annotations

from dataclasses import dataclass

from howquick.capture.read import Frames
from howquick.extract.dissect import dissect
from howquick.extract.load import Ends, Unusable
from howquick.extract.quic import table_index

_FIELDS = (
    "http2.type",
    "http2.streamid",
    "http2.length",
    "http2.headers.path",
    "tls.record.content_type",
    "tls.record.opaque_type",
    "tls.handshake.type",
    "tls.handshake.ciphersuite",
    "tls.handshake.extensions_key_share_group",
)
_DATA, _HEADERS = "0", "1"
_SERVER_HELLO, _APPLICATION = "2", "23"


@dataclass(frozen=True)
class DataFrame:
    """A DATA frame: when its last byte was there (Unix nanoseconds), and its place in the stream."""

    time_ns: int
    stream: int
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class Http2:
    """`paths` maps streams to the paths asked for; `cipher`, `group`: see quic.Decrypted.

    `application`: whether any decrypted application data was found.
    """

    frames: list[DataFrame]
    paths: dict[int, str]
    cipher: int | None
    group: int | None
    application: bool


def decrypt_tcp(client: Frames, ends: Ends) -> Http2:
    """Dissect the client's capture. Raises Unusable if tshark cannot.

    Where the protocol is not HTTP/2 there are no frames, and the Server Hello is all there is.
    """
    # Segments that were lost come later: without this option everything after them is garbage.
    packets = dissect(client, _FIELDS, ("tcp.reassemble_out_of_order:TRUE",)).packets
    try:
        return _understand(packets, client, ends)
    except ValueError as error:
        raise Unusable(f"{client.path.name}: tshark shows what is no TLS: {error}") from None


def _understand(packets: list[list[list[str]]], client: Frames, ends: Ends) -> Http2:
    frames: list[DataFrame] = []
    paths: dict[int, str] = {}
    reached: dict[int, int] = {}
    for place in table_index(client, ends.client_up).tolist():
        if place < len(packets):
            _note_paths(packets[place], paths)
    cipher = group = None
    application = False
    times = ends.client_down.rows["time_ns"].tolist()
    for time_ns, place in zip(times, table_index(client, ends.client_down).tolist(), strict=True):
        if place >= len(packets):
            break
        kinds, streams, lengths, _paths, inner, outer, hello, ciphers, groups = packets[place]
        # TLS 1.3 shows the true type of a record only within the encryption.
        application |= _APPLICATION in inner and _APPLICATION in outer
        # A Hello Retry Request comes before the Server Hello that counts.
        if _SERVER_HELLO in hello and ciphers:
            cipher, group = int(ciphers[0], 16), int(groups[-1]) if groups else None
        if not len(kinds) == len(streams) == len(lengths):
            continue
        for kind, stream, length in zip(kinds, streams, lengths, strict=True):
            if kind == _DATA:
                number, size = int(stream), int(length)
                offset = reached.get(number, 0)
                frames.append(DataFrame(time_ns, number, offset, size))
                reached[number] = offset + size
    return Http2(frames, paths, cipher, group, application)


def _note_paths(packet: list[list[str]], paths: dict[int, str]) -> None:
    kinds, streams, _lengths, asked = packet[:4]
    requests = [int(s) for k, s in zip(kinds, streams, strict=False) if k == _HEADERS]
    if len(requests) == len(asked):
        paths |= dict(zip(requests, asked, strict=True))
